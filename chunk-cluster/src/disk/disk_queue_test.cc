#include "disk/disk_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "disk/faulty_file_system.h"
#include "disk/test_support.h"

namespace ebb {
namespace {

using namespace ebb::testing;
using std::chrono::milliseconds;
using std::chrono::minutes;

void AwaitWaiting(DiskQueue& queue, std::size_t waiting) {
  while (queue.GetLoad().waiting != waiting) std::this_thread::yield();
}

TEST(DiskQueueTest, CallsBeyondTheLimitWaitInTheOrderOfTheirArrival) {
  DiskQueue queue("/d");
  queue.SetOptions({.max_calls = 1, .max_waiting = 8, .patience = minutes(1)});
  std::optional<DiskQueue::Permit> first(queue.Enter().value());
  std::mutex mutex;
  std::vector<int> order;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const auto permit = queue.Enter();
      EXPECT_EQ(queue.GetLoad().calls, 1U);
      const std::lock_guard lock(mutex);
      order.push_back(i);
    });
    AwaitWaiting(queue, static_cast<std::size_t>(i) + 1);
  }
  first.reset();
  threads.clear();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(queue.GetLoad().calls, 0U);
  EXPECT_EQ(queue.GetLoad().refused, 0U);
}

TEST(DiskQueueTest, NobodyWaitsForLongerThanThePatience) {
  DiskQueue queue("/d");
  queue.SetOptions({.max_calls = 1, .max_waiting = 8, .patience = milliseconds(50)});
  const auto hangs = queue.Enter().value();
  const auto late = queue.Enter();
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, ErrorCode::kBusy);
  EXPECT_TRUE(late.error().message.starts_with("disk /d does not keep up: 1 calls"))
      << late.error().message;
  // The next one does not even wait.
  queue.SetOptions({.max_calls = 1, .max_waiting = 8, .patience = milliseconds(1)});
  EXPECT_FALSE(queue.Enter().has_value());
  EXPECT_EQ(queue.GetLoad().waiting, 0U);
  EXPECT_EQ(queue.GetLoad().refused, 2U);
  const auto step = queue.EnterAtOnce();
  EXPECT_EQ(queue.GetLoad().calls, 2U);
}

TEST(DiskQueueTest, ACallThatFindsTooManyWaitingIsRefused) {
  DiskQueue queue("/d");
  queue.SetOptions({.max_calls = 1, .max_waiting = 1, .patience = minutes(1)});
  std::optional<DiskQueue::Permit> first(queue.Enter().value());
  auto second = std::async(std::launch::async, [&] { return queue.Enter().has_value(); });
  AwaitWaiting(queue, 1);
  EXPECT_FALSE(queue.Enter().has_value());
  first.reset();
  EXPECT_TRUE(second.get());
}

