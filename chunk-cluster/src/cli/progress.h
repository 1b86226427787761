// How far a long transfer is.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

namespace ebb::cli {

// Shows one line on a terminal, which is written over and over, from the third second of a transfer
// on. Nothing is shown elsewhere: a log would fill with the lines. Thread-safe.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  Progress(std::FILE* out, bool terminal) : out_(out), terminal_(terminal) {}
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // So many bytes are to be moved, besides those of earlier calls.
  void Expect(std::uint64_t bytes);
  // So many of the bytes were moved by an earlier command.
  void Skip(std::uint64_t bytes);
  // So many of the bytes were moved just now.
  void Add(std::uint64_t bytes, Clock::time_point now = Clock::now());
  // Takes the line away, before another line is printed.
  void Clear();

 private:
  std::FILE* const out_;
  const bool terminal_;
  std::mutex mutex_;
  std::uint64_t expected_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t moved_ = 0;
  Clock::time_point started_ = Clock::now();
  Clock::time_point next_ = started_ + std::chrono::seconds(2);
  bool shown_ = false;
};

// Such as "1.5 G of 3 G (50%), 120.0 M/s, 13 s left".
[[nodiscard]] std::string ProgressText(std::uint64_t done, std::uint64_t expected,
                                       double bytes_per_second);

}  // namespace ebb::cli
