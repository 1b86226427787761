#include "disk/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace ebb {

namespace {

ErrorCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::kNoSpace;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return ErrorCode::kBusy;
    default:
      return ErrorCode::kIo;
  }
}

std::unexpected<Error> Failed(const char* what, const std::string& path, int error) {
  return Fail(CodeOf(error),
              fmt::format("{} {} failed: {}", what, path, std::generic_category().message(error)));
}

class PosixFile final : public File {
 public:
  PosixFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~PosixFile() override { close(fd_); }
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  Result<std::size_t> Read(std::uint64_t offset, std::span<std::byte> out) override {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t n =
          pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
      if (n == 0) break;
      if (n > 0) {
        done += static_cast<std::size_t>(n);
      } else if (errno != EINTR) {
        return Failed("reading", path_, errno);
      }
    }
    return done;
  }

  Status Write(std::uint64_t offset, std::span<const std::byte> data) override {
    while (!data.empty()) {
      const ssize_t n = pwrite(fd_, data.data(), data.size(), static_cast<off_t>(offset));
      if (n >= 0) {
        data = data.subspan(static_cast<std::size_t>(n));
        offset += static_cast<std::uint64_t>(n);
      } else if (errno != EINTR) {
        return Failed("writing", path_, errno);
      }
    }
    return {};
  }

  Status Reserve(std::uint64_t bytes) override {
    if (fallocate(fd_, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0) return {};
    if (errno == ENOSPC || errno == EDQUOT) return Failed("taking room for", path_, errno);
    return {};  // the writes will tell
  }

  Status Truncate(std::uint64_t length) override {
    if (ftruncate(fd_, static_cast<off_t>(length)) != 0) return Failed("truncating", path_, errno);
    return {};
  }

  Status Sync() override {
    if (fdatasync(fd_) != 0) return Failed("syncing", path_, errno);
    return {};
  }

  Result<std::uint64_t> Size() override {
    struct stat status;
    if (fstat(fd_, &status) != 0) return Failed("looking at", path_, errno);
    return static_cast<std::uint64_t>(status.st_size);
  }

  int descriptor() const override { return fd_; }

 private:
  const int fd_;
  const std::string path_;
};

class PosixFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<File>> OpenForReading(const std::string& path) override {
    return Open(path, O_RDONLY);
  }
  Result<std::unique_ptr<File>> OpenForWriting(const std::string& path) override {
    return Open(path, O_RDWR);
  }
  Result<std::unique_ptr<File>> Create(const std::string& path) override {
    return Open(path, O_RDWR | O_CREAT | O_TRUNC);
  }

  Status Rename(const std::string& from, const std::string& to) override {
    if (rename(from.c_str(), to.c_str()) != 0) return Failed("renaming", from + " to " + to, errno);
    return {};
  }

  Status Remove(const std::string& path) override {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) return Failed("removing", path, errno);
    return {};
  }

  Status SyncDirectory(const std::string& path) override {
    const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return Failed("opening directory", path, errno);
    const int error = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    if (error != 0) return Failed("syncing directory", path, error);
    return {};
  }

  Status MakeDirectories(const std::string& path) override {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) return Failed("making directory", path, error.value());
    return {};
  }

  Result<std::vector<DirectoryEntry>> List(const std::string& path) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), &closedir);
    if (!directory) return Failed("listing", path, errno);
    std::vector<DirectoryEntry> entries;
    for (;;) {
      errno = 0;
      const dirent* entry = readdir(directory.get());
      if (entry == nullptr) break;
      const std::string name = entry->d_name;
      if (name != "." && name != "..") entries.push_back({name, entry->d_type == DT_DIR});
    }
    if (errno != 0) return Failed("listing", path, errno);
    return entries;
  }

  Result<std::uint64_t> FileSize(const std::string& path) override {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) return Failed("looking at", path, errno);
    return static_cast<std::uint64_t>(status.st_size);
  }

  Result<Space> GetSpace(const std::string& path) override {
    struct statvfs status;
    if (statvfs(path.c_str(), &status) != 0) return Failed("asking the space of", path, errno);
    return Space{static_cast<std::uint64_t>(status.f_blocks) * status.f_frsize,
                 static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize};
  }

  Result<std::uint64_t> FileSystemId(const std::string& path) override {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) return Failed("looking at", path, errno);
    return static_cast<std::uint64_t>(status.st_dev);
  }

 private:
  static Result<std::unique_ptr<File>> Open(const std::string& path, int flags) {
    const int fd = open(path.c_str(), flags | O_CLOEXEC, 0644);
    if (fd < 0) return Failed("opening", path, errno);
    return std::make_unique<PosixFile>(fd, path);
  }
};

}  // namespace

FileSystem& RealFileSystem() {
  static PosixFileSystem instance;
  return instance;
}

}  // namespace ebb
