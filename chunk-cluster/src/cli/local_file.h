// Files of this machine.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/error.h"

namespace ebb::cli {

// One thread at a time.
class LocalFile {
 public:
  // "-" is standard input.
  [[nodiscard]] static Result<LocalFile> OpenToRead(const std::string& path);
  [[nodiscard]] static Result<LocalFile> Create(const std::string& path);
  // Makes the file, or opens the present one; writes go to its end. Refuses a file that another
  // process, or another thread, has opened so.
  [[nodiscard]] static Result<LocalFile> Continue(const std::string& path);
  LocalFile(LocalFile&& other) noexcept;
  LocalFile& operator=(LocalFile&&) = delete;
  LocalFile(const LocalFile&) = delete;
  LocalFile& operator=(const LocalFile&) = delete;
  ~LocalFile();

  [[nodiscard]] Result<struct stat> Stat() const;
  [[nodiscard]] Status Truncate();
  // The next byte that is read.
  [[nodiscard]] Status Seek(std::uint64_t offset);
  // 0 at the end.
  [[nodiscard]] Result<std::size_t> Read(std::span<std::byte> out);
  [[nodiscard]] Status Write(std::span<const std::byte> data);
  // Tells of errors that the operating system has kept until now.
  [[nodiscard]] Status Close();

 private:
  LocalFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_ = -1;
};

// Renames a file. Without `overwrite`, a file that has got the name meanwhile stays, and this fails.
[[nodiscard]] Status GiveName(const std::string& from, const std::string& to, bool overwrite);

// The bytes of a file. 0 for a file that has no length, such as a pipe, and for a missing one.
[[nodiscard]] std::uint64_t LengthOf(const std::string& path);

// The path of "file:" URIs and of plain texts.
[[nodiscard]] std::string LocalPath(const std::string& text);

}  // namespace ebb::cli
