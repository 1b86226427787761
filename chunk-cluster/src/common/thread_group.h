// Helpers that start threads and wait for their end.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace ebb {

// Threads that may outlive the call that started them, for example while a peer stalls. They do not
// outlive the group.
class ThreadGroup {
 public:
  ThreadGroup() = default;
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;
  // Waits for all threads.
  ~ThreadGroup() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return running_ == 0; });
  }

  // Throws std::system_error if the process is out of threads.
  void Start(std::function<void()> run) {
    {
      const std::lock_guard lock(mutex_);
      ++running_;
    }
    try {
      std::thread([this, run = std::move(run)]() mutable {
        run();
        run = nullptr;  // destroys the captured objects before the group learns of the end
        End();
      }).detach();
    } catch (...) {
      End();
      throw;
    }
  }

  [[nodiscard]] std::size_t running() {
    const std::lock_guard lock(mutex_);
    return running_;
  }

 private:
  void End() {
    const std::lock_guard lock(mutex_);
    --running_;
    ended_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t running_ = 0;
};

// Calls run(0) ... run(count - 1) on at most `threads` threads, the calling thread included.
// Returns when all calls have returned.
inline void ParallelFor(std::size_t count, std::size_t threads,
                        const std::function<void(std::size_t)>& run) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) run(i);
  };
  std::vector<std::jthread> helpers;
  for (std::size_t t = 1; t < std::min(count, threads); ++t) helpers.emplace_back(work);
  work();
}

}  // namespace ebb
