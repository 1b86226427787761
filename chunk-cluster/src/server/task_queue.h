// A queue of the tasks that the namenode ordered, and the threads that run them in that order.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

#include "common/error.h"

namespace ebb::server {

// Thread-safe. A task for which no thread is free brings one more thread, up to `threads`. A thread
// without a task for `idle` ends. If the process has no thread left, the threads that run serve all
// tasks; a queue without any takes no task.
class TaskQueue {
 public:
  TaskQueue(std::size_t threads, std::size_t limit,
            std::chrono::milliseconds idle = std::chrono::minutes(1))
      : most_threads_(threads), limit_(limit), idle_(idle) {}
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
  [[nodiscard]] std::size_t threads();
  // Waits for the running tasks. Waiting tasks are dropped.
  void Stop();

 private:
  struct Task {
    const char* what;
    std::function<void()> run;
  };

  using Threads = std::list<std::thread>;

  void Loop(Threads::iterator self);
  // The caller of these holds mutex_.
  [[nodiscard]] Status Prepare();
  void StartThread();
  // The next task, or none if the thread has to end.
  [[nodiscard]] std::optional<Task> Next(Threads::iterator self);

  const std::size_t most_threads_;
  const std::size_t limit_;
  const std::chrono::milliseconds idle_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool stopping_ = false;
  Threads threads_;
  // Threads that have left the loop, until somebody joins them.
  Threads ended_;
  // CheckRoom has told that there is a thread for the next task.
  bool promised_ = false;
  // Those that run no task.
  std::size_t free_threads_ = 0;
};

}  // namespace ebb::server
