#include "cli/destination.h"

namespace ebb::cli {

Result<Item> TakeDestination(Shell& shell, Words& words) {
  std::string text = ".";
  if (words.rest.size() > 1) {
    text = words.rest.back();
    words.rest.pop_back();
  }
  EBB_ASSIGN(auto items, shell.Expand(text));
  if (items.size() > 1) return Refuse(text, "Too many matches");
  return std::move(items[0]);
}

Status CheckDestination(Shell& shell, const Item& to, std::size_t sources, bool overwrite) {
  if (sources > 1) {
    if (!to.status) return Refuse(to.text, kNoSuchFile);
    if (!to.IsDirectory()) return Refuse(to.text, kIsNotDirectory);
  } else if (to.status) {
    if (!to.IsDirectory() && !overwrite) return Refuse(to.text, kExists);
  } else {
    EBB_ASSIGN(const auto parent, shell.Look(to.files->uri() + to.Parent()));
    if (!parent.status) {
      return Refuse(to.text, fmt::format("{}: `{}'", kNoSuchFile, to.EncodedUri()));
    }
  }
  return {};
}

Result<Item> TargetIn(Shell& shell, const Item& to, const std::string& name) {
  if (!to.IsDirectory()) return to;
  Item target = ChildOf(to, name);
  EBB_TRY(shell.Refresh(target));
  return target;
}

Status CheckFree(const Item& target, bool overwrite) {
  if (target.status && (target.IsDirectory() || !overwrite)) return Refuse(target.text, kExists);
  return {};
}

Result<NewFile> NewFile::Create(const Item& target, bool direct) {
  NewFile file;
  file.target_ = target;
  file.path_ = direct ? target.path : target.path + "._COPYING_";
  EBB_ASSIGN(file.stream_, target.files->Create(file.path_, {.overwrite = true}));
  return file;
}

Status NewFile::Finish() {
  EBB_TRY(stream_->Close());
  stream_ = nullptr;
  return path_ == target_.path ? Status() : target_.files->Rename(path_, target_.path, true);
}

void NewFile::Abandon() {
  stream_ = nullptr;
  // What cannot be deleted stays under its other name.
  (void)target_.files->Remove(path_, false);
}

}  // namespace ebb::cli
