#include "metadata_load/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace ebb::metadata_load {
namespace {

TEST(HistogramTest, WithoutLatenciesThereIsNoQuantile) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.QuantileNanos(0.99), 0u);
}

TEST(HistogramTest, QuantilesAreAtMostAThirtySecondTooHigh) {
  constexpr unsigned kSeed = 7;
  std::mt19937_64 random(kSeed);
  std::lognormal_distribution<double> latency(12, 2);
  Histogram histogram;
  std::vector<std::uint64_t> all;
  for (int i = 0; i < 50'000; ++i) {
    all.push_back(static_cast<std::uint64_t>(latency(random)));
    histogram.Record(all.back());
  }
  std::sort(all.begin(), all.end());
  for (const double q : {0.0001, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(all.size())));
    const std::uint64_t exact = all[rank - 1];
    EXPECT_GE(histogram.QuantileNanos(q), exact) << q;
    EXPECT_LE(static_cast<double>(histogram.QuantileNanos(q)),
              static_cast<double>(exact) * (1 + 1.0 / 32) + 1)
        << q;
  }
  EXPECT_EQ(histogram.count(), all.size());
}

TEST(HistogramTest, ShortLatenciesAreExact) {
  for (std::uint64_t nanos = 0; nanos < 64; ++nanos) {
    Histogram histogram;
    histogram.Record(nanos);
    EXPECT_EQ(histogram.QuantileNanos(0.5), nanos);
  }
}

TEST(HistogramTest, HoursCountAsTheLastBucket) {
  Histogram histogram;
  histogram.Record(~std::uint64_t{0});
  EXPECT_EQ(histogram.QuantileNanos(0.5), (std::uint64_t{1} << 42) - 1);
}

}  // namespace
}  // namespace ebb::metadata_load
