#include "cli/part_name.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace ebb::cli {

namespace {

constexpr std::size_t kMaxNameBytes = 255;

// The first bytes of a UTF-8 text, as many whole letters as fit.
std::string_view Beginning(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  while (most_bytes > 0 && (static_cast<unsigned char>(text[most_bytes]) & 0xC0) == 0x80) {
    --most_bytes;
  }
  return text.substr(0, most_bytes);
}

}  // namespace

std::string PartName(const std::string& name, const std::string& mark) {
  const std::string suffix = fmt::format(".{}._COPYING_", mark);
  const std::size_t room = kMaxNameBytes - std::min(kMaxNameBytes, suffix.size());
  return fmt::format("{}{}", Beginning(name, room), suffix);
}

}  // namespace ebb::cli
