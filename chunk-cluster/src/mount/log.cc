#include "mount/log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

namespace ebb::mount {

Log::~Log() {
  if (fd_ != STDERR_FILENO) close(fd_);
}

Status Log::ToFile(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) {
    return Fail(ErrorCode::kIo, fmt::format("{} cannot be written ({}); name another log with "
                                            "--log FILE",
                                            path, std::strerror(errno)));
  }
  const std::lock_guard lock(mutex_);
  fd_ = fd;
  return {};
}

void Log::Write(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - second_ >= std::chrono::seconds(1)) {
    if (lines_ > kMostLines) Put(fmt::format("{} more lines were left out", lines_ - kMostLines));
    second_ = now;
    lines_ = 0;
  }
  if (++lines_ <= kMostLines) Put(text);
}

void Log::Put(const std::string& text) {
  const std::string line =
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ} {}: {}\n", fmt::gmtime(std::time(nullptr)), name_, text);
  // Nobody could be told of a failure.
  [[maybe_unused]] const auto written = write(fd_, line.data(), line.size());
}

}  // namespace ebb::mount
