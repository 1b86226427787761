#include "server/task_queue.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <system_error>
#include <utility>

namespace ebb::server {

TaskQueue::~TaskQueue() { Stop(); }

void TaskQueue::Add(const char* what, std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (const auto prepared = Prepare(); !prepared) {
    spdlog::warn("dropped a task ({}): {}; the namenode will order it again", what,
                 prepared.error().message);
    return;
  }
  promised_ = false;
  tasks_.push_back({what, std::move(task)});
  if (tasks_.size() > free_threads_ && threads_.size() < most_threads_) StartThread();
  changed_.notify_one();
}

Status TaskQueue::CheckRoom() {
  const std::lock_guard lock(mutex_);
  auto prepared = Prepare();
  promised_ = prepared.has_value();
  return prepared;
}

std::size_t TaskQueue::threads() {
  const std::lock_guard lock(mutex_);
  return threads_.size();
}

Status TaskQueue::Prepare() {
  if (stopping_) return Fail(ErrorCode::kBusy, "the queue is stopped");
  if (tasks_.size() >= limit_) {
    return Fail(ErrorCode::kBusy, fmt::format("{} tasks wait", tasks_.size()));
  }
  const bool busy = tasks_.size() > free_threads_ && threads_.size() < most_threads_;
  if (threads_.empty() || busy) StartThread();
  if (threads_.empty()) return Fail(ErrorCode::kBusy, "no thread is left for its queue");
  return {};
}

void TaskQueue::StartThread() {
  for (auto& thread : ended_) thread.join();
  ended_.clear();
  const auto self = threads_.emplace(threads_.end());
  try {
    *self = std::thread([this, self] { Loop(self); });
    ++free_threads_;
  } catch (const std::system_error& error) {
    threads_.erase(self);
    spdlog::warn("no further thread for a queue that has {}: {}; raise this process's limit on "
                 "threads",
                 threads_.size(), error.what());
  }
}

void TaskQueue::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    tasks_.clear();
  }
  changed_.notify_all();
  // No thread starts, and none joins `ended_`, from now on.
  for (auto* const threads : {&threads_, &ended_}) {
    for (auto& thread : *threads) {
      if (thread.joinable()) thread.join();
    }
  }
}

std::optional<TaskQueue::Task> TaskQueue::Next(Threads::iterator self) {
  std::unique_lock lock(mutex_);
  const auto wakes = [this] { return stopping_ || !tasks_.empty(); };
  while (!changed_.wait_for(lock, idle_, wakes)) {
    if (promised_ && threads_.size() == 1) continue;
    --free_threads_;
    ended_.splice(ended_.end(), threads_, self);
    return std::nullopt;
  }
  if (stopping_) return std::nullopt;
  Task task = std::move(tasks_.front());
  tasks_.pop_front();
  --free_threads_;
  return task;
}

void TaskQueue::Loop(Threads::iterator self) {
  while (auto task = Next(self)) {
    try {
      task->run();
    } catch (const std::system_error& error) {
      spdlog::warn("a task ({}) broke off: {}", task->what, error.what());
    }
    // What the task holds goes before its thread is free.
    task.reset();
    const std::lock_guard lock(mutex_);
    ++free_threads_;
  }
}

}  // namespace ebb::server
