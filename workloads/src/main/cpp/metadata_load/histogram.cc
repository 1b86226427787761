#include "metadata_load/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ebb::metadata_load {

// Latencies below kSub have a bucket each. Above, each power of two has kSub buckets.
std::size_t Histogram::BucketOf(std::uint64_t nanos) {
  nanos = std::min(nanos, (std::uint64_t{1} << kOctaves) - 1);
  if (nanos < kSub) return nanos;
  const auto shift = static_cast<std::size_t>(std::bit_width(nanos)) - kSubBits - 1;
  return (shift + 1) * kSub + ((nanos >> shift) - kSub);
}

std::uint64_t Histogram::UpperEnd(std::size_t bucket) {
  if (bucket < kSub) return bucket;
  const std::size_t shift = bucket / kSub - 1;
  return ((bucket % kSub + kSub + 1) << shift) - 1;
}

void Histogram::Record(std::uint64_t nanos) {
  ++buckets_[BucketOf(nanos)];
  ++count_;
}

std::uint64_t Histogram::QuantileNanos(double q) const {
  const auto rank = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= std::max<std::uint64_t>(rank, 1)) return UpperEnd(bucket);
  }
  return 0;
}

}  // namespace ebb::metadata_load
