// The name of a part: a file that a copy writes before the copy gives it its own name.
#pragma once

#include <string>

namespace ebb::cli {

// `NAME.MARK._COPYING_`. The name is cut between two letters, if the whole would have more than 255
// bytes: neither namenodes nor file systems of Linux take longer names, unless they are configured
// otherwise. Programs such as Spark pass over names with this end.
[[nodiscard]] std::string PartName(const std::string& name, const std::string& mark);

}  // namespace ebb::cli
