#include "mount/unmount.h"

#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "mount/mount_list.h"

namespace ebb::mount {

namespace {

constexpr char kHelper[] = "/usr/bin/fusermount3";
constexpr auto kLookInterval = std::chrono::milliseconds(10);
constexpr int kMostLooks = 100;

std::unexpected<Error> Busy(const std::string& path) {
  return Fail(ErrorCode::kBusy,
              fmt::format("{} is in use: end the programs that use it ('fuser -m {}' lists them), "
                          "or add --lazy",
                          path, path));
}

Status RunHelper(const std::string& path, bool lazy) {
  EBB_TRY(CheckHelper());
  const pid_t child = fork();
  if (child < 0) {
    return Fail(ErrorCode::kIo,
                fmt::format("no process for fusermount3: {}", std::strerror(errno)));
  }
  if (child == 0) {
    execl(kHelper, kHelper, "-u", lazy ? "-qz" : "-q", "--", path.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Busy(path);
}

// Whether the process of the mount is gone: the kernel says so at once, while a live one may wait
// for its cluster. Another process asks, which can be left alone.
bool IsDead(const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    struct stat ignored = {};
    _exit(stat(path.c_str(), &ignored) != 0 && errno == ENOTCONN ? 1 : 0);
  }
  for (int looks = 0; child > 0 && looks < kMostLooks; ++looks) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      return WIFEXITED(status) && WEXITSTATUS(status) == 1;
    }
    std::this_thread::sleep_for(kLookInterval);
  }
  return false;
}

}  // namespace

Status CheckHelper() {
  if (geteuid() == 0 || access(kHelper, X_OK) == 0) return {};
  return Fail(ErrorCode::kNotFound,
              fmt::format("{} is missing, which users other than root need; install the package "
                          "fuse3",
                          kHelper));
}

Status UnmountPath(const std::string& path, bool lazy) {
  if (geteuid() != 0) return RunHelper(path, lazy);
  if (umount2(path.c_str(), UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) == 0) return {};
  if (errno == EBUSY) return Busy(path);
  return Fail(ErrorCode::kIo, fmt::format("{}: {}", path, std::strerror(errno)));
}

Status Unmount(const UnmountOptions& options) {
  EBB_ASSIGN(const auto path, AbsolutePath(options.directory));
  const auto found = FindMount(path);
  if (!found) return Fail(ErrorCode::kNotFound, fmt::format("{} is no mount", path));
  if (found->type != kFileSystemType) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} is a mount of type {}, not of EbbFS; use umount", path,
                            found->type));
  }
  auto gone = UnmountPath(path, options.lazy);
  // Nobody can use a dead mount, but a program may still stand in it.
  if (!gone && !options.lazy && IsDead(path)) gone = UnmountPath(path, true);
  return gone;
}

}  // namespace ebb::mount
