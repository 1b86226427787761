// Tells a writer of records what is stored, on a thread of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace ebb::client {

// Thread-safe. Runs functions in the order in which they came, one after the other: what a caller
// does when a record is stored may wait, and the answers of servers go on.
class CompletionQueue {
 public:
  // Starts the thread. Throws std::system_error if the process is out of threads.
  CompletionQueue();
  // Runs what is left. Not for a function that the queue runs.
  ~CompletionQueue();
  CompletionQueue(const CompletionQueue&) = delete;
  CompletionQueue& operator=(const CompletionQueue&) = delete;

  // The function must not throw.
  void Add(std::function<void()> run);
  // Waits until all that was added before has run. Not for a function that the queue runs.
  void Await();
  // Whether a function that the queue runs is the caller.
  [[nodiscard]] bool IsCurrentThread() const;

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::uint64_t added_ = 0;
  std::uint64_t done_ = 0;
  bool stopping_ = false;
  // The last member: the thread uses the others.
  std::thread thread_;
};

}  // namespace ebb::client
