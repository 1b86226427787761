// The program behind 'ebb mount' and 'ebb umount'.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "mount/options.h"
#include "mount/session.h"
#include "mount/unmount.h"

namespace ebb::mount {
namespace {

constexpr int kMisuse = 255;

int Refuse(const char* command, const Error& error) {
  fmt::print(stderr, "ebb {}: {}\n", command, error.message);
  return 1;
}

int ServeHere(const MountOptions& options) {
  return Refuse("mount", Serve(options, [] {}));
}

// The process that goes on in the background: a byte in the pipe tells that the mount serves. An
// error goes to the stderr that the user sees.
[[noreturn]] void ServeInBackground(const MountOptions& options, int pipe) {
  setsid();
  const auto error = Serve(options, [&] {
    // No other file system is kept busy.
    if (chdir("/") != 0) _exit(1);
    const char serves = 1;
    [[maybe_unused]] const auto told = write(pipe, &serves, 1);
    close(pipe);
    const int nothing = open("/dev/null", O_RDWR);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, fd);
    if (nothing > STDERR_FILENO) close(nothing);
  });
  _exit(Refuse("mount", error));
}

int ServeBehind(const MountOptions& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return Refuse("mount", {ErrorCode::kIo, std::strerror(errno)});
  }
  const pid_t child = fork();
  if (child < 0) return Refuse("mount", {ErrorCode::kIo, std::strerror(errno)});
  if (child == 0) {
    close(ends[0]);
    ServeInBackground(options, ends[1]);
  }
  close(ends[1]);
  char serves = 0;
  ssize_t got = 0;
  while ((got = read(ends[0], &serves, 1)) < 0 && errno == EINTR) {
  }
  if (got == 1) return 0;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : 1;
}

int RunMount(std::vector<std::string> words) {
  auto options = ParseMount(std::move(words));
  if (!options) {
    fmt::print(stderr, "ebb mount: {}\n{}", options.error().message, kMountUsage);
    return kMisuse;
  }
  const auto mountable = CheckMountable(*options);
  if (!mountable) return Refuse("mount", mountable.error());
  if (options->foreground) return ServeHere(*options);
  if (options->log.empty()) options->log = DefaultLog();
  return ServeBehind(*options);
}

int RunUnmount(const std::vector<std::string>& words) {
  const auto options = ParseUnmount(words);
  if (!options) {
    fmt::print(stderr, "ebb umount: {}\n{}", options.error().message, kUnmountUsage);
    return kMisuse;
  }
  const auto gone = Unmount(*options);
  return gone ? 0 : Refuse("umount", gone.error());
}

int Run(std::vector<std::string> words) {
  const std::string command = words.empty() ? "" : words.front();
  if (!words.empty()) words.erase(words.begin());
  const bool help = !words.empty() && (words.front() == "--help" || words.front() == "-h");
  if (help && (command == "mount" || command == "umount")) {
    fmt::print("{}", command == "mount" ? kMountUsage : kUnmountUsage);
    return 0;
  }
  if (command == "mount") return RunMount(std::move(words));
  if (command == "umount") return RunUnmount(words);
  fmt::print(stderr, "{}{}", kMountUsage, kUnmountUsage);
  return kMisuse;
}

}  // namespace
}  // namespace ebb::mount

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return ebb::mount::Run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {  // no memory, or no thread
    (void)std::fprintf(stderr, "ebb mount: %s\n", error.what());
    return 1;
  }
}
