#include "client/text.h"

#include <cstddef>
#include <cstdint>

namespace ebb::client {

namespace {

bool IsCharacter(std::uint32_t value, std::size_t bytes) {
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool half_of_pair = value >= 0xD800 && value < 0xE000;
  return value >= kLeast[bytes] && value <= 0x10FFFF && !half_of_pair;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    if (first >= 0x80 && (first < 0xC0 || first >= 0xF8)) return false;
    const std::size_t bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (text.size() < bytes) return false;
    std::uint32_t value = bytes == 1 ? first : first & (0x7FU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
      const auto next = static_cast<unsigned char>(text[i]);
      if ((next & 0xC0) != 0x80) return false;
      value = value << 6 | (next & 0x3FU);
    }
    if (!IsCharacter(value, bytes)) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace ebb::client
