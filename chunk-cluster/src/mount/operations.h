// The functions that libfuse calls.
#pragma once

#include "mount/fuse.h"
#include "mount/mounted_files.h"

namespace ebb::mount {

// What the session wants to be told at its start.
struct SessionData {
  MountedFiles& files;
  const MountOptions& options;
};

// Their user data is a SessionData.
[[nodiscard]] const fuse_lowlevel_ops& Operations();

}  // namespace ebb::mount
