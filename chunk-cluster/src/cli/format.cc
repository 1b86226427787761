#include "cli/format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace ebb::cli {

namespace {

constexpr std::string_view kUnits = "KMGTPE";

std::string TimeText(std::int64_t millis, const char* format, bool utc) {
  const auto seconds =
      static_cast<std::time_t>(millis >= 0 ? millis / 1000 : (millis - 999) / 1000);
  std::tm parts = {};
  if (utc) {
    gmtime_r(&seconds, &parts);
  } else {
    localtime_r(&seconds, &parts);
  }
  std::array<char, 64> text = {};
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

}  // namespace

std::string SizeText(std::int64_t bytes, bool human) {
  if (!human || (bytes < 1024 && bytes > -1024)) return std::to_string(bytes);
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && (std::abs(bytes) >> (10 * (unit + 2))) > 0) ++unit;
  for (;; ++unit) {
    const auto one = static_cast<double>(std::int64_t{1} << (10 * (unit + 1)));
    const bool whole = bytes % (std::int64_t{1} << (10 * (unit + 1))) == 0;
    const double value = static_cast<double>(bytes) / one;
    const std::string text = whole ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
    if (!text.starts_with("1024") || unit + 1 == kUnits.size()) {
      return fmt::format("{} {}", text, kUnits[unit]);
    }
  }
}

std::string MinuteText(std::int64_t millis) { return TimeText(millis, "%Y-%m-%d %H:%M", false); }

std::string UtcText(std::int64_t millis) { return TimeText(millis, "%Y-%m-%d %H:%M:%S", true); }

std::string TableText(const std::vector<std::vector<std::string>>& rows,
                      const std::vector<std::size_t>& right) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool at_right = std::ranges::find(right, i) != right.end();
      if (i > 0) text += "  ";
      if (at_right) {
        text += fmt::format("{:>{}}", row[i], widths[i]);
      } else if (i + 1 == row.size()) {
        text += row[i];
      } else {
        text += fmt::format("{:<{}}", row[i], widths[i]);
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace ebb::cli
