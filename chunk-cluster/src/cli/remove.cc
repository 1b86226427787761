// rm, expunge
#include <map>

#include "cli/commands.h"
#include "cli/trash.h"

namespace ebb::cli {

Result<int> RunRm(Shell& shell, Words words) {
  const bool recursive = words.Has("r") || words.Has("R");
  const bool force = words.Has("f");
  std::vector<std::string> texts;
  for (const auto& text : words.rest) {
    // With -f, a pattern without a match is no error.
    auto items = shell.Expand(text);
    if (items) {
      texts.push_back(text);
    } else if (!force || items.error().code != ErrorCode::kNotFound) {
      shell.Complain(items.error());
    }
  }
  std::map<client::FileSystem*, Trash> trashes;
  shell.ForEach(texts, [&](Item& item) -> Status {
    if (!item.status) return force ? Status() : Refuse(item.text, kNoSuchFile);
    if (item.IsDirectory() && !recursive) return Refuse(item.text, kIsDirectory);
    if (!words.Has("skipTrash")) {
      auto& trash = trashes.try_emplace(item.files, shell, *item.files).first->second;
      EBB_ASSIGN(const bool taken, trash.Take(item));
      if (taken) return {};
    }
    EBB_ASSIGN(const bool removed, item.files->Remove(item.path, recursive));
    if (!removed) return Refuse(item.text, kFailed);
    shell.Print("Deleted {}\n", item.text);
    return {};
  });
  return 0;
}

Result<int> RunExpunge(Shell& shell, Words words) {
  const auto named = words.values.find("fs");
  EBB_ASSIGN(const auto root, shell.Resolve(named == words.values.end() ? "/" : named->second));
  Trash trash(shell, *root.files);
  if (words.Has("immediate")) {
    EBB_TRY(trash.MakeCheckpoint());
    EBB_TRY(trash.DeleteCheckpoints(true));
  } else {
    EBB_TRY(trash.DeleteCheckpoints(false));
    EBB_TRY(trash.MakeCheckpoint());
  }
  return 0;
}

}  // namespace ebb::cli
