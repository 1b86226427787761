// The scrub: reads every finalized block of every disk once in a period, compares it with its
// checksums and its recorded length, and has the namenode told of what is bad.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "disk/block_store.h"

namespace ebb::server {

struct ScrubOptions {
  // 0: no scrub.
  std::chrono::milliseconds period = std::chrono::hours(3 * 7 * 24);
  // Per disk, and at least 1.
  std::uint64_t max_bytes_per_second = std::uint64_t{16} << 20;
  // How much of the period a pass is spread over; 0 reads as fast as it may, and then rests.
  double share = 0.9;
  // How often the cursor is written; what was read since is read again after a crash.
  std::chrono::milliseconds save_interval = std::chrono::seconds(10);
};

// Of one disk. The counts are those since the start of the process.
struct ScrubStatus {
  std::string storage_uuid;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  // Blocks whose bytes contradict their checksums or cannot be read.
  std::uint64_t corrupt = 0;
  // Blocks whose files are gone, cannot be opened or have another length.
  std::uint64_t missing = 0;
  // Milliseconds since the epoch; 0 for none. A pass is under way if it began after the last ended.
  std::uint64_t pass_started_millis = 0;
  std::uint64_t pass_ended_millis = 0;
  // Of the pass under way.
  std::uint64_t pass_bytes = 0;
  std::uint64_t remaining_bytes = 0;
};

// One thread per disk, of the lowest priority for processor and disk. Thread-safe.
class Scrubber {
 public:
  // Both outlive it.
  Scrubber(BlockStore& store, FileSystem& files, ScrubOptions options);
  // Stops.
  ~Scrubber();
  Scrubber(const Scrubber&) = delete;
  Scrubber& operator=(const Scrubber&) = delete;

  // Once, after the store was attached.
  void Start();
  // Writes the cursors.
  void Stop();

  // Empty before the start, and if there is no scrub.
  [[nodiscard]] std::vector<ScrubStatus> Status() const;

 private:
  class DiskScrub;

  BlockStore& store_;
  FileSystem& files_;
  const ScrubOptions options_;
  mutable std::mutex mutex_;
  bool stopped_ = false;
  std::vector<std::unique_ptr<DiskScrub>> disks_;
};

}  // namespace ebb::server
