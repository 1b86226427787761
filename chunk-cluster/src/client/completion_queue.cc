#include "client/completion_queue.h"

#include <utility>

namespace ebb::client {

CompletionQueue::CompletionQueue() : thread_([this] { Run(); }) {}

CompletionQueue::~CompletionQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CompletionQueue::Add(std::function<void()> run) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(run));
    ++added_;
  }
  changed_.notify_all();
}

void CompletionQueue::Await() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&, until = added_] { return done_ >= until; });
}

bool CompletionQueue::IsCurrentThread() const {
  return std::this_thread::get_id() == thread_.get_id();
}

void CompletionQueue::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    auto run = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    run();
    run = nullptr;  // destroys what it has captured before anybody learns of its end
    lock.lock();
    ++done_;
    changed_.notify_all();
  }
}

}  // namespace ebb::client
