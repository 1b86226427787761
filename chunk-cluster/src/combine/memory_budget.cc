#include "combine/memory_budget.h"

#include <fmt/format.h>

namespace ebb {

Result<MemoryBudget::Lease> MemoryBudget::Acquire(std::size_t bytes, Timeout timeout) {
  if (bytes > limit_bytes_) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} bytes of memory are needed, but the limit is {}; raise the limit",
                            bytes, limit_bytes_));
  }
  std::unique_lock lock(mutex_);
  const auto place = waiting_.insert(waiting_.end(), bytes);
  const bool served = changed_.wait_for(lock, timeout, [&] {
    return closed_ || (place == waiting_.begin() && held_ + bytes <= limit_bytes_);
  });
  waiting_.erase(place);
  changed_.notify_all();  // wakes the next claim in line
  if (closed_) return Fail(ErrorCode::kShutdown, "the chunk server is stopping");
  if (!served) {
    return Fail(ErrorCode::kBusy,
                fmt::format("{} bytes of memory did not become free within {} ms: {} of {} are "
                            "held; try again later or at another server",
                            bytes, timeout.count(), held_, limit_bytes_));
  }
  held_ += bytes;
  return Lease(this, bytes);
}

void MemoryBudget::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

std::size_t MemoryBudget::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

void MemoryBudget::Release(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  held_ -= bytes;
  changed_.notify_all();
}

}  // namespace ebb
