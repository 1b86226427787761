#include "disk/recent_errors.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>

#include "disk/faulty_file_system.h"
#include "disk/test_support.h"

namespace ebb {
namespace {

using namespace ebb::testing;
using std::chrono::minutes;
using Fault = FaultyFileSystem::Fault;

constexpr RecentErrors::Clock::time_point kStart{std::chrono::hours(1)};

TEST(RecentErrorsTest, TheCountHalvesEveryTenMinutes) {
  RecentErrors errors;
  EXPECT_EQ(errors.Count(kStart), 0);
  errors.Add(kStart);
  errors.Add(kStart);
  EXPECT_DOUBLE_EQ(errors.Count(kStart), 2);
  EXPECT_DOUBLE_EQ(errors.Count(kStart + minutes(10)), 1);
  errors.Add(kStart + minutes(10));
  EXPECT_DOUBLE_EQ(errors.Count(kStart + minutes(20)), 1);
  // A thread that read the clock earlier.
  errors.Add(kStart);
  EXPECT_DOUBLE_EQ(errors.Count(kStart + minutes(10)), 3);
}

TEST(RecentErrorsTest, ADiskThatWorksAgainIsTrustedAfterTwoHours) {
  RecentErrors errors;
  for (int i = 0; i < 100'000; ++i) errors.Add(kStart);
  EXPECT_DOUBLE_EQ(errors.Count(kStart), 1000);
  EXPECT_GT(errors.Count(kStart + minutes(60)), 0.5);
  EXPECT_LT(errors.Count(kStart + minutes(120)), 0.5);
}

// A store with a disk a, which has block 1, and a disk b, which has block 2.
class ErringDiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = OpenStore(files_, {directory_ / "a", directory_ / "b"});
    for (const std::size_t disk : {0, 1}) {
      StoreBlock(*store_, 1 + disk, RandomBytes(1000, disk), 1001,
                 store_->Disks()[disk].storage_uuid);
    }
  }
  Result<std::unique_ptr<ReplicaWriter>> CreateOnA(std::uint64_t block_id) {
    return store_->Create({.block_id = block_id,
                           .generation_stamp = 1001,
                           .checksum = {},
                           .storage_uuid = store_->Disks()[0].storage_uuid});
  }
  // Of the disk a, rounded: a little of the count is gone at once.
  [[nodiscard]] long Errors() const { return std::lround(store_->Disks()[0].recent_errors); }

  TemporaryDirectory directory_;
  FaultyFileSystem files_;
  std::unique_ptr<BlockStore> store_;
};

TEST_F(ErringDiskTest, AReadThatFailsCountsForItsDisk) {
  EXPECT_EQ(Errors(), 0);
  files_.Set(Fault::kFailReads, "/blk_1");
  EXPECT_FALSE(ReadBlock(*store_, 1).has_value());
  EXPECT_GE(Errors(), 1);
  EXPECT_FALSE(store_->Disks()[0].failed) << "a probe succeeds";
  EXPECT_EQ(store_->Disks()[1].recent_errors, 0);
}

TEST_F(ErringDiskTest, WritesAndSyncsThatFailCount) {
  const auto writer = CreateOnA(3);
  ASSERT_TRUE(writer.has_value());
  files_.Set(Fault::kFailWrites, "/blk_3");
  EXPECT_FALSE(WriteBytes(**writer, 0, RandomBytes(1000, 3)).has_value());
  const long after_write = Errors();
  EXPECT_GE(after_write, 1);
  files_.Set(Fault::kFailSync, "/blk_1");
  EXPECT_FALSE(store_->Sync(1, 1001).has_value());
  EXPECT_GT(Errors(), after_write);
}

TEST_F(ErringDiskTest, AFullDiskAndAFileThatIsGoneAreNoErrors) {
  const auto writer = CreateOnA(3);
  ASSERT_TRUE(writer.has_value());
  files_.Set(Fault::kFillDisk, "/blk_3");
  EXPECT_FALSE(WriteBytes(**writer, 0, RandomBytes(1000, 3)).has_value());
  files_.Set(Fault::kNone);
  for (const auto& file : directory_.Find("/blk_1")) std::filesystem::remove(file);
  EXPECT_FALSE(ReadBlock(*store_, 1).has_value());
  EXPECT_EQ(Errors(), 0);
}

// sendfile reads past the file's own methods.
TEST_F(ErringDiskTest, ACallOnADescriptorThatFailsCounts) {
  const auto reader = store_->OpenReader(1, 1001);
  ASSERT_TRUE(reader.has_value());
  const auto called = (*reader)->Call([] { return Status(Fail(ErrorCode::kIo, "sendfile")); });
  EXPECT_FALSE(called.has_value());
  EXPECT_EQ(Errors(), 1);
  EXPECT_TRUE((*reader)->Call([] { return Status(); }).has_value());
  EXPECT_EQ(Errors(), 1);
}

}  // namespace
}  // namespace ebb
