// The calls of the kernel that have no answer yet, and the deadline by which each gets one.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "common/socket.h"

namespace ebb::mount {

class ActiveCalls;

// A call that may be answered once. Answers come from a thread that does what is asked, or from the
// clock once the deadline has passed. Thread-safe.
class ActiveCall : public std::enable_shared_from_this<ActiveCall> {
 public:
  explicit ActiveCall(ActiveCalls& calls) : calls_(calls) {}
  virtual ~ActiveCall();
  ActiveCall(const ActiveCall&) = delete;
  ActiveCall& operator=(const ActiveCall&) = delete;

  // True for the first one who asks: that one answers.
  [[nodiscard]] bool Claim() { return !claimed_.exchange(true); }
  [[nodiscard]] bool answered() const { return claimed_; }
  // Runs at the deadline, to end what the call waits for. At once, if the deadline has passed.
  void OnExpiry(std::function<void()> run);

 protected:
  // The deadline has passed, and the claim is taken.
  virtual void AnswerLate() = 0;

 private:
  friend class ActiveCalls;
  void Expire();

  ActiveCalls& calls_;
  std::atomic<bool> claimed_ = false;
  std::mutex mutex_;
  bool expired_ = false;
  std::function<void()> on_expiry_;
  std::chrono::steady_clock::time_point deadline_;
  // These belong to the list.
  bool listed_ = false;
  std::list<ActiveCall*>::iterator place_;
};

// Thread-safe. Outlives its calls.
class ActiveCalls {
 public:
  explicit ActiveCalls(Timeout deadline);
  ~ActiveCalls();

  // From here on the deadline of the call runs.
  void Add(ActiveCall& call);

 private:
  friend class ActiveCall;
  void Remove(ActiveCall& call);
  void Run();

  const Timeout deadline_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // In the order of their deadlines, as far as these have not passed.
  std::list<ActiveCall*> calls_;
  bool stopping_ = false;
  std::jthread thread_;
};

}  // namespace ebb::mount
