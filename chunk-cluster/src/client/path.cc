#include "client/path.h"

#include <sstream>

namespace ebb::client {

std::vector<std::string> PartsOf(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream all(path);
  for (std::string part; std::getline(all, part, '/');) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else {
      parts.push_back(part);
    }
  }
  return parts;
}

std::string PathOf(const std::vector<std::string>& parts) {
  std::string path;
  for (const auto& part : parts) path += "/" + part;
  return path.empty() ? "/" : path;
}

std::string Below(const std::string& directory, const std::string& name) {
  return directory.ends_with('/') ? directory + name : directory + "/" + name;
}

}  // namespace ebb::client
