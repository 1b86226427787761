// How long a peer has owed an operation.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

namespace ebb::transfer {

// Since when a connection waits for its peer to send an operation. Thread-safe.
class Waiting {
 public:
  using Clock = std::chrono::steady_clock;

  void Begin() { since_ = Clock::now().time_since_epoch().count(); }
  void End() { since_ = 0; }
  // Empty while an operation runs.
  [[nodiscard]] std::optional<Clock::time_point> since() const {
    const Clock::rep ticks = since_;
    if (ticks == 0) return std::nullopt;
    return Clock::time_point(Clock::duration(ticks));
  }

 private:
  std::atomic<Clock::rep> since_ = Clock::now().time_since_epoch().count();
};

}  // namespace ebb::transfer
