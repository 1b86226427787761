#include "mount/mount_list.h"

#include <fmt/format.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace ebb::mount {

namespace {

// A blank is \040 in the file, and so on.
std::string Unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 3 < text.size()) {
      plain += static_cast<char>(std::stoi(text.substr(at + 1, 3), nullptr, 8));
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

}  // namespace

std::optional<MountPoint> FindMount(std::string_view mountinfo, const std::string& path) {
  std::optional<MountPoint> found;
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    // ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [FIELDS] - TYPE SOURCE OPTIONS
    std::istringstream words(line);
    std::string id;
    std::string parent;
    std::string device;
    std::string root;
    std::string point;
    words >> id >> parent >> device >> root >> point;
    const auto dash = line.find(" - ");
    if (!words || dash == std::string::npos || Unescaped(point) != path) continue;
    const auto type = line.substr(dash + 3, line.find(' ', dash + 3) - dash - 3);
    found = MountPoint{.type = type, .device = device};
  }
  return found;
}

std::optional<MountPoint> FindMount(const std::string& path) {
  std::ifstream file("/proc/self/mountinfo", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return FindMount(text.str(), path);
}

Result<std::string> AbsolutePath(const std::string& directory) {
  std::string path = directory;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const auto slash = path.rfind('/');
  const std::string name = path.substr(slash + 1);
  std::string above = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  // The name of such a directory is that of its link or of its parent: the whole is asked for.
  const bool named = !name.empty() && name != "." && name != "..";
  if (!named) above = path;
  char resolved[PATH_MAX];
  if (realpath(above.c_str(), resolved) == nullptr) {
    return Fail(ErrorCode::kNotFound, fmt::format("{}: {}", above, std::strerror(errno)));
  }
  std::string absolute = resolved;
  if (!named) return absolute;
  if (!absolute.ends_with('/')) absolute += '/';
  return absolute + name;
}

}  // namespace ebb::mount
