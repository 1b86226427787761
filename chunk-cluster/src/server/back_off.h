// How long to wait between attempts to reach the namenode.
#pragma once

#include <algorithm>
#include <chrono>

namespace ebb::server {

// 250 ms, doubled by each attempt, at most 2 s. One thread.
class BackOff {
 public:
  // The time to wait before the next attempt.
  [[nodiscard]] std::chrono::milliseconds Next() {
    const auto now = next_;
    next_ = std::min(next_ * 2, kLongest);
    return now;
  }
  // To be called after a success.
  void Reset() { next_ = kFirst; }

 private:
  static constexpr std::chrono::milliseconds kFirst{250};
  static constexpr std::chrono::milliseconds kLongest{2000};
  std::chrono::milliseconds next_ = kFirst;
};

}  // namespace ebb::server
