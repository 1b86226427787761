// Numbers and times as the shell shows them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ebb::cli {

// With `human`: in powers of 1024 with one digit after the point, such as "1.5 K".
[[nodiscard]] std::string SizeText(std::int64_t bytes, bool human);
// "yyyy-MM-dd HH:mm" of this place.
[[nodiscard]] std::string MinuteText(std::int64_t millis);
// "yyyy-MM-dd HH:mm:ss" in UTC.
[[nodiscard]] std::string UtcText(std::int64_t millis);

// Rows whose columns are as wide as their widest cell, two blanks apart. The last column is not
// filled up. `right`: columns, from 0, that stand at the right.
[[nodiscard]] std::string TableText(const std::vector<std::vector<std::string>>& rows,
                                    const std::vector<std::size_t>& right = {});

}  // namespace ebb::cli
