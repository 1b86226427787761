#include "cli/local_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace ebb::cli {

namespace {

std::unexpected<Error> Failed(const std::string& path, const char* what) {
  return Fail(ErrorCode::kIo, fmt::format("{} ({}: {})", path, what, std::strerror(errno)));
}

}  // namespace

Result<LocalFile> LocalFile::OpenToRead(const std::string& path) {
  if (path == "-") return LocalFile(path, dup(STDIN_FILENO));
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Failed(path, "open");
  posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  return LocalFile(path, fd);
}

Result<LocalFile> LocalFile::Create(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return Failed(path, "create");
  return LocalFile(path, fd);
}

Result<LocalFile> LocalFile::Continue(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return Failed(path, "open");
  LocalFile file(path, fd);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return Fail(ErrorCode::kIo,
                fmt::format("{} is being written by another command or thread ({}); wait for its end",
                            path, std::strerror(errno)));
  }
  // Its last writer may have given the file its name before the lock was free.
  struct stat named = {};
  EBB_ASSIGN(const auto opened, file.Stat());
  if (stat(path.c_str(), &named) != 0 || named.st_ino != opened.st_ino) {
    return Fail(ErrorCode::kIo, fmt::format("{} was completed by another command just now", path));
  }
  return file;
}

Result<struct stat> LocalFile::Stat() const {
  struct stat status = {};
  if (fstat(fd_, &status) != 0) return Failed(path_, "stat");
  return status;
}

Status LocalFile::Truncate() {
  if (ftruncate(fd_, 0) != 0) return Failed(path_, "truncate");
  return {};
}

LocalFile::LocalFile(LocalFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

LocalFile::~LocalFile() {
  if (fd_ >= 0) close(fd_);
}

Status LocalFile::Seek(std::uint64_t offset) {
  if (lseek(fd_, static_cast<off_t>(offset), SEEK_SET) < 0) return Failed(path_, "seek");
  return {};
}

Result<std::size_t> LocalFile::Read(std::span<std::byte> out) {
  for (;;) {
    const ssize_t n = read(fd_, out.data(), out.size());
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) return Failed(path_, "read");
  }
}

Status LocalFile::Write(std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t n = write(fd_, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed(path_, "write");
    data = data.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Status LocalFile::Close() {
  if (close(std::exchange(fd_, -1)) != 0) return Failed(path_, "close");
  return {};
}

Status GiveName(const std::string& from, const std::string& to, bool overwrite) {
  if (overwrite) {
    if (std::rename(from.c_str(), to.c_str()) != 0) return Failed(to, "rename");
    return {};
  }
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  // File systems such as NFS do not know the flag.
  if (errno != EINVAL && errno != ENOSYS) return Failed(to, "rename");
  if (link(from.c_str(), to.c_str()) != 0) return Failed(to, "link");
  if (unlink(from.c_str()) != 0) return Failed(from, "unlink");
  return {};
}

std::uint64_t LengthOf(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

std::string LocalPath(const std::string& text) {
  if (text.starts_with("file://")) return text.substr(7);
  if (text.starts_with("file:")) return text.substr(5);
  return text;
}

}  // namespace ebb::cli
