// cp, mv
#include "cli/commands.h"
#include "cli/destination.h"
#include "cli/transfer.h"

namespace ebb::cli {

namespace {

// An error if the directory would be copied into itself.
Status CheckApart(const Item& from, const Item& target) {
  if (from.files != target.files || !from.IsDirectory()) return {};
  if (from.path == target.path) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("`{}' to `{}': are identical", from.text, target.Uri()));
  }
  if (target.path.starts_with(from.path == "/" ? "/" : from.path + "/")) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("`{}' to `{}': is a subdirectory of itself", from.text, target.text));
  }
  return {};
}

bool IsInSnapshot(const Item& item) { return item.path.contains("/.snapshot/"); }

// Whether both are one file, also under two names of its path or of its namenodes.
bool IsSame(const Item& from, const Item& target) {
  const bool one_system = from.files == target.files;
  if (one_system && from.path == target.path) return true;
  if (!from.status || !target.status || from.status->file_id != target.status->file_id) {
    return false;
  }
  // A file of a snapshot has the id of the file that it was taken of.
  if (IsInSnapshot(from) || IsInSnapshot(target)) return false;
  // Ids of two clusters may be equal.
  return one_system || (from.status->modified_millis == target.status->modified_millis &&
                        from.status->length == target.status->length);
}

// Where the item goes. An error if it does not exist, or would go into itself.
Result<Item> SourceAndTarget(Shell& shell, const Item& item, const Item& to) {
  if (!item.status) return Refuse(item.text, kNoSuchFile);
  EBB_ASSIGN(auto target, TargetIn(shell, to, item.Name()));
  EBB_TRY(CheckApart(item, target));
  return target;
}

class Copier {
 public:
  Copier(Shell& shell, const Words& words, const TransferSize& size)
      : shell_(shell),
        force_(words.Has("f")),
        keep_(words.Has("p")),
        direct_(words.Has("d")),
        transfer_(size) {}

  [[nodiscard]] bool force() const { return force_; }

  // Files come later, and tell their errors then.
  Status Copy(const Item& from, Item& target) {
    if (from.IsDirectory()) return CopyDirectory(from, target);
    shell_.progress().Expect(from.status->length);
    transfer_.Run([this, from, target] {
      shell_.ComplainOf([&] { return CopyFile(from, target); });
    });
    return {};
  }

  // Waits for all files.
  void Finish() { transfer_.Finish(); }

 private:
  Status CopyFile(const Item& from, const Item& target) {
    EBB_TRY(CheckFree(target, force_));
    if (direct_ && IsSame(from, target)) {
      // The file would be gone before its first byte is copied.
      return Fail(ErrorCode::kInvalid,
                  fmt::format("`{}' to `{}': are identical; name another target", from.text,
                              target.Uri()));
    }
    EBB_ASSIGN(const auto in, from.files->OpenFile(from.path));
    EBB_ASSIGN(auto file, NewFile::Create(target, direct_, force_));
    auto status = Pump(*in, file.stream());
    if (status) status = file.Finish();
    if (!status) {
      file.Abandon();
      return status;
    }
    return Keep(from, target);
  }

  Status Pump(client::InputStream& in, client::OutputStream& out) {
    for (;;) {
      EBB_ASSIGN(const auto bytes, in.Next(kCopyBytes));
      if (bytes.empty()) return {};
      EBB_TRY(out.Write(bytes));
      shell_.progress().Add(bytes.size());
    }
  }

  Status CopyDirectory(const Item& from, Item& target) {
    if (!target.status) {
      EBB_TRY(target.files->MakeDirectory(target.path, true));
      EBB_TRY(shell_.Refresh(target));
    } else if (!target.IsDirectory()) {
      return Refuse(target.text, kIsNotDirectory);
    }
    EBB_ASSIGN(const auto children, shell_.Children(from));
    for (const auto& child : children) {
      Item below = ChildOf(target, child.Name());
      auto status = shell_.Refresh(below);
      if (status) status = Copy(child, below);
      shell_.Complain(status);
    }
    transfer_.RunAtEnd(
        [this, from, target] { shell_.ComplainOf([&] { return Keep(from, target); }); });
    return {};
  }

  // With -p: times, owner and rights.
  Status Keep(const Item& from, const Item& target) const {
    if (!keep_) return {};
    const auto& status = *from.status;
    EBB_TRY(target.files->SetTimes(target.path, status.modified_millis, status.accessed_millis));
    EBB_TRY(target.files->SetOwner(target.path, status.owner, status.group));
    return target.files->SetMode(target.path, status.mode);
  }

  Shell& shell_;
  const bool force_;
  const bool keep_;
  const bool direct_;
  // The last member: its end waits for jobs, which use the other members.
  Transfer transfer_;
};

}  // namespace

Result<int> RunCp(Shell& shell, Words words) {
  EBB_ASSIGN(const auto to, TakeDestination(shell, words));
  auto items = shell.ExpandAll(words.rest);
  EBB_ASSIGN(const auto size, TransferSizeOf(words));
  Copier copier(shell, words, size);
  EBB_TRY(CheckDestination(shell, to, items.size(), copier.force()));
  for (auto& item : items) {
    shell.Complain([&]() -> Status {
      EBB_ASSIGN(auto target, SourceAndTarget(shell, item, to));
      return copier.Copy(item, target);
    }());
  }
  copier.Finish();
  return 0;
}

Result<int> RunMv(Shell& shell, Words words) {
  EBB_ASSIGN(const auto to, TakeDestination(shell, words));
  auto items = shell.ExpandAll(words.rest);
  EBB_TRY(CheckDestination(shell, to, items.size(), false));
  for (auto& item : items) {
    shell.Complain([&]() -> Status {
      EBB_ASSIGN(const auto target, SourceAndTarget(shell, item, to));
      if (item.files != target.files) {
        return Refuse(item.text, "Does not match target filesystem");
      }
      if (target.status) return Refuse(target.text, kExists);
      EBB_ASSIGN(const bool moved, item.files->RenameOld(item.path, target.path));
      // The namenode tells no reason.
      return moved ? Status() : Refuse(item.text, kFailed);
    }());
  }
  return 0;
}

}  // namespace ebb::cli
