// A few threads that do what the namenode asked for, in the order it asked.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ebb::server {

// Thread-safe.
class TaskQueue {
 public:
  TaskQueue(std::size_t threads, std::size_t limit);
  // Stops.
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  // False if the queue is full or stopped: the namenode asks again.
  [[nodiscard]] bool Add(std::function<void()> task);
  // Waits for the tasks that run; those that wait are dropped.
  void Stop();
  [[nodiscard]] std::size_t running() const { return running_; }

 private:
  void Loop();

  const std::size_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::atomic<std::size_t> running_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace ebb::server
