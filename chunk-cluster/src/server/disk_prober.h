// Probes the disks of the store again and again. Each disk has a thread of its own, so that a disk
// that hangs delays neither the other disks nor the heartbeat.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "disk/block_store.h"

namespace ebb::server {

// Thread-safe. The store outlives the prober.
class DiskProber {
 public:
  DiskProber(BlockStore& store, std::chrono::milliseconds interval)
      : store_(store), interval_(interval) {}
  // Stops.
  ~DiskProber();
  DiskProber(const DiskProber&) = delete;
  DiskProber& operator=(const DiskProber&) = delete;

  void Start();
  // Waits for the probes that are running.
  void Stop();

 private:
  void Run(std::size_t disk);

  BlockStore& store_;
  const std::chrono::milliseconds interval_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ebb::server
