// A fixed number of threads for the calls of the kernel.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/socket.h"

namespace ebb::mount {

using Task = std::move_only_function<void()>;

// Tasks that run one after the other, in the order in which they came. It belongs to a pool.
class Strand {
 private:
  friend class WorkerPool;
  std::deque<Task> tasks_;
  // One of the tasks runs or waits for a thread.
  bool scheduled_ = false;
};

using StrandPointer = std::shared_ptr<Strand>;

// Thread-safe. Threads live as long as the pool.
class WorkerPool {
 public:
  // Throws std::system_error if the process is out of threads.
  explicit WorkerPool(std::size_t threads);
  // Waits for the tasks that run; the others are dropped.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void Post(Task task);
  void Post(const StrandPointer& strand, Task task);
  // Waits until no task runs or waits. False if that took longer than the time-out.
  [[nodiscard]] bool AwaitIdle(Timeout timeout);

 private:
  void Run();
  void RunNext(const StrandPointer& strand);
  void Push(Task task);

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable idle_;
  std::deque<Task> tasks_;
  std::size_t running_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace ebb::mount
