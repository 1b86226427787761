// A queue of the tasks that the namenode ordered, and the threads that run them in that order.
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

  // `what` names the task in the log. A task is dropped if the queue is full or stopped: the
  // namenode repeats its orders.
  void Add(const char* what, std::function<void()> task);
  [[nodiscard]] bool full();
  // Waits for the running tasks. Waiting tasks are dropped.
  void Stop();

 private:
  void Loop();

  const std::size_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ebb::server
