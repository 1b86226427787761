#include "cli/jobs.h"

#include <fmt/core.h>

#include <charconv>
#include <system_error>
#include <utility>

#include "cli/shell.h"

namespace ebb::cli {

Jobs::Jobs(std::size_t threads, std::size_t waiting) : most_waiting_(waiting) {
  try {
    for (std::size_t i = 0; threads > 1 && i < threads; ++i) {
      threads_.emplace_back([this] { Work(); });
    }
  } catch (const std::system_error&) {  // those that are there do the work
  }
}

void Jobs::Run(Job job) {
  if (threads_.empty()) return job();
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return jobs_.size() < most_waiting_; });
  jobs_.push_back(std::move(job));
  work_.notify_one();
}

void Jobs::Finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  work_.notify_all();
  threads_.clear();
}

void Jobs::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [&] { return finishing_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    room_.notify_one();
    lock.unlock();
    job();
    lock.lock();
  }
}

Result<std::size_t> CountOf(const std::string& option, const std::string& value,
                            std::size_t most) {
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (error != std::errc() || end != value.data() + value.size() || count < 1 || count > most) {
    return Misuse(fmt::format("-{} is a number from 1 to {}, not '{}'", option, most, value));
  }
  return count;
}

}  // namespace ebb::cli
