#include "client/mode_change.h"

#include <string_view>

namespace ebb::client {

std::optional<ModeChange> ModeChange::Parse(const std::string& text) {
  ModeChange change;
  if (!text.empty() && text.find_first_not_of("01234567") == std::string::npos) {
    const bool long_enough = text.size() == 3 || (text.size() == 4 && text[0] <= '1');
    if (!long_enough) return std::nullopt;
    change.octal_ = static_cast<std::uint32_t>(std::stoul(text, nullptr, 8));
    return change;
  }
  std::size_t at = 0;
  for (;;) {
    Step step;
    for (; at < text.size() && std::string_view("ugoa").contains(text[at]); ++at) {
      step.who |= text[at] == 'u' ? 0700 : text[at] == 'g' ? 0070 : text[at] == 'o' ? 0007 : 0777;
    }
    if (step.who == 0) step.who = 0777;
    if (at == text.size() || !std::string_view("+-=").contains(text[at])) return std::nullopt;
    step.operation = text[at++];
    const std::size_t first = at;
    for (; at < text.size() && std::string_view("rwxXt").contains(text[at]); ++at) {
      switch (text[at]) {
        case 'r':
          step.rights |= 0444;
          break;
        case 'w':
          step.rights |= 0222;
          break;
        case 'x':
          step.rights |= 0111;
          break;
        case 'X':
          step.maybe_run = true;
          break;
        default:
          step.sticky = true;
          break;
      }
    }
    if (at == first) return std::nullopt;
    change.steps_.push_back(step);
    if (at == text.size()) return change;
    if (text[at++] != ',') return std::nullopt;
  }
}

std::uint32_t ModeChange::Apply(std::uint32_t mode, bool directory) const {
  if (octal_) return *octal_;
  for (const auto& step : steps_) {
    std::uint32_t rights = step.rights;
    if (step.maybe_run && (directory || (mode & 0111) != 0)) rights |= 0111;
    rights &= step.who;
    // As for HDFS, the sticky bit belongs to the rights of others.
    const std::uint32_t who = step.who | ((step.who & 0007) != 0 ? 01000 : 0);
    if (step.sticky) rights |= 01000 & who;
    if (step.operation == '+') {
      mode |= rights;
    } else if (step.operation == '-') {
      mode &= ~rights;
    } else {
      mode = (mode & ~who) | rights;
    }
  }
  return mode;
}

}  // namespace ebb::client
