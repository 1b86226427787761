// The codes of block groups against Hadoop's, and against each loss that they bear.
#include "client/group_code.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <string>

namespace ebb::client {
namespace {

using Cells = std::vector<std::vector<std::byte>>;

ErasurePolicy PolicyOf(std::uint32_t id) {
  hadoop::hdfs::ErasureCodingPolicyProto proto;
  proto.set_id(id);
  return ToErasurePolicy(proto).value();
}

std::vector<const std::byte*> Sources(const Cells& cells, const std::vector<std::size_t>& of) {
  std::vector<const std::byte*> pointers;
  for (const std::size_t i : of) pointers.push_back(cells[i].data());
  return pointers;
}

std::vector<std::byte*> Targets(Cells& cells) {
  std::vector<std::byte*> pointers;
  for (auto& cell : cells) pointers.push_back(cell.data());
  return pointers;
}

std::vector<std::size_t> First(std::size_t n) {
  std::vector<std::size_t> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = i;
  return all;
}

std::string ParityText(std::uint32_t id) {
  const GroupCode code(PolicyOf(id));
  Cells data(code.data_units(), std::vector<std::byte>(4));
  for (std::size_t d = 0; d < data.size(); ++d) {
    for (std::size_t i = 0; i < 4; ++i) data[d][i] = static_cast<std::byte>(17 * d + 59 * i + 3);
  }
  Cells parities(code.units() - code.data_units(), std::vector<std::byte>(4));
  code.encoder().Apply(Sources(data, First(data.size())), Targets(parities), 4);
  std::string text;
  for (const auto& parity : parities) {
    for (const auto byte : parity) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  }
  return text;
}

// Hadoop 3.5.0 printed them: RSRawEncoder, RSLegacyRawEncoder and XORRawEncoder of the same data.
TEST(GroupCodeTest, ParitiesAreThoseOfHadoop) {
  EXPECT_EQ(ParityText(1), "1d21b8a01fdd82d693b0cb95");
  EXPECT_EQ(ParityText(2), "2e280256b9206335");
  EXPECT_EQ(ParityText(3), "bec80c4b390826899cb19d73");
  EXPECT_EQ(ParityText(4), "1771f371");
  EXPECT_EQ(ParityText(5), "5777f2101aa5e51ec4e1aa5c121d73b4");
}

TEST(GroupCodeTest, EachLossOfAsManyBlocksAsThereAreParitiesIsDecoded) {
  std::mt19937 random(1);
  for (std::uint32_t id = 1; id <= 5; ++id) {
    const GroupCode code(PolicyOf(id));
    constexpr std::size_t kBytes = 40;
    Cells all(code.units(), std::vector<std::byte>(kBytes));
    for (std::size_t i = 0; i < code.data_units(); ++i) {
      for (auto& byte : all[i]) byte = static_cast<std::byte>(random());
    }
    Cells parities(code.units() - code.data_units(), std::vector<std::byte>(kBytes));
    code.encoder().Apply(Sources(all, First(code.data_units())), Targets(parities), kBytes);
    std::ranges::copy(parities, all.begin() + static_cast<std::ptrdiff_t>(code.data_units()));
    for (unsigned pattern = 0; pattern < 1U << code.units(); ++pattern) {
      if (std::popcount(pattern) != static_cast<int>(parities.size())) continue;
      std::vector<std::size_t> lost;
      std::vector<std::size_t> left;
      for (std::size_t i = 0; i < all.size(); ++i) {
        ((pattern >> i & 1) != 0 ? lost : left).push_back(i);
      }
      Cells decoded(lost.size(), std::vector<std::byte>(kBytes));
      code.Decoder(left, lost).Apply(Sources(all, left), Targets(decoded), kBytes);
      for (std::size_t i = 0; i < lost.size(); ++i) {
        ASSERT_EQ(decoded[i], all[lost[i]]) << code.policy().name << " " << pattern;
      }
    }
  }
}

TEST(GroupCodeTest, APolicyWithoutASchemaIsKnownByItsId) {
  EXPECT_EQ(PolicyOf(3).name, "RS-LEGACY-6-3-1024k");
  EXPECT_EQ(PolicyOf(5).units(), 14U);
  EXPECT_TRUE(CheckKnown(PolicyOf(4), "/f"));
  const auto unknown = CheckKnown(PolicyOf(65), "/f");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kUnsupported);
  hadoop::hdfs::ErasureCodingPolicyProto replication;
  replication.set_id(0);
  EXPECT_FALSE(ToErasurePolicy(replication));
}

TEST(GroupCodeTest, BlocksHaveTheLengthsOfHdfs) {
  const ErasurePolicy policy{"p", "rs", 3, 2, 8};
  EXPECT_EQ(policy.BlockBytes(0, 4), 0U);
  EXPECT_EQ(policy.BlockBytes(5, 0), 5U);
  EXPECT_EQ(policy.BlockBytes(5, 1), 0U);
  EXPECT_EQ(policy.BlockBytes(5, 4), 5U);
  EXPECT_EQ(policy.BlockBytes(24 + 9, 0), 16U);
  EXPECT_EQ(policy.BlockBytes(24 + 9, 1), 9U);
  EXPECT_EQ(policy.BlockBytes(24 + 9, 2), 8U);
  EXPECT_EQ(policy.BlockBytes(24 + 9, 3), 16U);
}

}  // namespace
}  // namespace ebb::client
