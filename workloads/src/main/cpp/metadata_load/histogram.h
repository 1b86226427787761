// A histogram of latencies whose buckets grow with the latency: each bucket is at most 1/32 wider
// than its lower end, so that a quantile is at most 3.2% too high.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ebb::metadata_load {

// One thread records and reads.
class Histogram {
 public:
  void Record(std::uint64_t nanos);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // The upper end of the bucket that holds the quantile `q` of 0 to 1. 0 without any latency.
  [[nodiscard]] std::uint64_t QuantileNanos(double q) const;

 private:
  static constexpr std::size_t kSubBits = 5;
  static constexpr std::size_t kSub = std::size_t{1} << kSubBits;
  // 2^42 ns is more than an hour; what takes longer counts as that.
  static constexpr std::size_t kOctaves = 42;

  [[nodiscard]] static std::size_t BucketOf(std::uint64_t nanos);
  [[nodiscard]] static std::uint64_t UpperEnd(std::size_t bucket);

  std::array<std::uint64_t, (kOctaves - kSubBits + 2) * kSub> buckets_ = {};
  std::uint64_t count_ = 0;
};

}  // namespace ebb::metadata_load
