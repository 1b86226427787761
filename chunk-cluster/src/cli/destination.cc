#include "cli/destination.h"

#include <utility>

namespace ebb::cli {

namespace {

constexpr std::string_view kFileExists = "org.apache.hadoop.fs.FileAlreadyExistsException";
constexpr std::string_view kBeingCreated =
    "org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException";

// With 'hdfs dfs', one of two commands that write a file under the same other name may report
// success for the bytes of the other. Here the second one fails.
std::unexpected<Error> TakenName(const Item& target, const std::string& path, const Error& error) {
  if (error.exception_class != kFileExists && error.exception_class != kBeingCreated) {
    return std::unexpected(error);
  }
  return Fail(ErrorCode::kBusy,
              fmt::format("`{}': another command writes {}; try again after it, or, if it has "
                          "died, remove that file first",
                          target.text, path));
}

}  // namespace

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

bool NamesDirectory(const std::string& text) {
  const std::string last = text.substr(text.rfind('/') + 1);
  return last.empty() || last == "." || last == "..";
}

Result<Item> TargetIn(Shell& shell, const Item& to, const std::string& name) {
  if (!to.status && NamesDirectory(to.text)) {
    return Refuse(to.text, fmt::format("{}: `{}'", kNoSuchFile, to.EncodedUri()));
  }
  if (!to.IsDirectory()) return to;
  EBB_TRY(CheckUtf8(name));
  Item target = ChildOf(to, name);
  EBB_TRY(shell.Refresh(target));
  return target;
}

Status CheckFree(const Item& target, bool overwrite) {
  if (target.status && (target.IsDirectory() || !overwrite)) return Refuse(target.text, kExists);
  return {};
}

Result<NewFile> NewFile::Create(const Item& target, bool direct, bool overwrite) {
  // Before the present file is gone.
  if (direct) EBB_TRY(target.files->CheckWritableAt(target.path));
  NewFile file;
  file.target_ = target;
  file.overwrite_ = overwrite;
  file.path_ = direct ? target.path : target.path + "._COPYING_";
  auto stream = target.files->Create(file.path_, {.overwrite = direct && overwrite});
  if (!stream && !direct) return TakenName(target, file.path_, stream.error());
  EBB_ASSIGN(file.stream_, std::move(stream));
  return file;
}

Status NewFile::Finish() {
  EBB_TRY(stream_->Close());
  stream_ = nullptr;
  if (path_ == target_.path) return {};
  return target_.files->Rename(path_, target_.path, overwrite_);
}

void NewFile::Abandon() {
  stream_ = nullptr;
  if (path_ == target_.path) return;
  // What cannot be deleted stays under its other name.
  (void)target_.files->Remove(path_, false);
}

}  // namespace ebb::cli
