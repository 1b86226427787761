#include "cli/destination.h"

#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>

#include "cli/part_name.h"

namespace ebb::cli {

namespace {

constexpr std::chrono::seconds kMostLeaseWait(120);
constexpr std::chrono::seconds kLeaseLook(2);

// A path beside the target that no other client writes, renames or deletes: with 'hdfs dfs', one of
// two commands that write the same target may report success for the bytes of the other.
std::string OtherPath(const Item& target, const std::string& mark) {
  const std::string name = target.Name();
  return target.path.substr(0, target.path.size() - name.size()) + PartName(name, mark);
}

bool IsHeld(const Error& error) {
  return error.exception_class == "org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException" ||
         error.exception_class == "org.apache.hadoop.hdfs.protocol.RecoveryInProgressException";
}

// A command that was killed holds the lease of its part for a minute.
Result<std::unique_ptr<client::OutputStream>> AppendToPart(Shell& shell, const Item& target,
                                                           const std::string& path) {
  auto stream = target.files->Append(path);
  const auto end = std::chrono::steady_clock::now() + kMostLeaseWait;
  bool told = false;
  while (!stream && IsHeld(stream.error()) && std::chrono::steady_clock::now() < end) {
    if (!std::exchange(told, true)) {
      shell.Tell(fmt::format("{}: waiting for the end of the lease of the command before, {} s at most",
                             target.text, kMostLeaseWait.count()));
    }
    std::this_thread::sleep_for(kLeaseLook);
    stream = target.files->Append(path);
  }
  return stream;
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
  file.path_ = direct ? target.path : OtherPath(target, target.files->client_name());
  EBB_ASSIGN(file.stream_,
             target.files->Create(file.path_, {.overwrite = direct && overwrite}));
  return file;
}

Result<NewFile> NewFile::Continue(Shell& shell, const Item& target, const std::string& mark,
                                  std::uint64_t most_bytes, bool overwrite) {
  NewFile file;
  file.target_ = target;
  file.overwrite_ = overwrite;
  file.continued_ = true;
  file.path_ = OtherPath(target, mark);
  EBB_ASSIGN(const auto left, target.files->Stat(file.path_));
  // Namenodes let nobody append to a file that clients encode: it begins anew.
  if (left && !left->IsDirectory() && !left->erasure) {
    EBB_ASSIGN(file.stream_, AppendToPart(shell, target, file.path_));
    file.present_ = file.stream_->length();
    if (file.present_ <= most_bytes) return file;
    EBB_TRY(file.stream_->Close());
    file.present_ = 0;
  }
  EBB_ASSIGN(file.stream_, target.files->Create(file.path_, {.overwrite = true}));
  return file;
}

Status NewFile::Finish() {
  EBB_TRY(stream_->Close());
  stream_ = nullptr;
  if (path_ == target_.path) return {};
  return target_.files->Rename(path_, target_.path, overwrite_);
}

void NewFile::Abandon() {
  // What a failed stream cannot close, the namenode closes when the lease ends.
  if (continued_ && stream_) (void)stream_->Close();
  stream_ = nullptr;
  if (continued_ || path_ == target_.path) return;
  // What cannot be deleted stays under its other name.
  (void)target_.files->Remove(path_, false);
}

}  // namespace ebb::cli
