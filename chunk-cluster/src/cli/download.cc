// get, copyToLocal
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/commands.h"
#include "cli/local_file.h"
#include "cli/part_name.h"
#include "cli/transfer.h"

namespace ebb::cli {

namespace {

namespace fs = std::filesystem;

timespec TimeOf(std::int64_t millis) {
  return {.tv_sec = millis / 1000, .tv_nsec = millis % 1000 * 1'000'000};
}

class Downloader {
 public:
  Downloader(Shell& shell, const Words& words, const TransferSize& size)
      : shell_(shell),
        force_(words.Has("f")),
        keep_(words.Has("p")),
        resume_(words.Has("resume")),
        transfer_(size) {}

  [[nodiscard]] bool force() const { return force_; }

  // `text` is how messages name the local path. Errors are told; files come later.
  void Get(const Item& item, const std::string& target, const std::string& text) {
    if (item.IsDirectory()) return shell_.Complain(GetDirectory(item, target, text));
    shell_.progress().Expect(item.status->length);
    transfer_.Run([this, item, target, text] {
      shell_.ComplainOf([&] { return GetFile(item, target, text); });
    });
  }

  // Waits for all files.
  void Finish() { transfer_.Finish(); }

 private:
  Status GetFile(const Item& item, const std::string& target, const std::string& text) {
    std::error_code error;
    if (fs::exists(target, error) && (fs::is_directory(target, error) || !force_)) {
      return Refuse(text, kExists);
    }
    EBB_ASSIGN(const auto in, item.files->OpenFile(item.path));
    if (resume_) EBB_TRY(CheckSame(item));
    const std::string partial = PartialOf(item, target);
    auto status = Pump(*in, partial);
    if (status) status = GiveName(partial, target, force_);
    if (!status) {
      if (!resume_) fs::remove(partial, error);
      return status;
    }
    return Keep(item, target);
  }

  // A part that is to be continued names the file and its last change, so that bytes of different
  // files never meet. Other parts belong to one thread: two files may have one target.
  [[nodiscard]] std::string PartialOf(const Item& item, const std::string& target) {
    const std::string mark =
        resume_ ? fmt::format("{}-{}", item.status->file_id, item.status->modified_millis)
                : fmt::format("{}-{}", getpid(), ++parts_);
    const auto name_at = target.rfind('/') + 1;
    return target.substr(0, name_at) + PartName(target.substr(name_at), mark);
  }

  // An error if another file has got the path since it was listed: the part would not be of it.
  static Status CheckSame(const Item& item) {
    EBB_ASSIGN(const auto now, item.files->Stat(item.path));
    if (now && now->file_id == item.status->file_id &&
        now->modified_millis == item.status->modified_millis) {
      return {};
    }
    return Refuse(item.text, "was replaced or changed meanwhile; repeat the command");
  }

  Status Pump(client::InputStream& in, const std::string& path) {
    EBB_ASSIGN(auto to, OpenPartial(in, path));
    for (;;) {
      EBB_ASSIGN(const auto bytes, in.Next(kCopyBytes));
      if (bytes.empty()) return to.Close();
      EBB_TRY(to.Write(bytes));
      shell_.progress().Add(bytes.size());
    }
  }

  // A new file; with -resume also one of an earlier command, whose bytes `in` passes over.
  Result<LocalFile> OpenPartial(client::InputStream& in, const std::string& path) {
    if (!resume_) return LocalFile::Create(path);
    EBB_ASSIGN(auto part, LocalFile::Continue(path));
    EBB_ASSIGN(const auto status, part.Stat());
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    if (bytes > in.length()) {
      EBB_TRY(part.Truncate());
      return part;
    }
    EBB_TRY(in.Seek(bytes));
    shell_.progress().Skip(bytes);
    return part;
  }

  Status GetDirectory(const Item& item, const std::string& target, const std::string& text) {
    std::error_code error;
    if (fs::exists(target, error)) {
      if (!fs::is_directory(target, error)) return Refuse(text, kIsNotDirectory);
    } else if (!fs::create_directory(target, error)) {
      return Fail(ErrorCode::kIo, fmt::format("mkdir `{}': {}", text, error.message()));
    }
    EBB_ASSIGN(const auto children, shell_.Children(item));
    for (const auto& child : children) {
      Get(child, target + "/" + child.Name(), text + "/" + child.Name());
    }
    transfer_.RunAtEnd(
        [this, item, target] { shell_.ComplainOf([&] { return Keep(item, target); }); });
    return {};
  }

  // With -p: times and rights. The owner stays the user.
  Status Keep(const Item& item, const std::string& target) const {
    if (!keep_) return {};
    const timespec times[2] = {TimeOf(item.status->accessed_millis),
                               TimeOf(item.status->modified_millis)};
    if (utimensat(AT_FDCWD, target.c_str(), times, 0) != 0 ||
        chmod(target.c_str(), item.status->mode) != 0) {
      return Fail(ErrorCode::kIo, fmt::format("{} ({})", target, std::strerror(errno)));
    }
    return {};
  }

  Shell& shell_;
  const bool force_;
  const bool keep_;
  const bool resume_;
  std::atomic<int> parts_ = 0;
  // The last member: its end waits for jobs, which use the other members.
  Transfer transfer_;
};

// The rules of CheckDestination, for a local path.
Status CheckLocal(const std::string& text, const std::string& path, std::size_t sources,
                  bool overwrite) {
  std::error_code error;
  const bool exists = fs::exists(path, error);
  const bool directory = fs::is_directory(path, error);
  if (sources > 1) {
    if (!exists) return Refuse(text, kNoSuchFile);
    if (!directory) return Refuse(text, kIsNotDirectory);
  } else if (exists) {
    if (!directory && !overwrite) return Refuse(text, kExists);
  } else if (!fs::exists(fs::absolute(path, error).parent_path(), error)) {
    return Refuse(text, kNoSuchFile);
  }
  return {};
}

}  // namespace

Result<int> RunGet(Shell& shell, Words words) {
  std::string text = ".";
  if (words.rest.size() > 1) {
    text = words.rest.back();
    words.rest.pop_back();
  }
  const std::string to = LocalPath(text);
  auto items = shell.ExpandAll(words.rest);
  EBB_ASSIGN(const auto size, TransferSizeOf(words));
  Downloader downloader(shell, words, size);
  EBB_TRY(CheckLocal(text, to, items.size(), downloader.force()));
  std::error_code error;
  const bool directory = fs::is_directory(to, error);
  for (auto& item : items) {
    if (!item.status) {
      shell.Complain(Refuse(item.text, kNoSuchFile).error());
      continue;
    }
    const std::string below = directory ? "/" + item.Name() : "";
    downloader.Get(item, to + below, directory && text == "." ? item.Name() : text + below);
  }
  downloader.Finish();
  return 0;
}

}  // namespace ebb::cli
