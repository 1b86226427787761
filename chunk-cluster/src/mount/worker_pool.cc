#include "mount/worker_pool.h"

#include <utility>

namespace ebb::mount {

WorkerPool::WorkerPool(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  threads_.clear();
}

void WorkerPool::Push(Task task) {
  tasks_.push_back(std::move(task));
  work_.notify_one();
}

void WorkerPool::Post(Task task) {
  const std::lock_guard lock(mutex_);
  Push(std::move(task));
}

void WorkerPool::Post(const StrandPointer& strand, Task task) {
  const std::lock_guard lock(mutex_);
  strand->tasks_.push_back(std::move(task));
  if (std::exchange(strand->scheduled_, true)) return;
  Push([this, strand] { RunNext(strand); });
}

void WorkerPool::RunNext(const StrandPointer& strand) {
  Task task;
  {
    const std::lock_guard lock(mutex_);
    task = std::move(strand->tasks_.front());
    strand->tasks_.pop_front();
  }
  task();
  task = nullptr;
  const std::lock_guard lock(mutex_);
  strand->scheduled_ = !strand->tasks_.empty();
  if (strand->scheduled_) Push([this, strand] { RunNext(strand); });
}

void WorkerPool::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
    if (stopping_) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    ++running_;
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    --running_;
    if (running_ == 0 && tasks_.empty()) idle_.notify_all();
  }
}

bool WorkerPool::AwaitIdle(Timeout timeout) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, timeout, [&] { return running_ == 0 && tasks_.empty(); });
}

}  // namespace ebb::mount
