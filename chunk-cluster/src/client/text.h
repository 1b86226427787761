// Small helpers for text.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace ebb::client {

// Without blanks and line ends around it.
[[nodiscard]] inline std::string Stripped(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1));
}

// Letters beyond ASCII keep their case.
[[nodiscard]] inline std::string LowerCase(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Whether the bytes are UTF-8: no byte is left over, and no character is written too long, is half
// of a pair of UTF-16, or lies beyond the last one.
[[nodiscard]] bool IsUtf8(std::string_view text);

}  // namespace ebb::client
