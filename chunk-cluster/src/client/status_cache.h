// What namenodes have told of paths a short while ago.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "client/file_status.h"
#include "common/socket.h"

namespace ebb::client {

// Thread-safe. Keeps the status of paths that exist: a missing path is asked for each time. Paths
// below /.reserved, and paths that PathOf() would write otherwise, are not kept, so that each file
// has one kept path only.
class StatusCache {
 public:
  using Clock = std::chrono::steady_clock;
  // When so many are kept, all are forgotten before the next one is kept.
  static constexpr std::size_t kMostPaths = 10'000;

  // With a time of 0 nothing is kept.
  explicit StatusCache(Timeout time_to_live) : time_to_live_(time_to_live) {}

  // Made before a namenode is asked.
  struct Question {
    Clock::time_point asked;
    // What this client had changed by then.
    std::uint64_t changes = 0;
  };
  [[nodiscard]] Question Ask(Clock::time_point now = Clock::now());
  // Keeps the answer to the question, unless Forget() or ForgetName() came in between: the answer
  // may be from before the change.
  void Keep(const Question& question, const std::string& path, const FileStatus& status);
  // The status of the path, unless the question was longer ago than the time to live.
  [[nodiscard]] std::optional<FileStatus> Find(const std::string& path,
                                               Clock::time_point now = Clock::now());

  // Something of the file or directory has changed.
  void Forget(const std::string& path);
  // A name has come or gone: forgets all that is at the path and below it, and the directories
  // above it, whose times have changed.
  void ForgetName(const std::string& path);

  [[nodiscard]] std::size_t size();

 private:
  struct Entry {
    FileStatus status;
    Clock::time_point asked;
  };
  [[nodiscard]] bool off() const { return time_to_live_ == Timeout(0); }
  void EraseBelow(const std::string& directory);

  const Timeout time_to_live_;
  std::mutex mutex_;
  std::uint64_t changes_ = 0;
  // By path, so that the paths below a directory follow each other.
  std::map<std::string, Entry> entries_;
};

}  // namespace ebb::client
