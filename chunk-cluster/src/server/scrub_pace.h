// How fast a disk is scrubbed. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ebb::server {

struct ScrubPace {
  // Every block is verified once in each period.
  std::chrono::milliseconds period;
  // The most that is read of one disk.
  std::uint64_t max_bytes_per_second;

  // A pass is spread over so much of its period: the rest is for what it cannot foresee. 0 makes
  // haste.
  double share = 0.9;

  // Bytes per second to be read on the average, so that what is left is done in time; never 0.
  [[nodiscard]] double Average(std::uint64_t remaining_bytes,
                               std::chrono::milliseconds since_start) const {
    const double cap = static_cast<double>(max_bytes_per_second);
    const double left_millis = share * static_cast<double>(period.count()) -
                               static_cast<double>(since_start.count());
    if (left_millis <= 0) return cap;
    return std::clamp(static_cast<double>(remaining_bytes) * 1000 / left_millis, 1.0, cap);
  }

  // Bytes per second inside a block: not so slow that the file of a removed block is kept open,
  // and with it its space, for hours.
  [[nodiscard]] double InsideBlock(double average) const {
    constexpr double kLeast = 4 << 20;
    return std::min(static_cast<double>(max_bytes_per_second), std::max(average, kLeast));
  }

  // What a block weighs in all this: opening it costs something, too.
  [[nodiscard]] static std::uint64_t CostOf(std::uint64_t length_bytes) {
    return length_bytes + 4096;
  }
};

}  // namespace ebb::server
