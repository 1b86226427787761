// Patterns for names, as HDFS's shell knows them: ? * [a-c] [^a] {x,y} and \ before a character
// that stands for itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace ebb::client {

// True if the text has a character of patterns.
[[nodiscard]] bool IsPattern(std::string_view text);

// True if it has one that is not quoted.
[[nodiscard]] bool HasWildcard(std::string_view text);

// The patterns without {} that the pattern stands for. kInvalid if a '{' is not closed, or if there
// are more than 10,000.
[[nodiscard]] Result<std::vector<std::string>> ExpandBraces(const std::string& pattern);

// Whether a name matches a pattern without {}. A '[' that is not closed matches nothing.
[[nodiscard]] bool Matches(std::string_view pattern, std::string_view name);

// The text without the backslashes that quote characters.
[[nodiscard]] std::string Unquoted(std::string_view pattern);

}  // namespace ebb::client
