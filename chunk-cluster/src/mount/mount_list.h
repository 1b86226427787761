// The mounts of this machine, without a question to any of the file systems.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/error.h"

namespace ebb::mount {

// The type that /proc/self/mountinfo shows.
inline constexpr char kFileSystemType[] = "fuse.ebbfs";

struct MountPoint {
  std::string type;
  // "MAJOR:MINOR".
  std::string device;
};

// The last mount at this absolute path in the text of a mountinfo; nothing if there is none.
[[nodiscard]] std::optional<MountPoint> FindMount(std::string_view mountinfo,
                                                  const std::string& path);
// The same in that of this process.
[[nodiscard]] std::optional<MountPoint> FindMount(const std::string& path);

// The absolute path of a directory. The directory may be a dead mount, so only the directories
// above it are looked up.
[[nodiscard]] Result<std::string> AbsolutePath(const std::string& directory);

}  // namespace ebb::mount
