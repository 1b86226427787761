// What one allocation may take while a target parses an input, whatever lengths the input
// announces.
#pragma once

#include <cstddef>

namespace ebb::fuzz {

// Above every fixed buffer of the parsers, and far below every length that a message may announce.
inline constexpr std::size_t kMaxAllocationBytes = std::size_t{1} << 20;

}  // namespace ebb::fuzz
