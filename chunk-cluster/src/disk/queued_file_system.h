// The file system as one disk sees it: each call goes through the queue of the disk, and its error
// is counted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "disk/disk_queue.h"
#include "disk/file_system.h"
#include "disk/recent_errors.h"

namespace ebb {

// A call that begins an operation, or that reads, writes or syncs bytes, fails with kBusy if the
// disk does not keep up. A call that changes names or lengths never fails for that: such a step is
// one of several that belong together. A file has more of these: see Unrefused. An error of the
// disk itself counts (kIo): not that it is full, or that a file is missing. Thread-safe. The queue,
// the errors and the other file system outlive it and its files.
class QueuedFileSystem final : public FileSystem {
 public:
  QueuedFileSystem(FileSystem& files, DiskQueue& queue, RecentErrors& errors)
      : files_(files), queue_(queue), errors_(errors) {}

  Result<std::unique_ptr<File>> OpenForReading(const std::string& path) override;
  Result<std::unique_ptr<File>> OpenForWriting(const std::string& path) override;
  Result<std::unique_ptr<File>> Create(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status SyncDirectory(const std::string& path) override;
  Status MakeDirectories(const std::string& path) override;
  Result<std::vector<DirectoryEntry>> List(const std::string& path) override;
  Result<std::uint64_t> FileSize(const std::string& path) override;
  Result<Space> GetSpace(const std::string& path) override;
  Result<std::uint64_t> FileSystemId(const std::string& path) override;

 private:
  [[nodiscard]] Result<std::unique_ptr<File>> Queued(Result<std::unique_ptr<File>> file);

  FileSystem& files_;
  DiskQueue& queue_;
  RecentErrors& errors_;
};

}  // namespace ebb
