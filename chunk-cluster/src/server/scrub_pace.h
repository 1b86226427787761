// The rate at which the block scrub reads a disk. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ebb::server {

struct ScrubPace {
  // Every block is verified once in each period.
  std::chrono::milliseconds period;
  // The highest rate for one disk.
  std::uint64_t max_bytes_per_second;

  // The part of the period over which a pass is spread. The rest is a margin for blocks that are
  // added meanwhile. 0 means the highest rate.
  double share = 0.9;

  // The average rate, in bytes per second, that reads the remaining bytes in time. Never 0.
  [[nodiscard]] double Average(std::uint64_t remaining_bytes,
                               std::chrono::milliseconds since_start) const {
    const double cap = static_cast<double>(max_bytes_per_second);
    const double left_millis =
        share * static_cast<double>(period.count()) - static_cast<double>(since_start.count());
    if (left_millis <= 0) return cap;
    return std::clamp(static_cast<double>(remaining_bytes) * 1000 / left_millis, 1.0, cap);
  }

  // The rate inside a block, in bytes per second. It has a lower limit: an open file keeps the
  // space of a removed block, so that no file may be open for hours.
  [[nodiscard]] double InsideBlock(double average) const {
    constexpr double kLeast = 4 << 20;
    return std::min(static_cast<double>(max_bytes_per_second), std::max(average, kLeast));
  }

  // The cost of a block in bytes. Opening the block counts as 4096 bytes.
  [[nodiscard]] static std::uint64_t CostOf(std::uint64_t length_bytes) {
    return length_bytes + 4096;
  }
};

}  // namespace ebb::server
