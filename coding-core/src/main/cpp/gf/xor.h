// XOR of byte arrays at memory speed. Thread-safe, any length and alignment.
#pragma once

#include <cstddef>
#include <span>

namespace ebb::gf {

// target[i] = XOR over s of sources[s][i]; zeros if there is no source. The target overlaps
// no source, unless it is exactly one of them.
void XorInto(std::byte* target, std::span<const std::byte* const> sources, std::size_t length);

}  // namespace ebb::gf
