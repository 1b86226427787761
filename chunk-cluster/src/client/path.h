// Paths of a file system: their parts, and back.
#pragma once

#include <string>
#include <vector>

namespace ebb::client {

// The names of a path. Empty names and "." vanish, and ".." takes away the name before it.
[[nodiscard]] std::vector<std::string> PartsOf(const std::string& path);
// The absolute path of these names.
[[nodiscard]] std::string PathOf(const std::vector<std::string>& parts);
// The path of a name in a directory.
[[nodiscard]] std::string Below(const std::string& directory, const std::string& name);

}  // namespace ebb::client
