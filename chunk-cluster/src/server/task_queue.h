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

#include "common/error.h"

namespace ebb::server {

// Thread-safe. A task for which no thread is free brings one more thread, up to `threads`. If the
// process has no thread left, the threads that run serve all tasks; a queue without any takes no
// task.
class TaskQueue {
 public:
  TaskQueue(std::size_t threads, std::size_t limit) : most_threads_(threads), limit_(limit) {}
  // Stops.
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  // `what` names the task in the log. A task is dropped if the queue is full or stopped, or has no
  // thread: the namenode repeats its orders. A std::system_error (no thread is left) ends only the
  // task.
  void Add(const char* what, std::function<void()> task);
  // kBusy if Add would drop a task. Starts the first thread. What this has told is true until the
  // next Add or Stop.
  [[nodiscard]] Status CheckRoom();
  // Waits for the running tasks. Waiting tasks are dropped.
  void Stop();

 private:
  struct Task {
    const char* what;
    std::function<void()> run;
  };

  void Loop();
  // The caller of these holds mutex_.
  [[nodiscard]] Status Prepare();
  void StartThread();

  const std::size_t most_threads_;
  const std::size_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
  // Those that run no task.
  std::size_t free_threads_ = 0;
};

}  // namespace ebb::server
