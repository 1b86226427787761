#include "metadata_load/mix.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

namespace ebb::metadata_load {
namespace {

constexpr unsigned kSeed = 11;
constexpr int kDraws = 2'000'000;

std::array<double, kMixOperations> Drawn(double create_percent) {
  std::mt19937_64 random(kSeed);
  MixSampler sampler(create_percent);
  std::array<double, kMixOperations> percent = {};
  for (int i = 0; i < kDraws; ++i) {
    percent[static_cast<std::size_t>(sampler.Draw(random))] += 100.0 / kDraws;
  }
  return percent;
}

double Of(const std::array<double, kMixOperations>& percent, MixOperation operation) {
  return percent[static_cast<std::size_t>(operation)];
}

// The percentages of the paper, each within five standard deviations of a draw.
TEST(MixTest, TheMixHasThePercentagesOfSpotify) {
  const auto percent = Drawn(kSpotifyCreates);
  EXPECT_NEAR(Of(percent, MixOperation::kRead), 68.73, 0.17);
  EXPECT_NEAR(Of(percent, MixOperation::kStatFile), 13.04, 0.12);
  EXPECT_NEAR(Of(percent, MixOperation::kStatDirectory), 3.96, 0.07);
  EXPECT_NEAR(Of(percent, MixOperation::kListDirectory), 8.52, 0.10);
  EXPECT_NEAR(Of(percent, MixOperation::kListFile), 0.49, 0.025);
  EXPECT_NEAR(Of(percent, MixOperation::kCreate), 2.7, 0.06);
  EXPECT_NEAR(Of(percent, MixOperation::kRename), 1.3, 0.04);
  EXPECT_NEAR(Of(percent, MixOperation::kDelete), 0.75, 0.03);
  EXPECT_NEAR(Of(percent, MixOperation::kSetReplication), 0.14, 0.014);
  EXPECT_NEAR(Of(percent, MixOperation::kSetOwnerOfDirectory), 0.32, 0.02);
  EXPECT_NEAR(Of(percent, MixOperation::kSetPermissionOfFile), 0.02, 0.006);
  EXPECT_NEAR(Of(percent, MixOperation::kSetPermissionOfDirectory), 0.01, 0.005);
  EXPECT_NEAR(Of(percent, MixOperation::kMkdir), 0.02, 0.006);
}

TEST(MixTest, MoreCreatesTakeTheirShareFromAllOthersAlike) {
  const auto spotify = MixPercentages(kSpotifyCreates);
  for (const double creates : {5.0, 10.0, 20.0}) {
    const auto percent = MixPercentages(creates);
    EXPECT_NEAR(std::accumulate(percent.begin(), percent.end(), 0.0), 100, 1e-9);
    EXPECT_DOUBLE_EQ(Of(percent, MixOperation::kCreate), creates);
    EXPECT_NEAR(Of(percent, MixOperation::kRead) / Of(percent, MixOperation::kDelete),
                Of(spotify, MixOperation::kRead) / Of(spotify, MixOperation::kDelete), 1e-9);
    EXPECT_NEAR(Of(Drawn(creates), MixOperation::kCreate), creates, 0.15);
  }
}

TEST(MixTest, PopularityFollowsZipfsLaw) {
  std::mt19937_64 random(kSeed);
  const ZipfSampler zipf(1000);
  std::vector<int> drawn(1000);
  for (int i = 0; i < kDraws; ++i) ++drawn.at(zipf.Draw(1000, random));
  // The first is drawn 2^0.99 times as often as the second, 10^0.99 times as often as the tenth.
  EXPECT_NEAR(1.0 * drawn[0] / drawn[1], 1.986, 0.03);
  EXPECT_NEAR(1.0 * drawn[0] / drawn[9], 9.77, 0.25);
  EXPECT_GT(drawn[999], 0);
}

TEST(MixTest, PopularityKnowsOnlyTheFilesThatLive) {
  std::mt19937_64 random(kSeed);
  const ZipfSampler zipf(100);
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(zipf.Draw(1, random), 0u);
    EXPECT_LT(zipf.Draw(5, random), 5u);
    EXPECT_LT(zipf.Draw(100'000, random), 100u);
  }
}

}  // namespace
}  // namespace ebb::metadata_load
