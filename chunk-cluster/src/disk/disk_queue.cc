#include "disk/disk_queue.h"

#include <fmt/core.h>

#include <algorithm>

namespace ebb {

std::list<DiskQueue::Clock::time_point>::iterator DiskQueue::Begin(Clock::time_point now) {
  return calls_.insert(calls_.end(), now);
}

void DiskQueue::AddTime(Clock::time_point now) {
  call_time_ +=
      (now - added_until_) * static_cast<Clock::duration::rep>(calls_.size() + waiting_.size());
  added_until_ = now;
}

std::unexpected<Error> DiskQueue::Refuse(Clock::time_point now) {
  ++refused_;
  const auto oldest =
      std::chrono::duration_cast<std::chrono::milliseconds>(now - calls_.front()).count();
  return Fail(ErrorCode::kBusy,
              fmt::format("disk {} does not keep up: {} calls are under way, the oldest for {} ms, "
                          "and {} wait; use another replica, and look at the disk if this lasts",
                          name_, calls_.size(), oldest, waiting_.size()));
}

Result<DiskQueue::Permit> DiskQueue::Enter() {
  std::unique_lock lock(mutex_);
  const auto now = Clock::now();
  AddTime(now);
  if (calls_.size() < options_.max_calls) return Permit(*this, Begin(now));
  const bool stalls = now - calls_.front() > options_.patience;
  if (stalls || waiting_.size() >= options_.max_waiting) return Refuse(now);
  Waiter self;
  waiting_.push_back(&self);
  self.woken.wait_until(lock, now + options_.patience, [&] { return self.granted; });
  if (self.granted) return Permit(*this, self.place);
  const auto end = Clock::now();
  AddTime(end);
  std::erase(waiting_, &self);
  return Refuse(end);
}

DiskQueue::Permit DiskQueue::EnterAtOnce() {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  AddTime(now);
  return Permit(*this, Begin(now));
}

void DiskQueue::Leave(std::list<Clock::time_point>::iterator place) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  AddTime(now);
  calls_.erase(place);
  if (waiting_.empty() || calls_.size() >= options_.max_calls) return;
  Waiter& next = *waiting_.front();
  waiting_.pop_front();
  next.place = Begin(now);
  next.granted = true;
  next.woken.notify_one();
}

DiskQueue::Load DiskQueue::GetLoad() {
  const std::lock_guard lock(mutex_);
  AddTime(Clock::now());
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(call_time_).count();
  return {.calls = calls_.size(),
          .waiting = waiting_.size(),
          .call_micros = static_cast<std::uint64_t>(micros),
          .refused = refused_};
}

}  // namespace ebb
