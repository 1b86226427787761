#include "server/block_report_encoding.h"

#include <gtest/gtest.h>

#include <random>

namespace ebb::server {
namespace {

using hadoop::hdfs::datanode::StorageBlockReportProto;

// Decodes a report as the namenode does.
std::vector<ReplicaInfo> Decode(const StorageBlockReportProto& report) {
  std::vector<ReplicaInfo> replicas;
  for (const auto& buffer : report.blocksbuffers()) {
    std::size_t at = 0;
    const auto next = [&] {
      std::uint64_t value = 0;
      for (unsigned shift = 0;; shift += 7) {
        const auto byte = static_cast<std::uint8_t>(buffer.at(at++));
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
      }
    };
    while (at < buffer.size()) {
      ReplicaInfo replica;
      const std::uint64_t id = next();
      replica.block_id = (id >> 1) ^ (~(id & 1) + 1);
      replica.length_bytes = next();
      replica.generation_stamp = next();
      replica.state = static_cast<ReplicaState>(next());
      replicas.push_back(std::move(replica));
    }
  }
  return replicas;
}

TEST(BlockReportEncodingTest, DecodesToWhatWasEncoded) {
  const std::uint64_t seed = 20261121;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (const std::size_t count : {0U, 1U, 2U, 1000U, 20'000U}) {
    std::vector<ReplicaInfo> replicas(count);
    for (auto& replica : replicas) {
      replica.block_id = random() >> (random() % 64);
      if (random() % 2 == 0) replica.block_id = ~replica.block_id;
      replica.length_bytes = random() >> (random() % 64);
      replica.generation_stamp = random() >> (random() % 64);
      replica.state = static_cast<ReplicaState>(random() % 4);
    }
    StorageBlockReportProto report;
    EncodeBlockReport(replicas, report);
    EXPECT_EQ(report.numberofblocks(), count);
    const auto decoded = Decode(report);
    ASSERT_EQ(decoded.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(decoded[i].block_id, replicas[i].block_id);
      ASSERT_EQ(decoded[i].length_bytes, replicas[i].length_bytes);
      ASSERT_EQ(decoded[i].generation_stamp, replicas[i].generation_stamp);
      ASSERT_EQ(decoded[i].state, replicas[i].state);
    }
    for (const auto& buffer : report.blocksbuffers()) EXPECT_LE(buffer.size(), 64U << 10);
  }
}

// The expected bytes come from BlockListAsLongs.Builder of HDFS 3.5 for the same replica.
TEST(BlockReportEncodingTest, TheBytesAreThoseOfHdfs) {
  StorageBlockReportProto report;
  EncodeBlockReport({{1073741825, 1001, 300, ReplicaState::kBeingWritten, ""}}, report);
  ASSERT_EQ(report.blocksbuffers_size(), 1);
  EXPECT_EQ(report.blocksbuffers(0), std::string("\x82\x80\x80\x80\x08\xac\x02\xe9\x07\x01"));
}

}  // namespace
}  // namespace ebb::server
