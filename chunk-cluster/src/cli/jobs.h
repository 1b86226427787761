// Jobs that run side by side.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "common/error.h"

namespace ebb::cli {

using Job = std::function<void()>;

// With one thread each job runs at once, in the thread of the caller. One thread may call.
class Jobs {
 public:
  // At most `waiting` jobs wait. Fewer threads, down to none, if the process is out of threads.
  Jobs(std::size_t threads, std::size_t waiting);
  // Waits for all jobs.
  ~Jobs() { Finish(); }
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  // Waits for room.
  void Run(Job job);
  // Waits for all jobs. No job may be given later.
  void Finish();

 private:
  void Work();

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable room_;
  std::deque<Job> jobs_;
  bool finishing_ = false;
  std::vector<std::jthread> threads_;
};

// The value of an option that counts something, between 1 and `most`.
[[nodiscard]] Result<std::size_t> CountOf(const std::string& option, const std::string& value,
                                          std::size_t most);

}  // namespace ebb::cli
