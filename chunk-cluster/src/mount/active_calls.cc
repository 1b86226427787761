#include "mount/active_calls.h"

#include <utility>

namespace ebb::mount {

ActiveCall::~ActiveCall() { calls_.Remove(*this); }

void ActiveCall::OnExpiry(std::function<void()> run) {
  {
    const std::lock_guard lock(mutex_);
    if (!expired_) {
      on_expiry_ = std::move(run);
      return;
    }
  }
  run();
}

void ActiveCall::Expire() {
  std::function<void()> run;
  {
    const std::lock_guard lock(mutex_);
    expired_ = true;
    run = std::exchange(on_expiry_, nullptr);
  }
  if (!Claim()) return;
  AnswerLate();
  if (run) run();
}

ActiveCalls::ActiveCalls(Timeout deadline) : deadline_(deadline), thread_([this] { Run(); }) {}

ActiveCalls::~ActiveCalls() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

void ActiveCalls::Add(ActiveCall& call) {
  call.deadline_ = std::chrono::steady_clock::now() + deadline_;
  const std::lock_guard lock(mutex_);
  call.place_ = calls_.insert(calls_.end(), &call);
  call.listed_ = true;
  if (calls_.size() == 1) changed_.notify_all();
}

void ActiveCalls::Remove(ActiveCall& call) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(call.listed_, false)) return;
  calls_.erase(call.place_);
}

void ActiveCalls::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (calls_.empty()) {
      changed_.wait(lock);
      continue;
    }
    ActiveCall& oldest = *calls_.front();
    // A copy: the call may be gone during the wait. Calls that come have later deadlines.
    const auto deadline = oldest.deadline_;
    if (std::chrono::steady_clock::now() < deadline) {
      changed_.wait_until(lock, deadline);
      continue;
    }
    calls_.pop_front();
    oldest.listed_ = false;
    // Null if another thread is destroying the call: it waits for the mutex.
    auto overdue = oldest.weak_from_this().lock();
    lock.unlock();
    if (overdue) overdue->Expire();
    // Without the lock, which the destructor of the call takes if this is the last reference.
    overdue.reset();
    lock.lock();
  }
}

}  // namespace ebb::mount
