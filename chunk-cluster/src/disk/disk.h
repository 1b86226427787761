// One data directory: its identity, its lock, its space, and the paths of its files.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "disk/disk_queue.h"
#include "disk/file_system.h"
#include "disk/format.h"
#include "disk/queued_file_system.h"
#include "disk/recent_errors.h"
#include "disk/storage_type.h"

namespace ebb {

struct DiskStatus {
  std::string storage_uuid;
  std::string directory;
  StorageType type = StorageType::kDisk;
  bool failed = false;
  // The reason of the failure, and its time in milliseconds since the epoch.
  std::string failure;
  std::uint64_t failed_at_millis = 0;
  // A probe has been running for so long that the disk is avoided for new replicas, or the disk is
  // not scanned yet.
  bool slow = false;
  // The blocks of the disk are known.
  bool scanned = true;
  std::uint64_t probe_millis = 0;
  std::uint64_t blocks = 0;
  // Bytes of data and checksum files.
  std::uint64_t used_bytes = 0;
  std::uint64_t capacity_bytes = 0;
  // Free space less the reserve. Capacity and remaining bytes are this disk's share of a file
  // system that several disks are on: see ShareOfSpace.
  std::uint64_t remaining_bytes = 0;
  DiskQueue::Load load;
  // See RecentErrors.
  double recent_errors = 0;
};

struct SpaceShare {
  std::uint64_t capacity_bytes = 0;
  std::uint64_t remaining_bytes = 0;
};

// The space that one of `sharers` disks on a file system reports, so that the sum over all of them
// is the space of the file system. Each reports an equal share of the total, and of the free space
// less the reserve. The capacity is never less than `used_bytes` plus the remaining bytes. For
// example, 4 disks on a file system of 100 GB report 25 GB each. Pure.
[[nodiscard]] SpaceShare ShareOfSpace(const Space& space, std::uint64_t reserved_bytes,
                                      std::uint64_t used_bytes, std::uint32_t sharers);

// Thread-safe once opened. A failed disk stays failed until the process is restarted.
class Disk {
 public:
  // Creates the directory if it is missing, locks it against other processes and reads its
  // identity. A new directory has an empty identity until Claim is called.
  [[nodiscard]] static Result<std::unique_ptr<Disk>> Open(FileSystem& files, std::string directory,
                                                          std::uint64_t reserved_bytes);
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  // Writes the identity, durably.
  [[nodiscard]] Status Claim(const format::Identity& identity);
  [[nodiscard]] const format::Identity& identity() const { return identity_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  // The files of this disk, behind its queue. Their errors are counted.
  [[nodiscard]] FileSystem& files() { return queued_; }
  // Not thread-safe: to be called before the first call.
  void LimitCalls(const DiskQueue::Options& options) { queue_.SetOptions(options); }
  // How long a call may wait for others.
  [[nodiscard]] std::chrono::milliseconds patience() const { return queue_.patience(); }

  [[nodiscard]] std::string BlockPath(std::string_view folder, std::uint64_t block_id) const;
  [[nodiscard]] std::string MetaPath(std::string_view folder, std::uint64_t block_id,
                                     std::uint64_t generation_stamp) const;
  // The folder of a finalized block. It is created if it is missing.
  [[nodiscard]] Result<std::string> FinalizedFolder(std::uint64_t block_id);
  [[nodiscard]] std::string Folder(std::string_view name) const;

  // How many disks share the file system of this one; at least 1. Not thread-safe: to be called
  // before the first GetStatus. CheckSpace does not depend on it.
  void SetSharers(std::uint32_t sharers) { sharers_ = sharers; }

  // Not thread-safe: to be called before the first GetStatus.
  void SetType(StorageType type) { type_ = type; }
  [[nodiscard]] StorageType type() const { return type_; }

  // kNoSpace if fewer than `bytes` may be written, judged by the real free space.
  [[nodiscard]] Status CheckSpace(std::uint64_t bytes);
  // Reads, writes and syncs a little in the directory, past the queue. An error means that the disk
  // has failed. A disk that hangs lets this wait.
  [[nodiscard]] Status Probe() const;
  // Probe by the one thread that watches this disk. GetStatus tells how long it has been running.
  [[nodiscard]] Status WatchedProbe();
  // From then on the disk is slow. Not thread-safe: to be called before the first probe.
  void SetSlowAfter(std::chrono::milliseconds time) { slow_after_ = time; }
  [[nodiscard]] bool slow() const { return !scanned_ || ProbeTime() > slow_after_; }
  // kBusy if the disk is slow: for a call that would begin a change, or take a thread of few.
  [[nodiscard]] Status CheckAnswers() const;
  // How long the watched probe has been running. 0 if none is running.
  [[nodiscard]] std::chrono::milliseconds ProbeTime() const;

  // The scan at the start. Its thread tells of each step that the disk has answered, so that a long
  // scan is told from a disk that hangs.
  void NoteScanStep();
  void EndScan();
  [[nodiscard]] bool scanned() const { return scanned_; }
  // The scan waits for the disk for longer than the disk may be slow.
  [[nodiscard]] bool scan_stalls() const { return ScanStepTime() > slow_after_; }
  // How long the current step of the scan has been taking. 0 if no scan is running.
  [[nodiscard]] std::chrono::milliseconds ScanStepTime() const;

  [[nodiscard]] bool failed() const { return failed_; }
  // True if the disk had not failed before this call.
  bool MarkFailed(const std::string& why);

  void AddUsed(std::uint64_t blocks, std::uint64_t bytes);
  void SubtractUsed(std::uint64_t blocks, std::uint64_t bytes);
  // Does not touch the disk.
  [[nodiscard]] DiskStatus GetStatus();

 private:
  [[nodiscard]] Status TryReadAndWrite() const;
  void ReadSpace();
  Disk(FileSystem& files, std::string directory, std::uint64_t reserved_bytes)
      : files_(files),
        directory_(std::move(directory)),
        reserved_bytes_(reserved_bytes),
        queue_(directory_),
        queued_(files, queue_, errors_) {}

  FileSystem& files_;
  const std::string directory_;
  const std::uint64_t reserved_bytes_;
  DiskQueue queue_;
  RecentErrors errors_;
  QueuedFileSystem queued_;
  std::uint32_t sharers_ = 1;
  StorageType type_ = StorageType::kDisk;
  format::Identity identity_;
  int lock_ = -1;
  std::atomic<bool> failed_ = false;
  std::atomic<std::uint64_t> blocks_ = 0;
  std::atomic<std::uint64_t> used_bytes_ = 0;
  // folders_[s]: the folder s of finalized blocks exists.
  std::atomic<bool> folders_[256] = {};
  std::chrono::milliseconds slow_after_ = std::chrono::seconds(10);
  // Of the steady clock. 0 if no watched probe is running.
  std::atomic<std::int64_t> probe_started_millis_ = 0;
  std::atomic<bool> scanned_ = false;
  // Of the steady clock. 0 if no scan is running.
  std::atomic<std::int64_t> scan_step_millis_ = 0;
  mutable std::mutex mutex_;
  std::optional<Space> space_;
  std::string failure_;
  std::uint64_t failed_at_millis_ = 0;
};

}  // namespace ebb
