#include "cli/progress.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/format.h"

namespace ebb::cli {

namespace {

constexpr auto kPeriod = std::chrono::milliseconds(500);
// Goes to the begin of the line and clears the line.
constexpr const char* kClear = "\r\x1b[K";

// Without an exception if nobody reads it.
void Put(std::FILE* out, const std::string& text) {
  (void)std::fputs(text.c_str(), out);
  (void)std::fflush(out);
}

std::string Size(double bytes) { return SizeText(static_cast<std::int64_t>(bytes), true); }

}  // namespace

void Progress::Expect(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  expected_ += bytes;
}

void Progress::Skip(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  skipped_ += bytes;
}

void Progress::Add(std::uint64_t bytes, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  moved_ += bytes;
  if (!terminal_ || now < next_) return;
  next_ = now + kPeriod;
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - started_).count();
  Put(out_, kClear + ProgressText(skipped_ + moved_, expected_,
                                  static_cast<double>(moved_) / std::max(seconds, 0.001)));
}

void Progress::Clear() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(shown_, false)) Put(out_, kClear);
}

std::string ProgressText(std::uint64_t done, std::uint64_t expected, double bytes_per_second) {
  const auto bytes = static_cast<double>(done);
  const auto all = static_cast<double>(expected);
  // A file may grow while it is read, and standard input has no length.
  if (done >= expected || bytes_per_second <= 0) {
    return fmt::format("{}, {}/s", Size(bytes), Size(bytes_per_second));
  }
  return fmt::format("{} of {} ({}%), {}/s, {:.0f} s left", Size(bytes), Size(all),
                     static_cast<int>(bytes * 100 / all), Size(bytes_per_second),
                     std::ceil((all - bytes) / bytes_per_second));
}

}  // namespace ebb::cli