TEST(DiskQueueTest, TheTimeOfCallsAddsUpWhileTheyRun) {
  DiskQueue queue("/d");
  const auto start = DiskQueue::Clock::now();
  const auto first = queue.EnterAtOnce();
  const auto second = queue.EnterAtOnce();
  while (queue.GetLoad().call_micros < 10'000) std::this_thread::yield();
  // Two calls, so that 10 ms of calls take half as long.
  EXPECT_GE(DiskQueue::Clock::now() - start, milliseconds(5));
}

// A disk that hangs holds as many threads as calls are allowed. The others are told in time, and
// the other disk serves.
TEST(DiskQueueTest, ADiskThatHangsTakesNoThreadsFromTheOthers) {
  TemporaryDirectory directory;
  FaultyFileSystem files;
  const auto store =
      OpenStore(files, {directory / "a", directory / "b"}, {},
                {.max_calls = 2, .max_waiting = 4, .patience = milliseconds(100)});
  for (const std::size_t disk : {0, 1}) {
    StoreBlock(*store, 1 + disk, RandomBytes(1000, disk), 1001, store->Disks()[disk].storage_uuid);
  }
  auto writer = store->Create({.block_id = 3,
                               .generation_stamp = 1001,
                               .checksum = {},
                               .storage_uuid = store->Disks()[1].storage_uuid});
  ASSERT_TRUE(writer.has_value());
  files.Set(FaultyFileSystem::Fault::kHang, directory / "b");
  // One hangs within the mutex of the replica.
  auto written = std::async(std::launch::async, [&] {
    return WriteBytes(**writer, 0, RandomBytes(1000, 3)).has_value();
  });
  ASSERT_TRUE(files.AwaitHanging(1, std::chrono::seconds(10)));
  auto hanging =
      std::async(std::launch::async, [&] { return ReadBlock(*store, 2).has_value(); });
  ASSERT_TRUE(files.AwaitHanging(2, std::chrono::seconds(10)));
  for (int i = 0; i < 20; ++i) {
    for (const std::uint64_t id : {2, 3}) {
      const auto read = ReadBlock(*store, id);
      ASSERT_FALSE(read.has_value());
      EXPECT_EQ(read.error().code, ErrorCode::kBusy) << read.error().message;
    }
    EXPECT_TRUE(ReadBlock(*store, 1).has_value());
  }
  EXPECT_TRUE(files.AwaitHanging(2, std::chrono::seconds(0)));
  EXPECT_EQ(store->Disks()[1].load.calls, 2U);
  EXPECT_GE(store->Disks()[1].load.refused, 20U);
  EXPECT_EQ(store->Disks()[0].load.refused, 0U);
  files.Set(FaultyFileSystem::Fault::kNone);
  EXPECT_TRUE(written.get());
  EXPECT_TRUE(hanging.get());
  EXPECT_TRUE(ReadBlock(*store, 2).has_value()) << "the replica was not dropped";
}

// A store with one disk that works on one call at a time, and a read of block 77 that hangs in it.
class BusyDiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = OpenStore(files_, {directory_ / "a"}, {},
                       {.max_calls = 1, .max_waiting = 4, .patience = milliseconds(50)});
    StoreBlock(*store_, 77, RandomBytes(1000, 77));
  }
  void TearDown() override {
    files_.Set(FaultyFileSystem::Fault::kNone);
    if (hanging_.valid()) hanging_.wait();
  }
  void Hang() {
    files_.Set(FaultyFileSystem::Fault::kHang, "/blk_77");
    hanging_ =
        std::async(std::launch::async, [this] { return ReadBlock(*store_, 77).has_value(); });
    ASSERT_TRUE(files_.AwaitHanging(1, std::chrono::seconds(10)));
  }
  void GoOn() {
    files_.Set(FaultyFileSystem::Fault::kNone);
    EXPECT_TRUE(hanging_.get());
  }
  // Writes 5000 bytes, of which 1000 are acknowledged.
  std::unique_ptr<ReplicaWriter> Write(std::uint64_t id) {
    auto writer = store_->Create({.block_id = id, .generation_stamp = 1001, .checksum = {}});
    EXPECT_TRUE(writer.has_value());
    EXPECT_TRUE(WriteBytes(**writer, 0, std::span(data_).first(5000)).has_value());
    (*writer)->Acknowledge(1000);
    return *std::move(writer);
  }
  // A block recovery that keeps what the replica says it has.
  void Recover(std::uint64_t id, std::uint64_t stamp, std::size_t expected) {
    const auto found = store_->StartRecovery(id, 1001, stamp);
    ASSERT_TRUE(found.has_value() && found->has_value());
    EXPECT_EQ((*found)->length_bytes, expected);
    const auto done = store_->FinishRecovery(id, stamp, (*found)->length_bytes);
    ASSERT_TRUE(done.has_value()) << done.error().message;
    const auto read = ReadBlock(*store_, id);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_TRUE(std::ranges::equal(*read, std::span(data_).first(expected)));
  }

  const std::vector<std::byte> data_ = RandomBytes(5100, 1);
  TemporaryDirectory directory_;
  FaultyFileSystem files_;
  std::unique_ptr<BlockStore> store_;
  std::future<bool> hanging_;
};

TEST_F(BusyDiskTest, ACutIsRefusedAsAWholeOrNotAtAll) {
  const auto writer = Write(1);
  Hang();
  const auto refused = store_->RecoverWriter(1, 1001, 1002, 1000, 5000);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy) << refused.error().message;
  GoOn();
  Recover(1, 1005, 5000);
}

