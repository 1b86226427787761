// Jobs that run side by side, and whose errors are told in the order of the jobs.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "cli/jobs.h"
#include "common/error.h"

namespace ebb::cli {

// One thread may call. What a job throws is its error.
class OrderedJobs {
 public:
  using Work = std::function<Status()>;

  // `tell` is called for each error, by one thread at a time.
  OrderedJobs(std::size_t threads, std::function<void(const Error&)> tell);
  // Waits for all jobs, whose errors are told then.
  ~OrderedJobs() = default;
  OrderedJobs(const OrderedJobs&) = delete;
  OrderedJobs& operator=(const OrderedJobs&) = delete;

  // Waits for room.
  void Run(Work work);
  // The same in the thread of the caller. False after an error.
  bool RunNow(const Work& work);

 private:
  // Makes room for the outcome of the next job, and tells its number.
  [[nodiscard]] std::size_t Begin();
  void End(std::size_t number, Status outcome);

  const std::function<void(const Error&)> tell_;
  std::mutex mutex_;
  std::condition_variable room_;
  // The outcomes of the jobs from number first_ on, as far as they have ended.
  std::deque<std::optional<Status>> outcomes_;
  std::size_t first_ = 0;
  // The last member: its end waits for jobs, which use the other members.
  Jobs jobs_;
};

}  // namespace ebb::cli
