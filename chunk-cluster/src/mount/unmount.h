// Takes a mount away.
#pragma once

#include <string>

#include "common/error.h"
#include "mount/options.h"

namespace ebb::mount {

// 'ebb umount': also of a mount whose process is gone. The error says what is in the way.
[[nodiscard]] Status Unmount(const UnmountOptions& options);

// Takes the mount at an absolute path away: root does so itself, others by fusermount3.
[[nodiscard]] Status UnmountPath(const std::string& path, bool lazy);

// An error that names the package, if this user needs fusermount3 and it is missing.
[[nodiscard]] Status CheckHelper();

}  // namespace ebb::mount
