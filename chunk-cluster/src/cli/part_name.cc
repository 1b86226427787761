#include "cli/part_name.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

// FNV-1a. The same in each process, since a later command may look for the part.
std::uint32_t HashOf(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

}  // namespace

std::string PartName(const std::string& name, const std::string& mark) {
  std::string suffix = fmt::format(".{}._COPYING_", mark);
  if (name.size() + suffix.size() <= kMaxNameBytes) return name + suffix;
  suffix = fmt::format("~{:08x}{}", HashOf(name), suffix);
  const std::size_t room = kMaxNameBytes - std::min(kMaxNameBytes, suffix.size());
  return fmt::format("{}{}", Beginning(name, room), suffix);
}

}  // namespace ebb::cli
