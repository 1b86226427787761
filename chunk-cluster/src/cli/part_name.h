// The name of a part: a file that a copy writes before the copy gives it its own name.
#pragma once

#include <string>

namespace ebb::cli {

// `NAME.MARK._COPYING_`. Namenodes and file systems of Linux take no name of more than 255 bytes,
// unless they are configured otherwise. If the whole would have more, the name is cut between two
// letters, and `~HASH` follows it, so that the parts of two names with one beginning differ.
// Programs such as Spark pass over names with this end.
[[nodiscard]] std::string PartName(const std::string& name, const std::string& mark);

}  // namespace ebb::cli
