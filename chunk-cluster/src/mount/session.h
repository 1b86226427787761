// A mount from its beginning to its end.
#pragma once

#include <functional>
#include <string>

#include "common/error.h"
#include "mount/options.h"

namespace ebb::mount {

// What can be known without the cluster: whether the directory can be mounted on.
[[nodiscard]] Status CheckMountable(MountOptions& options);

// Serves until the mount is taken away, or until SIGTERM or SIGINT, and ends the process then: with
// 0 if all files that were written are whole, else with 1. Threads that wait for a server are not
// waited for. `serves` is called once the mount can be used. Returns only if it cannot, with the
// reason. Called once in a process, before it has other threads.
[[nodiscard]] Error Serve(const MountOptions& options, const std::function<void()>& serves);

// Where a mount in the background logs if nothing else is said.
[[nodiscard]] std::string DefaultLog();

}  // namespace ebb::mount
