#include "disk/recent_errors.h"

#include <algorithm>
#include <cmath>

namespace ebb {

double RecentErrors::Left(Clock::time_point now) const {
  // Two threads may count in another order than they have read the clock.
  const std::chrono::duration<double> age = std::max(now, counted_at_) - counted_at_;
  return count_ * std::exp2(-(age / kHalfLife));
}

void RecentErrors::Add(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  count_ = std::min(Left(now) + 1, kMostErrors);
  counted_at_ = std::max(now, counted_at_);
}

double RecentErrors::Count(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  return Left(now);
}

}  // namespace ebb
