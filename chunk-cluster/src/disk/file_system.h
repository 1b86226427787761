// The one seam to the operating system's files, so that a test can fail the next write or fill the
// disk. Every error names the path and the system's message. kNoSpace means that the disk is full,
// and kBusy that descriptors or memory have run out: neither is a fault of the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"

namespace ebb {

// An open file. Several threads may read, and one may write. The destructor closes the file.
class File {
 public:
  virtual ~File() = default;
  // Reads until `out` is full or the file ends. Returns the number of bytes read.
  [[nodiscard]] virtual Result<std::size_t> Read(std::uint64_t offset,
                                                 std::span<std::byte> out) = 0;
  // Writes all of `data`, or fails.
  [[nodiscard]] virtual Status Write(std::uint64_t offset, std::span<const std::byte> data) = 0;
  // Takes room on the disk for the first `bytes` bytes, without a change of the length. A file
  // system that cannot do that takes none. A cut to the length of the file gives the rest of the
  // room back.
  [[nodiscard]] virtual Status Reserve(std::uint64_t bytes) = 0;
  [[nodiscard]] virtual Status Truncate(std::uint64_t length) = 0;
  [[nodiscard]] virtual Status Sync() = 0;
  [[nodiscard]] virtual Result<std::uint64_t> Size() = 0;
  // Runs a call of the operating system that uses the descriptor. The call returns the error of the
  // file, if it has one.
  [[nodiscard]] virtual Status Call(const std::function<Status()>& call) { return call(); }
  // This file for a step that must not stay undone: none of its calls is refused because the disk
  // does not keep up. Lives as long as this object.
  [[nodiscard]] virtual File& Unrefused() { return *this; }
  // For sendfile. Negative if the file can be read through Read only.
  [[nodiscard]] virtual int descriptor() const { return -1; }
};

struct DirectoryEntry {
  std::string name;
  bool directory;
};

struct Space {
  std::uint64_t capacity_bytes;
  std::uint64_t free_bytes;
};

// Thread-safe.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // kNotFound if there is no such file.
  [[nodiscard]] virtual Result<std::unique_ptr<File>> OpenForReading(const std::string& path) = 0;
  // The file must exist.
  [[nodiscard]] virtual Result<std::unique_ptr<File>> OpenForWriting(const std::string& path) = 0;
  // Creates the file, or empties it if it exists.
  [[nodiscard]] virtual Result<std::unique_ptr<File>> Create(const std::string& path) = 0;
  [[nodiscard]] virtual Status Rename(const std::string& from, const std::string& to) = 0;
  // No error if there is no such file.
  [[nodiscard]] virtual Status Remove(const std::string& path) = 0;
  [[nodiscard]] virtual Status SyncDirectory(const std::string& path) = 0;
  // Creates the directory and its parents. No error if it exists.
  [[nodiscard]] virtual Status MakeDirectories(const std::string& path) = 0;
  [[nodiscard]] virtual Result<std::vector<DirectoryEntry>> List(const std::string& path) = 0;
  // kNotFound if there is no such file.
  [[nodiscard]] virtual Result<std::uint64_t> FileSize(const std::string& path) = 0;
  // The space of the file system that `path` is on.
  [[nodiscard]] virtual Result<Space> GetSpace(const std::string& path) = 0;
  // Equal for two paths if they are on one file system (st_dev).
  [[nodiscard]] virtual Result<std::uint64_t> FileSystemId(const std::string& path) = 0;
};

// The file system of the operating system. Lives as long as the process.
[[nodiscard]] FileSystem& RealFileSystem();

}  // namespace ebb
