// put, copyFromLocal, appendToFile
#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "cli/commands.h"
#include "cli/destination.h"
#include "cli/local_file.h"
#include "cli/transfer.h"

namespace ebb::cli {

namespace {

namespace fs = std::filesystem;

Status Pump(LocalFile& from, client::OutputStream& to, Progress& progress) {
  std::vector<std::byte> buffer(kCopyBytes);
  for (;;) {
    EBB_ASSIGN(const auto n, from.Read(buffer));
    if (n == 0) return {};
    EBB_TRY(to.Write(std::span(buffer).first(n)));
    progress.Add(n);
  }
}

std::int64_t Millis(const timespec& time) { return time.tv_sec * 1000 + time.tv_nsec / 1'000'000; }

class Uploader {
 public:
  Uploader(Shell& shell, const Words& words, const TransferSize& size)
      : shell_(shell),
        force_(words.Has("f")),
        keep_(words.Has("p")),
        direct_(words.Has("d")),
        resume_(words.Has("resume")),
        transfer_(size) {}

  [[nodiscard]] bool force() const { return force_; }

  // Files come later, and tell their errors then.
  Status Put(const std::string& text, const std::string& path, const Item& to) {
    std::error_code error;
    if (!fs::exists(path, error)) return Refuse(text, kNoSuchFile);
    std::string name = fs::path(path).filename();
    if (name.empty() || name == "." || name == "..") name = fs::canonical(path, error).filename();
    EBB_ASSIGN(auto target, TargetIn(shell_, to, name));
    if (fs::is_directory(path, error)) return PutDirectory(path, target);
    shell_.progress().Expect(LengthOf(path));
    transfer_.Run([this, path, target] {
      shell_.ComplainOf([&] { return PutFile(path, target); });
    });
    return {};
  }

  // Waits for all files.
  void Finish() { transfer_.Finish(); }

  Status PutFile(const std::string& path, const Item& target) {
    EBB_TRY(CheckFree(target, force_));
    EBB_ASSIGN(auto from, LocalFile::OpenToRead(path));
    EBB_ASSIGN(auto file, resume_ ? Continue(from, target)
                                  : NewFile::Create(target, direct_, force_));
    auto status = Pump(from, file.stream(), shell_.progress());
    if (status) status = file.Finish();
    if (!status) {
      file.Abandon();
      return status;
    }
    return path == "-" ? Status() : Keep(path, target);
  }

 private:
  Status PutDirectory(const std::string& path, Item& target) {
    if (!target.status) {
      EBB_TRY(target.files->MakeDirectory(target.path, true));
      EBB_TRY(shell_.Refresh(target));
    } else if (!target.IsDirectory()) {
      return Refuse(target.text, kIsNotDirectory);
    }
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(path, error); !error && at != fs::directory_iterator();
         at.increment(error)) {
      names.push_back(at->path());
    }
    if (error) return Fail(ErrorCode::kIo, fmt::format("{} ({})", path, error.message()));
    std::ranges::sort(names);
    for (const auto& name : names) shell_.Complain(Put(name, name, target));
    transfer_.RunAtEnd(
        [this, path, target] { shell_.ComplainOf([&] { return Keep(path, target); }); });
    return {};
  }

  // The part of the file that an earlier command has written, or a new one.
  Result<NewFile> Continue(LocalFile& from, const Item& target) {
    EBB_ASSIGN(const auto local, from.Stat());
    const auto mark = fmt::format("{}-{}-{}-{}", local.st_dev, local.st_ino, Millis(local.st_mtim),
                                  local.st_size);
    EBB_ASSIGN(auto file, NewFile::Continue(shell_, target, mark, static_cast<std::uint64_t>(local.st_size),
                                            force_));
    EBB_TRY(from.Seek(file.present()));
    shell_.progress().Skip(file.present());
    return file;
  }

  // With -p: times, rights and owner of the local file.
  Status Keep(const std::string& path, const Item& target) {
    struct stat from = {};
    if (!keep_ || stat(path.c_str(), &from) != 0) return {};
    EBB_TRY(target.files->SetTimes(target.path, Millis(from.st_mtim), Millis(from.st_atim)));
    EBB_TRY(target.files->SetOwner(target.path, OwnerOf(from.st_uid), GroupOf(from.st_gid)));
    return target.files->SetMode(target.path, from.st_mode & 01777);
  }

  static std::string OwnerOf(uid_t id);
  static std::string GroupOf(gid_t id);

  Shell& shell_;
  const bool force_;
  const bool keep_;
  const bool direct_;
  const bool resume_;
  // The last member: its end waits for jobs, which use the other members.
  Transfer transfer_;
};

std::string Uploader::OwnerOf(uid_t id) {
  passwd entry = {};
  passwd* found = nullptr;
  char buffer[4096];
  getpwuid_r(id, &entry, buffer, sizeof buffer, &found);
  return found != nullptr ? entry.pw_name : std::to_string(id);
}

std::string Uploader::GroupOf(gid_t id) {
  group entry = {};
  group* found = nullptr;
  char buffer[4096];
  getgrgid_r(id, &entry, buffer, sizeof buffer, &found);
  return found != nullptr ? entry.gr_name : std::to_string(id);
}

}  // namespace

Result<int> RunPut(Shell& shell, Words words) {
  EBB_ASSIGN(const auto size, TransferSizeOf(words));
  if (words.Has("resume") && words.Has("d")) {
    return Misuse("-resume needs the other name that -d does not use: leave one of them out");
  }
  Uploader uploader(shell, words, size);
  EBB_ASSIGN(const auto to, TakeDestination(shell, words));
  if (words.rest.size() == 1 && words.rest[0] == "-") {
    if (words.Has("resume")) return Misuse("-resume needs a file: standard input has no begin");
    EBB_ASSIGN(const auto target, TargetIn(shell, to, "-"));
    EBB_TRY(uploader.PutFile("-", target));
    return 0;
  }
  EBB_TRY(CheckDestination(shell, to, words.rest.size(), uploader.force()));
  for (const auto& text : words.rest) shell.Complain(uploader.Put(text, LocalPath(text), to));
  uploader.Finish();
  return 0;
}

Result<int> RunAppendToFile(Shell& shell, Words words) {
  EBB_ASSIGN(const auto target, TakeDestination(shell, words));
  if (target.IsDirectory()) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("Cannot append to directory {}; already exists as a directory.", target.text));
  }
  if (!target.status) EBB_TRY(target.files->CheckWritableAt(target.path));
  // As with 'hdfs dfs', the file is there even if no source is.
  EBB_ASSIGN(auto stream, target.status ? target.files->Append(target.path)
                                        : target.files->Create(target.path, {}));
  const auto appended = [&]() -> Status {
    for (const auto& source : words.rest) {
      std::error_code error;
      if (source != "-" && !fs::exists(LocalPath(source), error)) {
        return Fail(ErrorCode::kIo, source);
      }
      EBB_ASSIGN(auto from, LocalFile::OpenToRead(LocalPath(source)));
      EBB_TRY(Pump(from, *stream, shell.progress()));
    }
    return {};
  }();
  EBB_TRY(stream->Close());
  EBB_TRY(appended);
  return 0;
}

}  // namespace ebb::cli
