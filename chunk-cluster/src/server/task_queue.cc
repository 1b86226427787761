#include "server/task_queue.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace ebb::server {

TaskQueue::TaskQueue(std::size_t threads, std::size_t limit) : limit_(limit) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

TaskQueue::~TaskQueue() { Stop(); }

void TaskQueue::Add(const char* what, std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_ && tasks_.size() < limit_) {
      tasks_.push_back(std::move(task));
      changed_.notify_one();
      return;
    }
  }
  spdlog::warn("dropped a task ({}): {} tasks are waiting; the namenode will order it again", what,
               limit_);
}

bool TaskQueue::full() {
  const std::lock_guard lock(mutex_);
  return tasks_.size() >= limit_;
}

void TaskQueue::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    tasks_.clear();
  }
  changed_.notify_all();
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void TaskQueue::Loop() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (stopping_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace ebb::server