// After each step that may fail, the recovery tells of bytes that have their checksums.
TEST_F(BusyDiskTest, ACutThatBrokeOffIsFinishedBeforeTheReplicaIsDescribed) {
  bool whole = false;
  std::uint64_t id = 1;
  for (std::int64_t step = 0; !whole; ++step, ++id) {
    ASSERT_LT(step, 20);
    const auto writer = Write(id);
    files_.DieAfter(step);
    whole = store_->RecoverWriter(id, 1001, 1002, 1000, 5000).has_value();
    files_.Revive();
    Recover(id, 1005, 1000);
  }
  EXPECT_GT(id, 5U);
}

// Whoever wants the replica of a writer that hangs is told in time.
TEST_F(BusyDiskTest, NobodyWaitsForAWriterThatHangs) {
  const auto writer = Write(1);
  files_.Set(FaultyFileSystem::Fault::kHang, "/blk_1");
  hanging_ = std::async(std::launch::async, [&] {
    return WriteBytes(*writer, 5000, std::span(data_).subspan(5000)).has_value();
  });
  ASSERT_TRUE(files_.AwaitHanging(1, std::chrono::seconds(10)));
  EXPECT_EQ(store_->StartRecovery(1, 1001, 1005).error().code, ErrorCode::kBusy);
  EXPECT_EQ(store_->RecoverWriter(1, 1001, 1002, 1000, 5000).error().code, ErrorCode::kBusy);
  EXPECT_EQ(store_->RecoverClose(1, 1001, 1002, 5000).error().code, ErrorCode::kBusy);
  const auto again = store_->Create({.block_id = 1, .generation_stamp = 1003, .checksum = {}});
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, ErrorCode::kBusy);
  GoOn();
  Recover(1, 1005, 5100);
}

// A call of a disk that hangs has no end, and a recovery or an RPC would take its thread along.
TEST(SlowDiskTest, NoChangeBeginsOnADiskThatDoesNotAnswer) {
  TemporaryDirectory directory;
  FaultyFileSystem files;
  const auto opened = BlockStore::Open(
      files, {.directories = {directory / "a"}, .slow_disk_after = milliseconds(500)});
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  auto& store = **opened;
  ASSERT_TRUE(store.Attach("CID-1", "BP-1", 7).has_value());
  const auto data = RandomBytes(1000, 1);
  StoreBlock(store, 1, data);
  const auto writer = store.Create({.block_id = 2, .generation_stamp = 1001, .checksum = {}});
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE(WriteBytes(**writer, 0, data).has_value());
  (*writer)->Acknowledge(1000);
  ASSERT_TRUE(store.StartRecovery(1, 1001, 1005).has_value());
  // Only the probe hangs: a call that began would succeed.
  files.Set(FaultyFileSystem::Fault::kHang, directory / "a/probe");
  auto probe = std::async(std::launch::async, [&] { return store.ProbeDisk(0); });
  while (!store.Disks()[0].slow) std::this_thread::yield();
  const auto expect_busy = [](const char* what, const auto& result) {
    ASSERT_FALSE(result.has_value()) << what;
    EXPECT_EQ(result.error().code, ErrorCode::kBusy) << what << ": " << result.error().message;
  };
  expect_busy("second step", store.FinishRecovery(1, 1005, 500));
  expect_busy("first step", store.StartRecovery(2, 1001, 1005));
  expect_busy("pipeline", store.RecoverWriter(2, 1001, 1002, 1000, 1000));
  expect_busy("append", store.RecoverAppend(2, 1001, 1002, 1000));
  expect_busy("close", store.RecoverClose(2, 1001, 1002, 1000));
  expect_busy("read", store.OpenReader(2, 1001));
  files.Set(FaultyFileSystem::Fault::kNone);
  EXPECT_TRUE(probe.get());
  EXPECT_TRUE(store.FinishRecovery(1, 1005, 500).has_value());
  EXPECT_TRUE(store.RecoverClose(2, 1001, 1002, 1000).has_value());
  EXPECT_EQ(*ReadBlock(store, 2), data);
}

}  // namespace
}  // namespace ebb
