#include "server/task_queue.h"

#include <spdlog/spdlog.h>

#include <system_error>
#include <utility>

namespace ebb::server {

TaskQueue::~TaskQueue() { Stop(); }

void TaskQueue::Add(const char* what, std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_ && tasks_.size() < limit_) {
      tasks_.push_back({what, std::move(task)});
      if (threads_.size() < most_threads_) StartThread();
      changed_.notify_one();
      return;
    }
  }
  spdlog::warn("dropped a task ({}): {} tasks are waiting; the namenode will order it again", what,
               limit_);
}

void TaskQueue::StartThread() {
  try {
    threads_.emplace_back([this] { Loop(); });
  } catch (const std::system_error& error) {
    spdlog::warn("no further thread for a queue that has {}: {}; raise this process's limit on "
                 "threads",
                 threads_.size(), error.what());
  }
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
    Task task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (stopping_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    try {
      task.run();
    } catch (const std::system_error& error) {
      spdlog::warn("a task ({}) broke off: {}", task.what, error.what());
    }
  }
}

}  // namespace ebb::server
