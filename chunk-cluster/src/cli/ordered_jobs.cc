#include "cli/ordered_jobs.h"

#include <exception>
#include <utility>

namespace ebb::cli {

namespace {

// Jobs that wait for a thread, and outcomes that wait for an earlier job.
constexpr std::size_t kMostWaitingJobs = 1024;
constexpr std::size_t kMostOutcomes = 10'000;

Status OutcomeOf(const OrderedJobs::Work& work) {
  try {
    return work();
  } catch (const std::exception& error) {  // no memory, or no thread
    return Fail(ErrorCode::kBusy, error.what());
  }
}

}  // namespace

OrderedJobs::OrderedJobs(std::size_t threads, std::function<void(const Error&)> tell)
    : tell_(std::move(tell)), jobs_(threads, kMostWaitingJobs) {}

void OrderedJobs::Run(Work work) {
  const std::size_t number = Begin();
  jobs_.Run([this, number, work = std::move(work)] { End(number, OutcomeOf(work)); });
}

bool OrderedJobs::RunNow(const Work& work) {
  const std::size_t number = Begin();
  const Status outcome = OutcomeOf(work);
  End(number, outcome);
  return outcome.has_value();
}

std::size_t OrderedJobs::Begin() {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return outcomes_.size() < kMostOutcomes; });
  outcomes_.emplace_back();
  return first_ + outcomes_.size() - 1;
}

void OrderedJobs::End(std::size_t number, Status outcome) {
  const std::lock_guard lock(mutex_);
  outcomes_[number - first_] = std::move(outcome);
  for (; !outcomes_.empty() && outcomes_.front(); ++first_) {
    const Status& ended = *outcomes_.front();
    if (!ended) tell_(ended.error());
    outcomes_.pop_front();
  }
  room_.notify_one();
}

}  // namespace ebb::cli
