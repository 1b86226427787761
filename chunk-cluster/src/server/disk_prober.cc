#include "server/disk_prober.h"

namespace ebb::server {

DiskProber::~DiskProber() { Stop(); }

void DiskProber::Start() {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  for (std::size_t disk = 0; disk < store_.disk_count(); ++disk) {
    threads_.emplace_back([this, disk] { Run(disk); });
  }
}

void DiskProber::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

// Ends when the disk has failed: a failed disk stays failed.
void DiskProber::Run(std::size_t disk) {
  while (store_.ProbeDisk(disk)) {
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, interval_, [this] { return stopping_; })) return;
  }
}

}  // namespace ebb::server
