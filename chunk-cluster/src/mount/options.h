// The command line of 'ebb mount' and 'ebb umount'.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/socket.h"

namespace ebb::mount {

struct MountOptions {
  // Where the file system appears.
  std::string directory;
  // The path of EbbFS that appears there.
  std::string root = "/";
  std::string configuration;
  std::vector<std::pair<std::string, std::string>> settings;
  bool foreground = false;
  // Empty: stderr in the foreground, else DefaultLog().
  std::string log;

  bool read_only = false;
  bool allow_other = false;
  // The kernel checks modes and owners, too.
  bool default_permissions = false;
  // How long the kernel uses attributes and names without a question.
  std::chrono::duration<double> freshness{1};
  Timeout deadline = std::chrono::seconds(60);
  std::size_t threads = 16;
  std::size_t open_files = 4096;
  std::uint64_t dirty_bytes = std::uint64_t{256} << 20;
  std::uint64_t read_ahead_bytes = std::uint64_t{1} << 20;
};

// kInvalid names the word that is wrong, and what may stand there.
[[nodiscard]] Result<MountOptions> ParseMount(std::vector<std::string> words);

struct UnmountOptions {
  std::string directory;
  // Programs may still use files there.
  bool lazy = false;
};
[[nodiscard]] Result<UnmountOptions> ParseUnmount(const std::vector<std::string>& words);

inline constexpr char kMountUsage[] =
    "Usage: ebb mount [--dir CLUSTER | --conf DIRECTORY] [-D NAME=VALUE] [-fs URI]\n"
    "                 [-f] [--log FILE] [-o OPTION[=VALUE],...] DIRECTORY\n"
    "  -f                   stays in the foreground, and logs to stderr\n"
    "  --log FILE           where a mount in the background logs (~/.ebbfs-mount.log)\n"
    "  -o ro                refuses all changes\n"
    "  -o root=PATH         shows this directory of EbbFS (/)\n"
    "  -o allow_other       lets other users of this machine in; the kernel checks modes then\n"
    "  -o default_permissions, no_default_permissions\n"
    "                       whether the kernel checks modes, besides the namenode\n"
    "  -o freshness=SECONDS how long names and attributes are used without a question (1)\n"
    "  -o deadline=SECONDS  a call that has no answer by then gets ETIMEDOUT (60)\n"
    "  -o threads=N         threads for calls (16)\n"
    "  -o open_files=N      files and directories that are open at a time (4096)\n"
    "  -o dirty=MIB         bytes in flight to servers, of all files (256)\n"
    "  -o readahead=KIB     what the kernel reads ahead, where it may be set (1024)\n";
inline constexpr char kUnmountUsage[] =
    "Usage: ebb umount [--lazy] DIRECTORY\n"
    "  --lazy               even if programs use it: it goes when the last one ends\n";

}  // namespace ebb::mount
