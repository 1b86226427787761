// The calls of one disk: how many are under way, who waits, and how long a call may wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <utility>

#include "common/error.h"

namespace ebb {

// Keeps a disk that hangs from taking all threads of the server: a bounded number of calls is under
// way, a bounded number waits in the order of arrival, and nobody waits for longer than `patience`.
// Thread-safe. Outlives its permits.
class DiskQueue {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    // Calls of the operating system at a time: more than any disk works on at once.
    std::size_t max_calls = 64;
    // Beyond this number of waiting calls, a call is refused at once.
    std::size_t max_waiting = 1024;
    std::chrono::milliseconds patience = std::chrono::seconds(10);
  };

  struct Load {
    std::size_t calls = 0;
    std::size_t waiting = 0;
    // Since the start: the time of all calls from their arrival to their end, added up. Its growth
    // in a second, divided by a million, is the mean number of queued calls of that second.
    std::uint64_t call_micros = 0;
    std::uint64_t refused = 0;
  };

  // A call that is under way until the permit is destroyed.
  class Permit {
   public:
    Permit(Permit&& other) noexcept
        : queue_(std::exchange(other.queue_, nullptr)), place_(other.place_) {}
    ~Permit() {
      if (queue_ != nullptr) queue_->Leave(place_);
    }
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    Permit& operator=(Permit&&) = delete;

   private:
    friend class DiskQueue;
    Permit(DiskQueue& queue, std::list<Clock::time_point>::iterator place)
        : queue_(&queue), place_(place) {}
    DiskQueue* queue_;
    std::list<Clock::time_point>::iterator place_;
  };

  // `name` is for messages.
  explicit DiskQueue(std::string name) : name_(std::move(name)) {}
  DiskQueue(const DiskQueue&) = delete;
  DiskQueue& operator=(const DiskQueue&) = delete;

  // Not thread-safe: to be called before the first call.
  void SetOptions(const Options& options) { options_ = options; }
  [[nodiscard]] std::chrono::milliseconds patience() const { return options_.patience; }

  // kBusy if the disk does not get to this call in time, or surely would not.
  [[nodiscard]] Result<Permit> Enter();
  // Never waits and never fails: for a step that must not stay undone because the disk is busy.
  [[nodiscard]] Permit EnterAtOnce();
  [[nodiscard]] Load GetLoad();

 private:
  struct Waiter {
    std::condition_variable woken;
    bool granted = false;
    std::list<Clock::time_point>::iterator place;
  };

  void Leave(std::list<Clock::time_point>::iterator place);
  // The caller of these holds mutex_.
  [[nodiscard]] std::list<Clock::time_point>::iterator Begin(Clock::time_point now);
  void AddTime(Clock::time_point now);
  [[nodiscard]] std::unexpected<Error> Refuse(Clock::time_point now);

  const std::string name_;
  Options options_;
  std::mutex mutex_;
  // When each call that is under way began; the oldest is the first.
  std::list<Clock::time_point> calls_;
  std::deque<Waiter*> waiting_;
  std::uint64_t refused_ = 0;
  Clock::duration call_time_ = {};
  Clock::time_point added_until_ = Clock::now();
};

}  // namespace ebb
