#include "client/glob_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace ebb::client {

namespace {

constexpr std::size_t kMostPatterns = 10'000;

// The code point at the front of `text`, which is cut off. A byte that is no UTF-8 counts as one.
std::uint32_t TakeCharacter(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  std::uint32_t value = length == 1 ? first : first & (0xFF >> (length + 1));
  for (std::size_t i = 1; i < length && i < text.size(); ++i) {
    value = value << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
  }
  text.remove_prefix(std::min(length, text.size()));
  return value;
}

std::uint32_t TakeMaybeQuoted(std::string_view& text) {
  if (text[0] == '\\' && text.size() > 1) text.remove_prefix(1);
  return TakeCharacter(text);
}

// Matches one character against the class at the front of `pattern`, behind its '['.
bool MatchesClass(std::string_view& pattern, std::uint32_t character) {
  const bool inverted = pattern.starts_with('^') || pattern.starts_with('!');
  if (inverted) pattern.remove_prefix(1);
  bool found = false;
  for (bool first = true; !pattern.empty() && (first || pattern[0] != ']'); first = false) {
    const std::uint32_t low = TakeMaybeQuoted(pattern);
    std::uint32_t high = low;
    if (pattern.size() > 1 && pattern[0] == '-' && pattern[1] != ']') {
      pattern.remove_prefix(1);
      high = TakeMaybeQuoted(pattern);
    }
    found = found || (low <= character && character <= high);
  }
  if (pattern.empty()) return false;
  pattern.remove_prefix(1);
  return found != inverted;
}

// The end of the brace that opens at `open`, or npos.
std::size_t ClosingBrace(const std::string& pattern, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      ++i;
    } else if (pattern[i] == '{') {
      ++depth;
    } else if (pattern[i] == '}' && --depth == 0) {
      return i;
    }
  }
  return std::string::npos;
}

std::vector<std::string> Alternatives(const std::string& inside) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == ',' && depth == 0) {
      parts.emplace_back();
      continue;
    }
    if (inside[i] == '{') ++depth;
    if (inside[i] == '}') --depth;
    if (inside[i] == '\\' && i + 1 < inside.size()) parts.back() += inside[i++];
    parts.back() += inside[i];
  }
  return parts;
}

std::size_t OpeningBrace(const std::string& pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      ++i;
    } else if (pattern[i] == '{') {
      return i;
    }
  }
  return std::string::npos;
}

}  // namespace

bool IsPattern(std::string_view text) { return text.find_first_of("*?[{\\") != text.npos; }

bool HasWildcard(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (std::string_view("*?[{").contains(text[i])) {
      return true;
    }
  }
  return false;
}

Result<std::vector<std::string>> ExpandBraces(const std::string& pattern) {
  std::vector<std::string> done;
  std::vector<std::string> open = {pattern};
  while (!open.empty()) {
    const std::string next = std::move(open.back());
    open.pop_back();
    const auto begin = OpeningBrace(next);
    if (begin == std::string::npos) {
      done.push_back(next);
      continue;
    }
    const auto end = ClosingBrace(next, begin);
    if (end == std::string::npos || done.size() + open.size() > kMostPatterns) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("the pattern '{}' {}", pattern,
                              end == std::string::npos ? "has a '{' without its '}'"
                                                       : "stands for too many patterns"));
    }
    const auto parts = Alternatives(next.substr(begin + 1, end - begin - 1));
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      open.push_back(next.substr(0, begin) + *part + next.substr(end + 1));
    }
  }
  return done;
}

bool Matches(std::string_view pattern, std::string_view name) {
  // Where to try again: behind the last '*', with one character of the name more.
  std::string_view star_pattern;
  std::string_view star_name;
  bool star = false;
  for (;;) {
    if (pattern.starts_with('*')) {
      pattern.remove_prefix(1);
      star_pattern = pattern;
      star_name = name;
      star = true;
      continue;
    }
    if (pattern.empty() && name.empty()) return true;
    bool good = !pattern.empty() && !name.empty();
    if (good) {
      const std::uint32_t character = TakeCharacter(name);
      const char first = pattern[0];
      if (first == '?') {
        pattern.remove_prefix(1);
      } else if (first == '[') {
        pattern.remove_prefix(1);
        good = MatchesClass(pattern, character);
      } else {
        good = TakeMaybeQuoted(pattern) == character;
      }
    }
    if (good) continue;
    if (!star || star_name.empty()) return false;
    (void)TakeCharacter(star_name);
    pattern = star_pattern;
    name = star_name;
  }
}

std::string Unquoted(std::string_view pattern) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    text += pattern[i];
  }
  return text;
}

}  // namespace ebb::client
