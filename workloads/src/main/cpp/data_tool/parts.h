// The parts of a request, which threads share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "common/error.h"

namespace ebb::data_tool {

struct Timing {
  // Of all parts together.
  std::uint64_t micros = 0;
  // Of the median part.
  std::uint64_t median_micros = 0;
};

// Runs the parts 0 to count - 1: thread t of `threads` runs every threads-th one from t on. `count`
// and `threads` are at least 1. A thread ends with its first error. When all threads have ended,
// the first of their errors is returned.
[[nodiscard]] Result<Timing> RunParts(
    std::size_t count, std::size_t threads,
    const std::function<Status(std::size_t part, std::size_t thread)>& run);

}  // namespace ebb::data_tool
