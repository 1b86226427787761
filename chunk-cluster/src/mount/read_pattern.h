// Tells sequential reads of a file from random ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ebb::mount {

// One thread at a time. A file is streamed as soon as a read begins where the one before has ended,
// and the first read at its beginning. A gap that is shorter than what a new connection costs is
// read and dropped: the kernel leaves such gaps where it has cached pages.
class ReadPattern {
 public:
  enum class Way : std::uint8_t { kStream, kPositional };
  static constexpr std::uint64_t kMostSkipped = std::uint64_t{512} << 10;

  struct Step {
    Way way = Way::kStream;
    // Bytes of the stream that are dropped first.
    std::uint64_t skipped = 0;

    bool operator==(const Step&) const = default;
  };

  // How a read of `size` bytes at `offset` is done. The caller does it so.
  [[nodiscard]] Step Next(std::uint64_t offset, std::size_t size) {
    const bool goes_on = offset == end_;
    Step step;
    if (streams_ && offset >= end_ && offset - end_ <= kMostSkipped) {
      step.skipped = offset - end_;
    } else if (!goes_on) {
      step.way = Way::kPositional;
    }
    streams_ = step.way == Way::kStream;
    end_ = offset + size;
    return step;
  }

 private:
  bool streams_ = false;
  std::uint64_t end_ = 0;
};

}  // namespace ebb::mount
