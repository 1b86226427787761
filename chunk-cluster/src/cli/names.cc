// mkdir, rmdir
#include "cli/commands.h"

namespace ebb::cli {

Result<int> RunMkdir(Shell& shell, Words words) {
  const bool parents = words.Has("p");
  shell.ForEach(words.rest, [&](Item& item) -> Status {
    if (item.IsDirectory()) return parents ? Status() : Refuse(item.text, kExists);
    if (item.status) return Refuse(item.text, kIsNotDirectory);
    if (!parents) {
      EBB_ASSIGN(const auto parent, shell.Look(item.files->uri() + item.Parent()));
      if (!parent.status) return Refuse(parent.text, kNoSuchFile);
    }
    return item.files->MakeDirectory(item.path, true);
  });
  return 0;
}

Result<int> RunRmdir(Shell& shell, Words words) {
  const bool tolerant = words.Has("-ignore-fail-on-non-empty");
  shell.ForEachExisting(words.rest, [&](Item& item) -> Status {
    if (!item.IsDirectory()) return Refuse(item.text, kIsNotDirectory);
    EBB_ASSIGN(const auto children, shell.Children(item));
    if (!children.empty()) return tolerant ? Status() : Refuse(item.text, "Directory is not empty");
    EBB_ASSIGN(const bool removed, item.files->Remove(item.path, false));
    return removed ? Status() : Refuse(item.text, kFailed);
  });
  return 0;
}

}  // namespace ebb::cli
