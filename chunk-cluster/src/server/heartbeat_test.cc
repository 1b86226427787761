#include "server/heartbeat.h"

#include <google/protobuf/io/coded_stream.h>
#include <gtest/gtest.h>

namespace ebb::server {
namespace {

DiskStatus DiskWith(const std::string& uuid, std::uint64_t call_micros) {
  DiskStatus disk;
  disk.storage_uuid = uuid;
  disk.directory = "/" + uuid;
  disk.load.call_micros = call_micros;
  return disk;
}

TEST(QueueMeterTest, MeansAreThoseSinceTheLastMeasurement) {
  QueueMeter meter;
  const QueueMeter::Clock::time_point start{std::chrono::hours(1)};
  const auto later = start + std::chrono::seconds(2);
  EXPECT_TRUE(meter.Measure({DiskWith("a", 7'000'000)}, start).empty());
  const auto means = meter.Measure({DiskWith("a", 13'000'000), DiskWith("b", 0)}, later);
  EXPECT_EQ(means, (std::map<std::string, double>{{"a", 3.0}}));
  const auto idle = meter.Measure({DiskWith("a", 13'000'000)}, later + std::chrono::seconds(1));
  EXPECT_EQ(idle, (std::map<std::string, double>{{"a", 0.0}}));
}

TEST(HeartbeatTest, QueuedCallsGoInAFieldThatAStockNamenodeIgnores) {
  const auto request = MakeHeartbeat({}, {DiskWith("a", 0), DiskWith("b", 0)},
                                     {.queued_calls = {{"b", 2.504}}});
  ASSERT_EQ(request.reports_size(), 2);
  EXPECT_TRUE(request.reports(0).unknown_fields().empty());
  const auto& fields = request.reports(1).unknown_fields();
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(fields.data()),
                                            static_cast<int>(fields.size()));
  EXPECT_EQ(in.ReadTag(), static_cast<std::uint32_t>(kQueuedCallsField) << 3U);
  std::uint64_t value = 0;
  EXPECT_TRUE(in.ReadVarint64(&value));
  EXPECT_EQ(value, 250U);
  EXPECT_TRUE(in.ExpectAtEnd());
}

TEST(HeartbeatTest, RecentErrorsGoInAFieldOfTheirOwn) {
  auto errs = DiskWith("b", 0);
  errs.recent_errors = 1.754;
  const auto request =
      MakeHeartbeat({}, {DiskWith("a", 0), errs}, {.queued_calls = {{"b", 2.5}}});
  EXPECT_TRUE(request.reports(0).unknown_fields().empty()) << "no errors are not told";
  const auto& fields = request.reports(1).unknown_fields();
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(fields.data()),
                                            static_cast<int>(fields.size()));
  std::map<std::uint32_t, std::uint64_t> values;
  while (const auto tag = in.ReadTag()) EXPECT_TRUE(in.ReadVarint64(&values[tag >> 3U]));
  EXPECT_EQ(values, (std::map<std::uint32_t, std::uint64_t>{{kQueuedCallsField, 250},
                                                            {kRecentErrorsField, 175}}));
}

}  // namespace
}  // namespace ebb::server
