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
  tasks_.push_back({what, std::move(task)});
  if (tasks_.size() > free_threads_ && threads_.size() < most_threads_) StartThread();
  changed_.notify_one();
}

Status TaskQueue::CheckRoom() {
  const std::lock_guard lock(mutex_);
  return Prepare();
}

Status TaskQueue::Prepare() {
  if (stopping_) return Fail(ErrorCode::kBusy, "the queue is stopped");
  if (tasks_.size() >= limit_) {
    return Fail(ErrorCode::kBusy, fmt::format("{} tasks wait", tasks_.size()));
  }
  if (threads_.empty()) StartThread();
  if (threads_.empty()) return Fail(ErrorCode::kBusy, "no thread is left for its queue");
  return {};
}

void TaskQueue::StartThread() {
  try {
    threads_.emplace_back([this] { Loop(); });
    ++free_threads_;
  } catch (const std::system_error& error) {
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
      --free_threads_;
    }
    try {
      task.run();
    } catch (const std::system_error& error) {
      spdlog::warn("a task ({}) broke off: {}", task.what, error.what());
    }
    // What the task holds goes before its thread is free.
    task.run = nullptr;
    const std::lock_guard lock(mutex_);
    ++free_threads_;
  }
}

}  // namespace ebb::server
