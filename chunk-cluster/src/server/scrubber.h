// The block scrub (HDFS: VolumeScanner). It reads every finalized block of every disk once in a
// period, verifies its checksums and its recorded length, and reports bad blocks to the namenode.
// The parity scrub, which verifies equations between blocks, is in the control plane (Java).
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
  // The duration of a pass. 0 switches the scrub off.
  std::chrono::milliseconds period = std::chrono::hours(3 * 7 * 24);
  // For each disk. At least 1.
  std::uint64_t max_bytes_per_second = std::uint64_t{16} << 20;
  // The part of the period over which the reads of a pass are spread. With 0 a pass reads at the
  // highest rate and then pauses.
  double share = 0.9;
  // How often the cursor is written. After a crash, blocks that were read since the last write are
  // read again.
  std::chrono::milliseconds save_interval = std::chrono::seconds(10);
};

// The scrub of one disk. Counts start with the process.
struct ScrubStatus {
  std::string storage_uuid;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  // Blocks whose bytes contradict their checksums or cannot be read.
  std::uint64_t corrupt = 0;
  // Blocks whose files are gone, cannot be opened or have another length.
  std::uint64_t missing = 0;
  // Milliseconds since the epoch, or 0. A pass is under way if the start is later than the end.
  std::uint64_t pass_started_millis = 0;
  std::uint64_t pass_ended_millis = 0;
  // Bytes of the current pass: read, and still to be read.
  std::uint64_t pass_bytes = 0;
  std::uint64_t remaining_bytes = 0;
};

// One thread for each disk, with the lowest priority for processor and disk. Thread-safe.
class Scrubber {
 public:
  // `store` and `files` outlive the scrubber.
  Scrubber(BlockStore& store, FileSystem& files, ScrubOptions options);
  // Stops.
  ~Scrubber();
  Scrubber(const Scrubber&) = delete;
  Scrubber& operator=(const Scrubber&) = delete;

  // To be called once, after the store is attached.
  void Start();
  // Ends the threads. They write their cursors.
  void Stop();

  // Empty before Start, and if the scrub is switched off.
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
