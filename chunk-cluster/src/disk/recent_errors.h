// How many calls of one disk have failed lately.
#pragma once

#include <chrono>
#include <mutex>

namespace ebb {

// Counts errors. The count halves every ten minutes and is at most 1,000, so that it is below a
// half two hours after the last error, however many errors there were. Thread-safe.
class RecentErrors {
 public:
  using Clock = std::chrono::steady_clock;

  void Add(Clock::time_point now = Clock::now());
  [[nodiscard]] double Count(Clock::time_point now = Clock::now()) const;

 private:
  static constexpr std::chrono::duration<double> kHalfLife = std::chrono::minutes(10);
  static constexpr double kMostErrors = 1000;

  // What is left of the count. The caller holds mutex_.
  [[nodiscard]] double Left(Clock::time_point now) const;

  mutable std::mutex mutex_;
  double count_ = 0;
  Clock::time_point counted_at_ = {};
};

}  // namespace ebb
