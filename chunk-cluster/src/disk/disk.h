// One data directory: its identity, its lock, its space and where its files lie.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "disk/file_system.h"
#include "disk/format.h"

namespace ebb {

struct DiskStatus {
  std::string storage_uuid;
  std::string directory;
  bool failed = false;
  // Why, if it failed, and when (milliseconds since the epoch).
  std::string failure;
  std::uint64_t failed_at_millis = 0;
  std::uint64_t blocks = 0;
  // Bytes of data and checksum files.
  std::uint64_t used_bytes = 0;
  std::uint64_t capacity_bytes = 0;
  // What may still be written: free space less the reserve.
  std::uint64_t remaining_bytes = 0;
};

// Thread-safe once opened. A failed disk stays failed until the process starts again.
class Disk {
 public:
  // Makes the directory if it is missing, locks it against other processes and reads its identity;
  // a new directory gets `server_uuid` and a storage uuid of its own once Claim is called.
  [[nodiscard]] static Result<std::unique_ptr<Disk>> Open(FileSystem& files, std::string directory,
                                                          std::uint64_t reserved_bytes);
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  // Writes the identity, durably.
  [[nodiscard]] Status Claim(const format::Identity& identity);
  [[nodiscard]] const format::Identity& identity() const { return identity_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] FileSystem& files() const { return files_; }

  [[nodiscard]] std::string BlockPath(std::string_view folder, std::uint64_t block_id) const;
  [[nodiscard]] std::string MetaPath(std::string_view folder, std::uint64_t block_id,
                                     std::uint64_t generation_stamp) const;
  // The folder that holds a finalized block; made if it is missing.
  [[nodiscard]] Result<std::string> FinalizedFolder(std::uint64_t block_id);
  [[nodiscard]] std::string Folder(std::string_view name) const;

  // kNoSpace if fewer than `bytes` may still be written.
  [[nodiscard]] Status CheckSpace(std::uint64_t bytes) const;
  // Tries whether the directory can still be read and written. An error means that it has failed.
  [[nodiscard]] Status Probe() const;

  [[nodiscard]] bool failed() const { return failed_; }
  // True if this call made it so.
  bool MarkFailed(const std::string& why);

  void AddUsed(std::uint64_t blocks, std::uint64_t bytes);
  void SubtractUsed(std::uint64_t blocks, std::uint64_t bytes);
  [[nodiscard]] DiskStatus GetStatus() const;

 private:
  [[nodiscard]] Status TryReadAndWrite() const;
  Disk(FileSystem& files, std::string directory, std::uint64_t reserved_bytes)
      : files_(files), directory_(std::move(directory)), reserved_bytes_(reserved_bytes) {}

  FileSystem& files_;
  const std::string directory_;
  const std::uint64_t reserved_bytes_;
  format::Identity identity_;
  int lock_ = -1;
  std::atomic<bool> failed_ = false;
  std::atomic<std::uint64_t> blocks_ = 0;
  std::atomic<std::uint64_t> used_bytes_ = 0;
  // Bit s: the folder of finalized blocks with that hash exists.
  std::atomic<bool> folders_[256] = {};
  mutable std::mutex mutex_;
  std::string failure_;
  std::uint64_t failed_at_millis_ = 0;
};

}  // namespace ebb
