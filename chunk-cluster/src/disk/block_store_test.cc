#include "disk/block_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "disk/faulty_file_system.h"
#include "disk/test_support.h"
#include "disk/verified_reader.h"

namespace ebb {
namespace {

using Fault = FaultyFileSystem::Fault;
using namespace testing;

class BlockStoreTest : public ::testing::Test {
 protected:
  void Open() {
    store_ = OpenStore(files_, {directory_ / "a", directory_ / "b"});
    store_->SetListener(&listener_);
  }
  void Reopen() {
    store_.reset();
    Open();
  }
  std::unique_ptr<ReplicaWriter> Create(std::uint64_t id, std::uint64_t stamp = 1001,
                                        ReplicaState state = ReplicaState::kBeingWritten) {
    auto writer =
        store_->Create({.block_id = id, .generation_stamp = stamp, .checksum = {}, .state = state});
    EXPECT_TRUE(writer.has_value()) << writer.error().message;
    return writer ? std::move(writer).value() : nullptr;
  }
  void ExpectBlock(std::uint64_t id, const std::vector<std::byte>& data) {
    const auto read = ReadBlock(*store_, id);
    ASSERT_TRUE(read.has_value()) << id << ": " << read.error().message;
    EXPECT_EQ(*read, data) << id;
  }
  std::size_t live_disks() const {
    const auto disks = store_->Disks();
    return static_cast<std::size_t>(
        std::ranges::count_if(disks, [](const auto& disk) { return !disk.failed; }));
  }

  TemporaryDirectory directory_;
  FaultyFileSystem files_;
  RecordingListener listener_;
  std::unique_ptr<BlockStore> store_;
};

TEST_F(BlockStoreTest, BlocksOfAllLengthsSurviveARestart) {
  Open();
  for (const auto size : kBoundarySizes) StoreBlock(*store_, 100 + size, RandomBytes(size, size));
  for (const auto size : kBoundarySizes) ExpectBlock(100 + size, RandomBytes(size, size));
  const auto uuid = store_->server_uuid();
  Reopen();
  EXPECT_EQ(store_->server_uuid(), uuid);
  for (const auto size : kBoundarySizes) ExpectBlock(100 + size, RandomBytes(size, size));
  std::size_t reported = 0;
  for (const auto& disk : store_->Disks()) reported += store_->Replicas(disk.storage_uuid).size();
  EXPECT_EQ(reported, std::size(kBoundarySizes));
}

TEST_F(BlockStoreTest, PacketsOfAnyLengthMakeTheSameBlock) {
  Open();
  const auto data = RandomBytes(5000, 3);
  auto writer = Create(1);
  // A client that flushes inside a chunk sends that chunk again from its beginning.
  for (const std::size_t end : {100U, 512U, 700U, 701U, 1536U, 5000U}) {
    const std::size_t start = writer->length() / 512 * 512;
    ASSERT_TRUE(WriteBytes(*writer, start, std::span(data).subspan(start, end - start)));
    const auto reader = store_->OpenReader(1, 0);
    ASSERT_TRUE(reader.has_value());
    EXPECT_EQ((*reader)->length(), end);
    ASSERT_TRUE(ReadBlock(*store_, 1).has_value());
  }
  ASSERT_TRUE(writer->Finish(false));
  ExpectBlock(1, data);
  // A client that appends fills the last chunk first.
  auto appender = store_->Append(1, 1001, 1002, 5000);
  ASSERT_TRUE(appender.has_value()) << appender.error().message;
  const auto more = RandomBytes(2000, 4);
  ASSERT_TRUE(WriteBytes(**appender, 5000, std::span(more).first(120)));
  ASSERT_TRUE(WriteBytes(**appender, 5120, std::span(more).subspan(120)));
  ASSERT_TRUE((*appender)->Finish(false));
  auto all = data;
  all.insert(all.end(), more.begin(), more.end());
  ExpectBlock(1, all);
  Reopen();
  ExpectBlock(1, all);
  EXPECT_EQ(store_->Find(1)->generation_stamp, 1002U);
}

TEST_F(BlockStoreTest, GapsAndDamagedPacketsAreRefused) {
  Open();
  const auto data = RandomBytes(1024, 1);
  auto writer = Create(1);
  const auto gap = WriteBytes(*writer, 512, data);
  ASSERT_FALSE(gap.has_value());
  EXPECT_EQ(gap.error().code, ErrorCode::kInvalid);
  std::vector<std::byte> sums(8);
  const auto damaged = writer->Write(0, data, sums);
  ASSERT_FALSE(damaged.has_value());
  EXPECT_EQ(damaged.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(writer->length(), 0U);
}

TEST_F(BlockStoreTest, AnUnfinishedWriteLeavesNoFinalizedBlock) {
  Open();
  const auto data = RandomBytes(70'000, 1);
  ASSERT_TRUE(WriteBytes(*Create(1), 0, data));
  ASSERT_TRUE(WriteBytes(*Create(2, 1001, ReplicaState::kTemporary), 0, data));
  EXPECT_EQ(store_->Find(1)->state, ReplicaState::kBeingWritten);
  EXPECT_FALSE(store_->Find(2).has_value());
  EXPECT_TRUE(directory_.Find("blk_2").empty());
  EXPECT_TRUE(listener_.events().empty());
  Reopen();
  EXPECT_EQ(store_->Find(1)->state, ReplicaState::kWaiting);
  EXPECT_EQ(store_->Find(1)->length_bytes, data.size());
  EXPECT_FALSE(store_->Find(2).has_value());
}

TEST_F(BlockStoreTest, ATornTailIsCutAtTheStart) {
  Open();
  const auto data = RandomBytes(10'000, 1);
  ASSERT_TRUE(WriteBytes(*Create(1), 0, data));
  store_.reset();
  FlipByte(directory_.Find("rbw/blk_1").front().ends_with(".meta")
               ? directory_.Find("rbw/blk_1").back()
               : directory_.Find("rbw/blk_1").front(),
           6000);
  Open();
  EXPECT_EQ(store_->Find(1)->state, ReplicaState::kWaiting);
  EXPECT_EQ(store_->Find(1)->length_bytes, 6000U / 512 * 512);
  EXPECT_TRUE(ReadBlock(*store_, 1).has_value());
}

TEST_F(BlockStoreTest, ARebuiltPipelineTakesOverAndKeepsWhatWasAcknowledged) {
  Open();
  const auto data = RandomBytes(3000, 1);
  auto first = Create(1);
  ASSERT_TRUE(WriteBytes(*first, 0, std::span(data).first(1600)));
  first->Acknowledge(1000);
  bool woken = false;
  first->OnTakeOver([&] { woken = true; });
  EXPECT_FALSE(store_->RecoverWriter(1, 1001, 1002, 1001, 3000).has_value());
  auto second = store_->RecoverWriter(1, 1001, 1002, 1000, 3000);
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_TRUE(woken);
  EXPECT_EQ((*second)->length(), 1000U);
  const auto late = WriteBytes(*first, 1024, std::span(data).subspan(1024, 100));
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, ErrorCode::kShutdown);
  first.reset();
  ASSERT_TRUE(WriteBytes(**second, 512, std::span(data).subspan(512)));
  ASSERT_TRUE((*second)->Finish(false));
  ExpectBlock(1, data);
  EXPECT_EQ(store_->Find(1)->generation_stamp, 1002U);
}

TEST_F(BlockStoreTest, RecoveryBringsReplicasToOneLength) {
  Open();
  const auto data = RandomBytes(3000, 1);
  ASSERT_TRUE(WriteBytes(*Create(1), 0, data));
  const auto found = store_->StartRecovery(1, 1001, 1005);
  ASSERT_TRUE(found.has_value() && found->has_value());
  EXPECT_EQ((*found)->length_bytes, 3000U);
  EXPECT_EQ(store_->Find(1)->state, ReplicaState::kUnderRecovery);
  EXPECT_FALSE(store_->FinishRecovery(1, 1004, 700).has_value());
  const auto done = store_->FinishRecovery(1, 1005, 700);
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(done->state, ReplicaState::kFinalized);
  ExpectBlock(1, {data.begin(), data.begin() + 700});
  const auto none = store_->StartRecovery(2, 1001, 1005);
  ASSERT_TRUE(none.has_value());
  EXPECT_FALSE(none->has_value());
}

TEST_F(BlockStoreTest, AFinalizedReplicaIsCut) {
  Open();
  const auto data = RandomBytes(3000, 1);
  std::uint64_t stamp = 1001;
  // Within a chunk, at a chunk, within the first chunk.
  for (const std::size_t length : {2600, 2048, 2047, 1}) {
    if (stamp == 1001) {
      auto writer = Create(1);
      ASSERT_TRUE(WriteBytes(*writer, 0, data));
      ASSERT_TRUE(writer->Finish(false));
    }
    const auto found = store_->StartRecovery(1, stamp, stamp + 1);
    ASSERT_TRUE(found.has_value() && found->has_value());
    EXPECT_EQ((*found)->state, ReplicaState::kFinalized);
    ++stamp;
    const auto done = store_->FinishRecovery(1, stamp, length);
    ASSERT_TRUE(done.has_value()) << done.error().message;
    EXPECT_EQ(done->length_bytes, length);
    EXPECT_EQ(done->generation_stamp, stamp);
    const std::vector<std::byte> cut = {data.begin(),
                                        data.begin() + static_cast<std::ptrdiff_t>(length)};
    ExpectBlock(1, cut);
    Reopen();
    ExpectBlock(1, cut);
    EXPECT_EQ(store_->Find(1)->state, ReplicaState::kFinalized);
  }
}

// A read that is under way while its replica is cut fails, and says nothing of the replica that is
// there now.
TEST_F(BlockStoreTest, AReadDuringACutDropsNoReplica) {
  Open();
  const auto data = RandomBytes(300'000, 1);
  const std::vector<std::byte> cut = {data.begin(), data.begin() + 1300};
  StoreBlock(*store_, 1, data);
  const auto reader = store_->OpenReader(1, 1001);
  ASSERT_TRUE(reader.has_value());
  auto verified = OpenVerifiedReader(*store_, 1, 1001, data.size(), 0);
  ASSERT_TRUE(verified.has_value());
  std::vector<std::byte> out(2048);
  ASSERT_TRUE((*verified)->Read(out));
  ASSERT_TRUE(store_->StartRecovery(1, 1001, 1005).has_value());
  ASSERT_TRUE(store_->FinishRecovery(1, 1005, 1300).has_value());
  const auto events = listener_.events();

  const auto read = (*verified)->Read(out);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::kCannotTell) << read.error().message;
  for (const auto code : {ErrorCode::kCorrupt, ErrorCode::kIo}) {
    Error error{code, "a test says so"};
    ReportBad(*store_, **reader, error);
    EXPECT_EQ(error.code, ErrorCode::kCannotTell);
  }
  EXPECT_EQ(listener_.events(), events) << "the namenode hears nothing of the new replica";
  ExpectBlock(1, cut);

  // Of the replica as it is now, it does.
  const auto now = store_->OpenReader(1, 1005);
  ASSERT_TRUE(now.has_value());
  Error error{ErrorCode::kCorrupt, "a test says so"};
  ReportBad(*store_, **now, error);
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_EQ(listener_.events().back(), "corrupt 1");
  error.code = ErrorCode::kIo;
  ReportBad(*store_, **now, error);
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_EQ(listener_.events().back(), "deleted 1");
  EXPECT_FALSE(store_->Find(1).has_value());
}

// The server dies at the first, second, ... change of a file while it cuts a replica. Whatever is
// on its disk, the next attempt ends with the right bytes.
TEST_F(BlockStoreTest, ACutThatBrokeOffIsRepeated) {
  const auto data = RandomBytes(3000, 1);
  const std::vector<std::byte> cut = {data.begin(), data.begin() + 1300};
  bool whole = false;
  for (std::int64_t step = 0; !whole; ++step) {
    ASSERT_LT(step, 30);
    Reopen();
    auto writer = Create(1);
    ASSERT_TRUE(WriteBytes(*writer, 0, data));
    ASSERT_TRUE(writer->Finish(false));
    writer.reset();
    ASSERT_TRUE(store_->StartRecovery(1, 1001, 1005).has_value());
    files_.DieAfter(step);
    whole = store_->FinishRecovery(1, 1005, 1300).has_value();
    files_.Revive();
    Reopen();
    const auto found = store_->StartRecovery(1, 1001, 1006);
    ASSERT_TRUE(found.has_value() && found->has_value()) << step;
    EXPECT_GE((*found)->length_bytes, 1300U) << step;
    const auto done = store_->FinishRecovery(1, 1006, 1300);
    ASSERT_TRUE(done.has_value()) << step << ": " << done.error().message;
    ExpectBlock(1, cut);
    ASSERT_TRUE(store_->Delete(1, 1006));
  }
}

TEST_F(BlockStoreTest, ADamagedChunkIsNotCut) {
  Open();
  const auto data = RandomBytes(3000, 1);
  auto writer = Create(1);
  ASSERT_TRUE(WriteBytes(*writer, 0, data));
  ASSERT_TRUE(writer->Finish(false));
  for (const auto& path : directory_.Find("/blk_1")) {
    if (!path.ends_with(".meta")) FlipByte(path, 1400);
  }
  ASSERT_TRUE(store_->StartRecovery(1, 1001, 1005).has_value());
  const auto refused = store_->FinishRecovery(1, 1005, 1300);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  const auto after = store_->Find(1);
  EXPECT_EQ(after->state, ReplicaState::kFinalized);
  EXPECT_EQ(after->generation_stamp, 1001U);
  EXPECT_EQ(after->length_bytes, 3000U);
  EXPECT_EQ(listener_.events().back(), "corrupt 1");  // else the namenode repeats the cut for ever
}

TEST_F(BlockStoreTest, ADamagedChunkIsNotCutAfterARecoveryThatBrokeOff) {
  Open();
  StoreBlock(*store_, 1, RandomBytes(3000, 1));
  for (const auto& path : directory_.Find("/blk_1")) {
    if (!path.ends_with(".meta")) FlipByte(path, 1400);
  }
  ASSERT_TRUE(store_->StartRecovery(1, 1001, 1005).has_value());
  files_.Set(Fault::kFailSync, "/blk_1");
  EXPECT_FALSE(store_->FinishRecovery(1, 1005, 3000).has_value());
  files_.Set(Fault::kNone);
  ASSERT_TRUE(store_->StartRecovery(1, 1001, 1006).has_value());
  const auto refused = store_->FinishRecovery(1, 1006, 1300);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt) << refused.error().message;
  EXPECT_EQ(store_->Find(1)->state, ReplicaState::kFinalized);
  EXPECT_EQ(store_->Find(1)->length_bytes, 3000U);
  EXPECT_EQ(listener_.events().back(), "corrupt 1");
}

// Data were written, and their checksum was not: the disk was full, or refused.
class FailedWriteTest : public BlockStoreTest,
                        public ::testing::WithParamInterface<std::tuple<Fault, std::size_t>> {
 protected:
  // A replica of which so many bytes were acknowledged before the next write failed midway.
  void SetUp() override {
    Open();
    auto writer = Create(1);
    ASSERT_TRUE(WriteBytes(*writer, 0, std::span(data_).first(length())));
    writer->Acknowledge(length());
    files_.Set(std::get<Fault>(GetParam()), ".meta");
    EXPECT_FALSE(WriteBytes(*writer, length(), std::span(data_).subspan(length(), 24)));
    files_.Set(Fault::kNone);
  }
  std::size_t length() const { return std::get<std::size_t>(GetParam()); }
  std::vector<std::byte> acknowledged() const {
    return {data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(length())};
  }
  // Also after a restart, when the lengths of both files must agree.
  void ExpectFinalized(const std::vector<std::byte>& data) {
    ExpectBlock(1, data);
    Reopen();
    ExpectBlock(1, data);
    EXPECT_EQ(store_->Find(1)->state, ReplicaState::kFinalized);
  }
  const std::vector<std::byte> data_ = RandomBytes(3000, 1);
};

TEST_P(FailedWriteTest, BlockRecoveryKeepsWhatWasAcknowledged) {
  const auto found = store_->StartRecovery(1, 1001, 1005);
  ASSERT_TRUE(found.has_value() && found->has_value());
  ASSERT_EQ((*found)->length_bytes, length());
  const auto done = store_->FinishRecovery(1, 1005, length());
  ASSERT_TRUE(done.has_value()) << done.error().message;
  ExpectFinalized(acknowledged());
}

TEST_P(FailedWriteTest, AClientThatClosesKeepsWhatWasAcknowledged) {
  const auto closed = store_->RecoverClose(1, 1001, 1002, length());
  ASSERT_TRUE(closed.has_value()) << closed.error().message;
  ExpectFinalized(acknowledged());
}

TEST_P(FailedWriteTest, AClientThatGoesOnFinishesTheBlock) {
  auto writer = store_->RecoverWriter(1, 1001, 1002, length(), 3000);
  ASSERT_TRUE(writer.has_value()) << writer.error().message;
  ASSERT_EQ((*writer)->length(), length());
  // The client closes after one byte more, so that a longer rest of the failed write would stay.
  const std::size_t start = length() / 512 * 512;
  ASSERT_TRUE(
      WriteBytes(**writer, start, std::span(data_).subspan(start, length() + 1 - start)));
  ASSERT_TRUE((*writer)->Finish(false));
  ExpectFinalized({data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(length() + 1)});
}

INSTANTIATE_TEST_SUITE_P(
    FaultsAndLengths, FailedWriteTest,
    ::testing::Combine(::testing::Values(Fault::kFillDisk, Fault::kFailWrites),
                       ::testing::Values(std::size_t{0}, std::size_t{1}, std::size_t{1000},
                                         std::size_t{1024}, std::size_t{1510})));

TEST_F(BlockStoreTest, ARestartBetweenDataAndChecksumKeepsWhatTheChecksumCovers) {
  Open();
  const auto data = RandomBytes(3000, 1);
  const std::size_t lengths[] = {0, 1, 1000, 1023, 1024, 1510};
  for (const std::size_t length : lengths) {
    auto writer = Create(1 + length);
    ASSERT_TRUE(WriteBytes(*writer, 0, std::span(data).first(length)));
    files_.Set(Fault::kFailWrites, ".meta");
    const std::size_t more = 512 - length % 512;
    EXPECT_FALSE(WriteBytes(*writer, length, std::span(data).subspan(length, more)));
    files_.Set(Fault::kNone);
  }
  Reopen();
  for (const std::size_t length : lengths) {
    ASSERT_TRUE(store_->Find(1 + length).has_value()) << length;
    EXPECT_EQ(store_->Find(1 + length)->length_bytes, length);
    ExpectBlock(1 + length, {data.begin(), data.begin() + static_cast<std::ptrdiff_t>(length)});
  }
}

TEST_F(BlockStoreTest, ACloseThatWasInterruptedIsFinished) {
  Open();
  const auto data = RandomBytes(800, 1);
  ASSERT_TRUE(WriteBytes(*Create(1), 0, data));
  EXPECT_FALSE(store_->RecoverClose(1, 1001, 1002, 801).has_value());
  ASSERT_TRUE(store_->RecoverClose(1, 1001, 1002, 800).has_value());
  // A client whose answer was lost asks again.
  ASSERT_TRUE(store_->RecoverClose(1, 1001, 1003, 800).has_value());
  ExpectBlock(1, data);
  EXPECT_EQ(store_->Find(1)->generation_stamp, 1003U);
}

TEST_F(BlockStoreTest, AFinalizationThatACrashInterruptedIsFinishedAtTheStart) {
  Open();
  const auto data = RandomBytes(800, 1);
  StoreBlock(*store_, 1, data);
  store_.reset();
  for (const auto& path : directory_.Find("blk_1")) {
    if (path.ends_with(".meta")) continue;
    const auto disk = path.substr(0, path.find("/finalized/"));
    std::filesystem::rename(path, disk + "/rbw/blk_1");
  }
  Open();
  EXPECT_EQ(store_->Find(1)->state, ReplicaState::kFinalized);
  ExpectBlock(1, data);
}

TEST_F(BlockStoreTest, AReaderOfAFileThatAnotherClientAppendsToSeesTheOldEnd) {
  Open();
  const auto data = RandomBytes(3000, 1);
  for (const std::size_t length : {1U, 511U, 512U, 513U, 1000U, 1024U}) {
    const std::vector<std::byte> old{data.begin(),
                                     data.begin() + static_cast<std::ptrdiff_t>(length)};
    StoreBlock(*store_, length, old);
    const auto reader = store_->OpenReader(length, 0);
    ASSERT_TRUE(reader.has_value());
    auto writer = store_->Append(length, 1001, 1002, length);
    ASSERT_TRUE(writer.has_value()) << writer.error().message;
    const std::size_t rest = 512 - length % 512;
    ASSERT_TRUE(WriteBytes(**writer, length, std::span(data).subspan(length, rest)));
    ASSERT_TRUE((*writer)->Finish(false));
    std::vector<std::byte> bytes(length);
    std::vector<std::byte> sums;
    const auto read = ReadVerified(**reader, 0, bytes, sums);
    EXPECT_TRUE(read.has_value()) << length << ": " << read.error().message;
    EXPECT_EQ(bytes, old);
    ExpectBlock(length, {data.begin(), data.begin() + static_cast<std::ptrdiff_t>(length + rest)});
  }
}

// The files of a finalized replica are opened, and a client appends at the same time.
TEST_F(BlockStoreTest, ReadersAndAppendersAtTheSameTimeMakeNoReplicaBad) {
  Open();
  const auto data = RandomBytes(200'000, 1);
  StoreBlock(*store_, 1, std::span(data).first(100));
  std::atomic<bool> over = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      std::vector<std::byte> sums;
      while (!over) {
        const auto reader = store_->OpenReader(1, 0);
        if (!reader) {
          EXPECT_NE(reader.error().code, ErrorCode::kNotFound) << reader.error().message;
          continue;
        }
        std::vector<std::byte> bytes((*reader)->length());
        const auto read = ReadVerified(**reader, 0, bytes, sums);
        EXPECT_TRUE(read.has_value()) << read.error().message;
        EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), data.begin()));
      }
    });
  }
  std::size_t length = 100;
  for (std::uint64_t stamp = 1002; stamp < 1302; ++stamp) {
    auto writer = store_->Append(1, stamp - 1, stamp, length);
    ASSERT_TRUE(writer.has_value()) << writer.error().message;
    const std::size_t more = std::min<std::size_t>(37, 512 - length % 512);
    ASSERT_TRUE(WriteBytes(**writer, length, std::span(data).subspan(length, more)));
    ASSERT_TRUE((*writer)->Finish(false));
    length += more;
  }
  over = true;
  for (auto& reader : readers) reader.join();
  ExpectBlock(1, {data.begin(), data.begin() + static_cast<std::ptrdiff_t>(length)});
}

// The answers of a DataNode of HDFS 3.5 to the stages of a pipeline on a finalized replica.
TEST_F(BlockStoreTest, PipelinesAreRebuiltOnFinalizedReplicasAsInHdfs) {
  Open();
  const auto data = RandomBytes(800, 1);
  StoreBlock(*store_, 1, data);
  // PIPELINE_SETUP_APPEND, and its recovery, with the stamp that the replica has.
  auto writer = store_->Append(1, 1001, 1001, 800);
  ASSERT_TRUE(writer.has_value()) << writer.error().message;
  writer->reset();
  EXPECT_FALSE(store_->Append(1, 1001, 1001, 800).has_value()) << "it is open";
  writer = store_->RecoverAppend(1, 1001, 1001, 800);
  ASSERT_TRUE(writer.has_value()) << writer.error().message;
  ASSERT_TRUE((*writer)->Finish(false));
  writer = store_->RecoverAppend(1, 1000, 1001, 800);
  ASSERT_TRUE(writer.has_value()) << writer.error().message;
  ASSERT_TRUE((*writer)->Finish(false));
  EXPECT_FALSE(store_->Append(1, 1000, 1001, 800).has_value()) << "the client is stale";
  EXPECT_FALSE(store_->Append(1, 1001, 1000, 800).has_value()) << "an older stamp";
  EXPECT_FALSE(store_->Append(1, 1002, 1003, 800).has_value()) << "the replica is stale";
  EXPECT_FALSE(store_->Append(1, 1001, 1002, 799).has_value()) << "another length";
  // PIPELINE_CLOSE_RECOVERY, with the same and with a newer stamp.
  ASSERT_TRUE(store_->RecoverClose(1, 1001, 1001, 800).has_value());
  ASSERT_TRUE(store_->RecoverClose(1, 1001, 1002, 800).has_value());
  EXPECT_FALSE(store_->RecoverClose(1, 1001, 1003, 799).has_value());
  // PIPELINE_SETUP_STREAMING_RECOVERY needs a replica that is being written.
  EXPECT_FALSE(store_->RecoverWriter(1, 1002, 1003, 800, 800).has_value());
  ExpectBlock(1, data);
  EXPECT_EQ(store_->Find(1)->generation_stamp, 1002U);
}

// ---- the scan at the start --------------------------------------------------------------------

class ScanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto store = OpenStore(files_, Directories());
    for (const std::size_t disk : {0, 1}) {
      StoreBlock(*store, 1 + disk, RandomBytes(1000, disk), 1001,
                 store->Disks()[disk].storage_uuid);
    }
  }
  void TearDown() override {
    files_.Set(FaultyFileSystem::Fault::kNone);
    if (attached_.valid()) attached_.wait();
  }
  std::vector<std::string> Directories() const { return {directory_ / "a", directory_ / "b"}; }
  // Opens the store and begins to scan its disks. Every use of a path with `hangs` hangs from then
  // on.
  void Start(const std::string& hangs, std::chrono::milliseconds slow_after,
             std::chrono::milliseconds hung_after = std::chrono::minutes(5)) {
    auto opened = BlockStore::Open(files_, {.directories = Directories(),
                                            .slow_disk_after = slow_after,
                                            .hung_disk_after = hung_after});
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    store_ = std::move(*opened);
    files_.Set(FaultyFileSystem::Fault::kHang, hangs);
    attached_ =
        std::async(std::launch::async, [this] { return store_->Attach("CID-1", "BP-1", 7); });
  }

  TemporaryDirectory directory_;
  FaultyFileSystem files_;
  std::unique_ptr<BlockStore> store_;
  std::future<Status> attached_;
};

TEST_F(ScanTest, DisksAreScannedAtTheSameTime) {
  Start("finalized", std::chrono::minutes(1));
  EXPECT_TRUE(files_.AwaitHanging(2, std::chrono::seconds(10)));
  EXPECT_EQ(store_->CheckReady().error().code, ErrorCode::kNotReady);
  files_.Set(FaultyFileSystem::Fault::kNone);
  ASSERT_TRUE(attached_.get().has_value());
  for (const std::uint64_t id : {1, 2}) EXPECT_TRUE(ReadBlock(*store_, id).has_value()) << id;
}

TEST_F(ScanTest, ADiskThatHangsInTheScanHoldsTheOthersBackForAMomentOnly) {
  Start(directory_ / "b/finalized", std::chrono::milliseconds(300));
  ASSERT_EQ(attached_.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  ASSERT_TRUE(attached_.get().has_value());
  EXPECT_TRUE(store_->CheckReady().has_value());
  EXPECT_TRUE(ReadBlock(*store_, 1).has_value());
  // Nobody says that a block of the other disk is gone, and nothing new goes there.
  EXPECT_EQ(store_->Locate(2).error().code, ErrorCode::kCannotTell);
  const auto disks = store_->Disks();
  EXPECT_TRUE(disks[1].slow);
  EXPECT_FALSE(disks[1].failed);
  EXPECT_FALSE(disks[1].scanned);
  for (std::uint64_t id = 10; id < 14; ++id) {
    StoreBlock(*store_, id, RandomBytes(100, id));
    EXPECT_EQ(store_->Find(id)->storage_uuid, disks[0].storage_uuid);
  }
  // It answers again.
  files_.Set(FaultyFileSystem::Fault::kNone);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!store_->Disks()[1].scanned) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(ReadBlock(*store_, 2).has_value());
  EXPECT_EQ(store_->Locate(404).error().code, ErrorCode::kNotFound);
}

TEST_F(ScanTest, ADiskThatHangsInTheScanForLongHasFailed) {
  Start(directory_ / "b/finalized", std::chrono::milliseconds(50), std::chrono::milliseconds(200));
  ASSERT_TRUE(attached_.get().has_value());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!store_->Disks()[1].failed) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    store_->DropHungDisks();
  }
  EXPECT_TRUE(ReadBlock(*store_, 1).has_value());
  files_.Set(FaultyFileSystem::Fault::kNone);
  store_->AwaitScans();
  EXPECT_FALSE(store_->Find(2).has_value()) << "a failed disk stays failed";
}

TEST_F(ScanTest, ACreationThatFailsLateLeavesTheReplicaOfAnotherWriter) {
  auto opened = BlockStore::Open(
      files_, {.directories = Directories(), .hung_disk_after = std::chrono::seconds(1)});
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  store_ = std::move(*opened);
  ASSERT_TRUE(store_->Attach("CID-1", "BP-1", 7));
  const auto disks = store_->Disks();
  files_.Set(FaultyFileSystem::Fault::kHang, directory_ / "b/rbw");
  auto late = std::async(std::launch::async, [&] {
    return store_
        ->Create({.block_id = 9,
                  .generation_stamp = 1001,
                  .checksum = {},
                  .storage_uuid = disks[1].storage_uuid})
        .has_value();
  });
  ASSERT_TRUE(files_.AwaitHanging(1, std::chrono::seconds(10)));
  files_.Set(FaultyFileSystem::Fault::kHang, directory_ / "b");
  auto probe = std::async(std::launch::async, [&] { return store_->ProbeDisk(1); });
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!store_->Disks()[1].failed) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    store_->DropHungDisks();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  StoreBlock(*store_, 9, RandomBytes(700, 9));
  files_.Set(FaultyFileSystem::Fault::kFailAll, directory_ / "b");
  EXPECT_FALSE(late.get());
  EXPECT_FALSE(probe.get());
  ASSERT_TRUE(store_->Find(9).has_value());
  EXPECT_EQ(*ReadBlock(*store_, 9), RandomBytes(700, 9));
}

// The namenode trusts what it knows of this server until the report of the late disk.
TEST_F(ScanTest, WhatALateScanFindsReplacesNoReplicaThatIsKnown) {
  const auto leave_open = [&](const std::string& directory, std::uint64_t id) {
    const auto store = OpenStore(files_, {directory_ / directory});
    const auto writer = store->Create({.block_id = id, .generation_stamp = 1002, .checksum = {}});
    ASSERT_TRUE(writer.has_value()) << writer.error().message;
    ASSERT_TRUE(WriteBytes(**writer, 0, RandomBytes(600, 100)).has_value());
  };
  leave_open("b", 10);
  leave_open("b", 11);
  leave_open("a", 13);
  store_ = OpenStore(files_, {directory_ / "b"});
  StoreBlock(*store_, 12, RandomBytes(600, 100), 1002);
  StoreBlock(*store_, 13, RandomBytes(700, 13), 1001);
  store_.reset();
  Start(directory_ / "b/rbw", std::chrono::milliseconds(100));
  ASSERT_TRUE(attached_.get().has_value());
  StoreBlock(*store_, 10, RandomBytes(700, 10), 1001);
  StoreBlock(*store_, 12, RandomBytes(700, 12), 1001);
  auto writer = store_->Create({.block_id = 11, .generation_stamp = 1001, .checksum = {}});
  ASSERT_TRUE(writer.has_value()) << writer.error().message;
  ASSERT_TRUE(WriteBytes(**writer, 0, RandomBytes(700, 11)).has_value());
  files_.Set(FaultyFileSystem::Fault::kNone);
  store_->AwaitScans();
  EXPECT_TRUE((*writer)->Finish(false).has_value());
  const auto expect_known = [&](const std::string& when) {
    for (const std::uint64_t id : {10, 11, 12}) {
      const auto read = ReadBlock(*store_, id);
      ASSERT_TRUE(read.has_value()) << when << ", " << id << ": " << read.error().message;
      EXPECT_EQ(*read, RandomBytes(700, id)) << when << ", " << id;
      EXPECT_EQ(store_->Find(id)->state, ReplicaState::kFinalized) << when << ", " << id;
    }
  };
  expect_known("after the scan");
  // No finalized replica is removed in favour of an unfinished one.
  for (const std::uint64_t id : {10, 11, 12, 13}) {
    EXPECT_FALSE(directory_.Find("b/corrupt/blk_" + std::to_string(id)).empty()) << id;
  }
  writer->reset();
  store_.reset();
  store_ = OpenStore(files_, Directories());
  expect_known("after a restart");
}

TEST_F(BlockStoreTest, ARefusedCloseLeavesAFinalizedReplicaFinalized) {
  Open();
  const auto data = RandomBytes(800, 1);
  StoreBlock(*store_, 1, data);
  EXPECT_FALSE(store_->RecoverClose(1, 1001, 1002, 799).has_value());
  EXPECT_EQ(store_->Find(1)->state, ReplicaState::kFinalized);
  ASSERT_TRUE(store_->StartRecovery(1, 1001, 1002).has_value());
  EXPECT_FALSE(store_->FinishRecovery(1, 1002, 801).has_value());
  Reopen();
  ExpectBlock(1, data);
}

TEST_F(BlockStoreTest, OnlyATransferReplacesAnOlderFinalizedReplica) {
  Open();
  StoreBlock(*store_, 1, RandomBytes(800, 1), 1001);
  WriteRequest request{.block_id = 1,
                       .generation_stamp = 1002,
                       .checksum = {},
                       .state = ReplicaState::kTemporary};
  EXPECT_FALSE(store_->Create(request).has_value());
  request.replaces_older = true;
  const auto writer = store_->Create(request);
  ASSERT_TRUE(writer.has_value()) << writer.error().message;
  const auto data = RandomBytes(900, 2);
  ASSERT_TRUE(WriteBytes(**writer, 0, data));
  ASSERT_TRUE((*writer)->Finish(false));
  ExpectBlock(1, data);
  EXPECT_FALSE(store_->Create(request).has_value()) << "the same stamp";
}

TEST_F(BlockStoreTest, SyncMakesAFinalizedReplicaDurable) {
  Open();
  StoreBlock(*store_, 1, RandomBytes(800, 1));
  const auto before = files_.syncs();
  ASSERT_TRUE(store_->Sync(1, 1001));
  EXPECT_EQ(files_.syncs(), before + 3) << "data, checksums and folder";
  EXPECT_EQ(store_->Sync(2, 1001).error().code, ErrorCode::kNotFound);
  files_.Set(Fault::kFailSync, "blk_1");
  EXPECT_FALSE(store_->Sync(1, 1001).has_value());
  EXPECT_FALSE(store_->Find(1).has_value()) << "bytes that cannot be synced are no replica";
}

TEST_F(BlockStoreTest, DeletionSparesNewerReplicas) {
  Open();
  StoreBlock(*store_, 1, RandomBytes(10, 1), 1005);
  EXPECT_FALSE(store_->Delete(1, 1004));
  EXPECT_TRUE(store_->Delete(1, 1005));
  EXPECT_FALSE(store_->Delete(1, 1005));
  EXPECT_TRUE(directory_.Find("blk_1").empty());
  EXPECT_EQ(listener_.events(), (std::vector<std::string>{"stored 1", "deleted 1"}));
  for (const auto& disk : store_->Disks()) EXPECT_EQ(disk.used_bytes, 0U);
}

TEST_F(BlockStoreTest, AFileThatIsGoneIsNoticedByTheRead) {
  Open();
  StoreBlock(*store_, 1, RandomBytes(10, 1));
  StoreBlock(*store_, 2, RandomBytes(10, 2));
  for (const auto& path : directory_.Find("blk_1")) std::filesystem::remove(path);
  const auto reader = store_->OpenReader(1, 0);
  ASSERT_FALSE(reader.has_value());
  EXPECT_EQ(reader.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(store_->Find(1).has_value());
  EXPECT_EQ(listener_.events().back(), "deleted 1");
  EXPECT_TRUE(ReadBlock(*store_, 2).has_value());
}

TEST_F(BlockStoreTest, ADiskThatFailsIsDroppedAndTheOtherGoesOn) {
  Open();
  const auto disks = store_->Disks();
  StoreBlock(*store_, 1, RandomBytes(1000, 1), 1001, disks[0].storage_uuid);
  StoreBlock(*store_, 2, RandomBytes(1000, 2), 1001, disks[1].storage_uuid);
  auto writer = store_->Create({.block_id = 3,
                                .generation_stamp = 1001,
                                .checksum = {},
                                .storage_uuid = disks[0].storage_uuid});
  ASSERT_TRUE(writer.has_value());
  files_.Set(Fault::kFailAll, directory_ / "a");
  const auto written = WriteBytes(**writer, 0, RandomBytes(1000, 3));
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ErrorCode::kIo);
  EXPECT_EQ(live_disks(), 1U);
  EXPECT_EQ(listener_.events().back(), "failed " + disks[0].storage_uuid);
  EXPECT_FALSE(store_->Find(1).has_value());
  EXPECT_TRUE(store_->Replicas(disks[0].storage_uuid).empty());
  writer->reset();
  ASSERT_TRUE(ReadBlock(*store_, 2).has_value());
  StoreBlock(*store_, 4, RandomBytes(1000, 4), 1001, disks[0].storage_uuid);
  EXPECT_EQ(store_->Find(4)->storage_uuid, disks[1].storage_uuid);
  const auto exact = store_->Create({.block_id = 5,
                                     .generation_stamp = 1001,
                                     .checksum = {},
                                     .storage_uuid = disks[0].storage_uuid,
                                     .exact_storage = true});
  EXPECT_FALSE(exact.has_value());
}

// Nobody finds a replica that was dropped with its disk, so its writer must not be told that bytes
// are stored, even if the disk answers again.
TEST_F(BlockStoreTest, OnADiskThatWasDroppedNothingIsWritten) {
  auto opened = BlockStore::Open(files_, {.directories = {directory_ / "a"},
                                          .hung_disk_after = std::chrono::milliseconds(50)});
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  store_ = std::move(*opened);
  ASSERT_TRUE(store_->Attach("CID-1", "BP-1", 7));
  const auto data = RandomBytes(1024, 1);
  const auto idle = Create(1);
  const auto writes = Create(2);
  const auto syncs = Create(3);
  for (const auto* writer : {&idle, &writes, &syncs}) ASSERT_TRUE(WriteBytes(**writer, 0, data));
  files_.Set(Fault::kHang, directory_ / "a");
  auto written =
      std::async(std::launch::async, [&] { return WriteBytes(*writes, 1024, data).has_value(); });
  auto synced = std::async(std::launch::async, [&] { return syncs->Sync().has_value(); });
  auto probed = std::async(std::launch::async, [&] { return store_->ProbeDisk(0); });
  EXPECT_TRUE(files_.AwaitHanging(3, std::chrono::seconds(10)));
  while (live_disks() > 0) store_->DropHungDisks();
  files_.Set(Fault::kNone);
  EXPECT_FALSE(written.get());
  EXPECT_FALSE(synced.get());
  EXPECT_FALSE(probed.get());
  for (const auto* writer : {&idle, &writes, &syncs}) {
    const auto late = WriteBytes(**writer, (*writer)->length(), data);
    ASSERT_FALSE(late.has_value());
    EXPECT_EQ(late.error().code, ErrorCode::kIo) << late.error().message;
    EXPECT_FALSE((*writer)->Sync().has_value());
    EXPECT_FALSE((*writer)->Finish(false).has_value());
  }
}

TEST_F(BlockStoreTest, AWalkPausesAndMissesNothingThatStays) {
  Open();
  const auto disks = store_->Disks();
  constexpr std::uint64_t kBlocks = 2500;
  for (std::uint64_t id = 1; id <= kBlocks; ++id) {
    StoreBlock(*store_, id, RandomBytes(id % 3, id), 1001, disks[id % 2].storage_uuid);
  }
  const auto leaves = [](std::uint64_t id) { return id % 5 == 0; };
  std::thread remover([&] {
    for (std::uint64_t id = 1; id <= kBlocks; ++id) {
      if (leaves(id)) {
        EXPECT_TRUE(store_->Delete(id, 1001));
      }
    }
  });
  for (std::uint64_t side = 0; side < 2; ++side) {
    const auto& uuid = disks[side].storage_uuid;
    std::vector<std::uint64_t> walked;
    for (std::uint64_t after = 0;;) {
      const auto next = store_->FinalizedAfter(uuid, after, 100);
      if (next.empty()) break;
      EXPECT_LE(next.size(), 100U);
      for (const auto& block : next) walked.push_back(after = block.block_id);
    }
    EXPECT_TRUE(std::ranges::is_sorted(walked));
    std::vector<std::uint64_t> reported;
    for (const auto& block : store_->Replicas(uuid)) reported.push_back(block.block_id);
    std::erase_if(walked, leaves);
    std::erase_if(reported, leaves);
    std::vector<std::uint64_t> stay;
    for (std::uint64_t id = 1; id <= kBlocks; ++id) {
      if (id % 2 == side && !leaves(id)) stay.push_back(id);
    }
    EXPECT_EQ(walked, stay);
    EXPECT_EQ(reported, stay);
  }
  remover.join();
  for (std::uint64_t side = 0; side < 2; ++side) {
    BlockStore::Amount expected;
    for (std::uint64_t id = 1201; id <= kBlocks; ++id) {
      if (id % 2 != side || leaves(id)) continue;
      ++expected.blocks;
      expected.bytes += id % 3;
    }
    const auto counted = store_->CountFinalizedAfter(disks[side].storage_uuid, 1200);
    EXPECT_EQ(counted.blocks, expected.blocks);
    EXPECT_EQ(counted.bytes, expected.bytes);
  }
  files_.Set(Fault::kFailAll, directory_ / "a");
  store_->ProbeDisks();
  EXPECT_TRUE(store_->Replicas(disks[0].storage_uuid).empty());
  EXPECT_EQ(store_->Replicas(disks[1].storage_uuid).size(), kBlocks / 2 - kBlocks / 10);
}

TEST_F(BlockStoreTest, ADirectoryThatVanishesIsAFailedDisk) {
  Open();
  const auto disks = store_->Disks();
  StoreBlock(*store_, 1, RandomBytes(1000, 1), 1001, disks[0].storage_uuid);
  std::filesystem::remove_all(directory_ / "a");
  store_->ProbeDisks();
  EXPECT_EQ(live_disks(), 1U);
  EXPECT_FALSE(store_->Find(1).has_value());
}

TEST_F(BlockStoreTest, AFullDiskFailsTheWriteAndNothingElse) {
  Open();
  StoreBlock(*store_, 1, RandomBytes(1000, 1));
  {
    auto writer = Create(2);
    files_.Set(Fault::kFillDisk);
    const auto written = WriteBytes(*writer, 0, RandomBytes(1000, 3));
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(written.error().code, ErrorCode::kNoSpace);
    files_.Set(Fault::kNone);
  }
  EXPECT_EQ(live_disks(), 2U);
  ASSERT_TRUE(ReadBlock(*store_, 1).has_value());
  files_.SetFreeBytes(1000);
  const auto refused = store_->Create(
      {.block_id = 3, .generation_stamp = 1, .checksum = {}, .expected_bytes = 1001});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("1000 bytes free"), std::string::npos);
  // The namenode learns of it by the next heartbeat, not only after the next probe of the disk.
  const auto disks = store_->Disks();
  EXPECT_TRUE(std::ranges::any_of(disks, [](const auto& d) { return d.remaining_bytes <= 1000; }));
}

TEST_F(BlockStoreTest, AReplicaGoesToAnotherDiskIfTheWantedOneIsFull) {
  Open();
  files_.SetFreeBytesOf("/a", 1000);
  const auto full = store_->Disks()[0];
  ASSERT_TRUE(full.directory.ends_with("/a"));
  const auto create = [&](std::uint64_t id, bool exact) {
    return store_->Create({.block_id = id,
                           .generation_stamp = 1,
                           .checksum = {},
                           .storage_uuid = full.storage_uuid,
                           .exact_storage = exact,
                           .expected_bytes = 1001});
  };
  const auto writer = create(1, false);
  ASSERT_TRUE(writer.has_value()) << writer.error().message;
  EXPECT_NE((*writer)->storage_uuid(), full.storage_uuid);
  const auto refused = create(2, true);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
}

TEST_F(BlockStoreTest, AReplicaOfKnownLengthHasItsRoomBeforeItsBytes) {
  Open();
  constexpr std::uint64_t kExpected = 8 << 20;
  {
    auto writer = store_->Create({.block_id = 77,
                                  .generation_stamp = 1,
                                  .checksum = {},
                                  .expected_bytes = kExpected});
    ASSERT_TRUE(writer.has_value());
    EXPECT_GE(RoomOf(directory_, "blk_77"), kExpected);
    EXPECT_EQ((*writer)->length(), 0U);
    ASSERT_TRUE(WriteBytes(**writer, 0, RandomBytes(1000, 1)));
    ASSERT_TRUE((*writer)->Finish(false));
  }
  EXPECT_LT(RoomOf(directory_, "blk_77"), kExpected / 8) << "the rest is given back";
  ExpectBlock(77, RandomBytes(1000, 1));
  // The disk has become full since its space was read: the write is refused before its first byte.
  files_.Set(Fault::kNoRoom);
  const auto refused = store_->Create(
      {.block_id = 78, .generation_stamp = 1, .checksum = {}, .expected_bytes = kExpected});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace) << refused.error().message;
  files_.Set(Fault::kNone);
  EXPECT_TRUE(directory_.Find("blk_78").empty());
  EXPECT_EQ(live_disks(), 2U);
}

// 4 disks on one file system of 100 GB, of which 60 GB are free and 1 GB is reserved.
TEST(SpaceShareTest, TheSumOverAllDisksIsTheFileSystem) {
  constexpr std::uint64_t kGb = 1'000'000'000;
  const auto alone = ShareOfSpace({100 * kGb, 60 * kGb}, kGb, 0, 1);
  EXPECT_EQ(alone.capacity_bytes, 100 * kGb);
  EXPECT_EQ(alone.remaining_bytes, 59 * kGb);
  const auto fourth = ShareOfSpace({100 * kGb, 60 * kGb}, kGb, 0, 4);
  EXPECT_EQ(4 * fourth.capacity_bytes, 100 * kGb);
  EXPECT_EQ(4 * fourth.remaining_bytes, 59 * kGb);
  // The capacity covers the used bytes, also if they exceed an equal share.
  const auto crowded = ShareOfSpace({100 * kGb, 60 * kGb}, kGb, 30 * kGb, 4);
  EXPECT_EQ(crowded.capacity_bytes, 30 * kGb + crowded.remaining_bytes);
  EXPECT_EQ(ShareOfSpace({100 * kGb, kGb / 2}, kGb, 0, 4).remaining_bytes, 0U);
}

TEST_F(BlockStoreTest, DisksOnOneFileSystemReportEqualSharesOfIt) {
  files_.SetFileSystemId("/c", 77);
  const auto store = OpenStore(files_, {directory_ / "a", directory_ / "b", directory_ / "c"});
  const auto whole = RealFileSystem().GetSpace(directory_ / "a");
  ASSERT_TRUE(whole.has_value());
  const auto disks = store->Disks();
  EXPECT_EQ(disks[0].capacity_bytes, whole->capacity_bytes / 2);
  EXPECT_EQ(disks[1].capacity_bytes, whole->capacity_bytes / 2);
  EXPECT_EQ(disks[2].capacity_bytes, whole->capacity_bytes);
}

TEST_F(BlockStoreTest, OtherServersOnTheFileSystemCountAndWritesGoByTheRealFreeSpace) {
  constexpr std::uint64_t kFree = 1'000'000;
  files_.SetFreeBytes(kFree);
  BlockStore::Options options;
  options.directories = {directory_ / "a", directory_ / "b"};
  options.disks_per_file_system = 10;
  auto store = BlockStore::Open(files_, options);
  ASSERT_TRUE(store.has_value()) << store.error().message;
  ASSERT_TRUE((*store)->Attach("CID-1", "BP-1", 7));
  for (const auto& disk : (*store)->Disks()) EXPECT_EQ(disk.remaining_bytes, kFree / 10);
  EXPECT_TRUE(
      (*store)
          ->Create(
              {.block_id = 1, .generation_stamp = 1, .checksum = {}, .expected_bytes = kFree / 2})
          .has_value());
}

TEST_F(BlockStoreTest, ShortReadsAreNoticed) {
  Open();
  StoreBlock(*store_, 1, RandomBytes(1000, 1));
  const auto reader = store_->OpenReader(1, 0);
  ASSERT_TRUE(reader.has_value());
  files_.Set(Fault::kShortReads);
  std::vector<std::byte> out(1000);
  EXPECT_FALSE((*reader)->ReadData(0, out).has_value());
  EXPECT_FALSE((*reader)->ReadChecksums(0, 1000, out).has_value());
}

TEST_F(BlockStoreTest, FinalizationSyncsIfAsked) {
  Open();
  const auto before = files_.syncs();
  StoreBlock(*store_, 0x101, RandomBytes(1000, 1));
  // The folder is new, so that its parent is synced, too.
  EXPECT_LE(files_.syncs() - before, 1U);
  auto writer = Create(0x201, 1001, ReplicaState::kTemporary);
  ASSERT_TRUE(WriteBytes(*writer, 0, RandomBytes(1000, 2)));
  const auto between = files_.syncs();
  ASSERT_TRUE(writer->Finish(true));
  EXPECT_GE(files_.syncs() - between, 3U);
  auto failing = Create(0x301, 1001, ReplicaState::kTemporary);
  files_.Set(Fault::kFailSync, "blk_769");
  EXPECT_FALSE(failing->Finish(true).has_value());
  failing.reset();
  EXPECT_FALSE(store_->Find(0x301).has_value());
}

TEST_F(BlockStoreTest, BadFilesAreLeftAloneAndNotServed) {
  Open();
  for (std::uint64_t id = 1; id <= 4; ++id) StoreBlock(*store_, id, RandomBytes(2000, id));
  store_.reset();
  const auto file = [&](const std::string& name) { return directory_.Find(name).front(); };
  std::filesystem::resize_file(file("blk_1_1001.meta"), 9);
  std::filesystem::remove(file("blk_2_1001.meta"));
  std::ofstream(directory_ / "a/finalized/notes.txt") << "x";
  std::ofstream(directory_ / "a/rbw/blk_notes") << "x";
  std::ofstream(directory_ / "a/rbw/blk_77_5.meta") << "torn";
  Open();
  EXPECT_FALSE(store_->Find(1).has_value());
  EXPECT_FALSE(store_->Find(2).has_value());
  EXPECT_FALSE(store_->Find(77).has_value());
  ASSERT_TRUE(ReadBlock(*store_, 3).has_value());
  ASSERT_TRUE(ReadBlock(*store_, 4).has_value());
  // The block may be written anew.
  StoreBlock(*store_, 1, RandomBytes(50, 9), 1002);
  ExpectBlock(1, RandomBytes(50, 9));
}

TEST_F(BlockStoreTest, ReplicasThatCannotBeServedAreSetAside) {
  Open();
  for (std::uint64_t id = 1; id <= 4; ++id) StoreBlock(*store_, id, RandomBytes(2000, id));
  store_.reset();
  const auto file = [&](const std::string& name) { return directory_.Find(name).front(); };
  std::filesystem::resize_file(file("blk_1_1001.meta"), 0);  // as after a power failure
  std::filesystem::remove(file("blk_2_1001.meta"));
  std::filesystem::resize_file(directory_.Find("/03/blk_3").front(), 700);
  Open();
  EXPECT_TRUE(ReadBlock(*store_, 4).has_value());
  EXPECT_EQ(directory_.Find("finalized/").size(), 2U);
  EXPECT_EQ(directory_.Find("corrupt/").size(), 5U);
}

TEST_F(BlockStoreTest, OfABlockOnTwoDisksOneReplicaIsRemoved) {
  const std::vector<std::string> disks = {directory_ / "a", directory_ / "b"};
  store_ = OpenStore(files_, disks);
  StoreBlock(*store_, 1, RandomBytes(900, 1));
  StoreBlock(*store_, 2, RandomBytes(900, 2));
  store_.reset();
  // The disk of each block was away while the block was copied to the other disk.
  for (const char* name : {"/01/blk_1", "/02/blk_2"}) {
    const auto files = directory_.Find(name);
    ASSERT_EQ(files.size(), 2U);
    for (const auto& from : files) {
      std::string to = from;
      const bool on_a = from.find("/a/") != std::string::npos;
      to.replace(to.find(on_a ? "/a/" : "/b/"), 3, on_a ? "/b/" : "/a/");
      std::filesystem::create_directories(std::filesystem::path(to).parent_path());
      std::filesystem::copy_file(from, to);
    }
  }
  // One of the copies of block 2 has a higher stamp.
  const auto meta = directory_.Find("blk_2_1001.meta").back();
  std::string newer = meta;
  newer.replace(newer.find("_1001"), 5, "_1002");
  std::filesystem::rename(meta, newer);
  store_ = OpenStore(files_, disks);
  EXPECT_EQ(directory_.Find("/01/blk_1").size(), 2U);
  EXPECT_EQ(directory_.Find("/02/blk_2").size(), 2U);
  EXPECT_EQ(store_->Find(2)->generation_stamp, 1002U);
  EXPECT_TRUE(ReadBlock(*store_, 1).has_value());
  EXPECT_TRUE(ReadBlock(*store_, 2).has_value());
}

TEST_F(BlockStoreTest, AnExistingBlockIsNotWrittenOver) {
  Open();
  StoreBlock(*store_, 1, RandomBytes(10, 1));
  EXPECT_FALSE(
      store_->Create({.block_id = 1, .generation_stamp = 1002, .checksum = {}}).has_value());
  const auto writer = Create(2);
  EXPECT_FALSE(
      store_->Create({.block_id = 2, .generation_stamp = 1001, .checksum = {}}).has_value());
  const auto newer = Create(2, 1002);
  EXPECT_EQ(store_->Find(2)->generation_stamp, 1002U);
}

TEST(BlockStoreOpenTest, ForeignUsedAndBrokenDirectoriesAreRefused) {
  TemporaryDirectory directory;
  FaultyFileSystem files;
  const BlockStore::Options options = {{directory / "a"}, 0};
  {
    const auto store = OpenStore(files, options.directories);
    const auto second = BlockStore::Open(files, options);
    ASSERT_FALSE(second.has_value());
    EXPECT_NE(second.error().message.find("in use"), std::string::npos);
  }
  {
    auto store = BlockStore::Open(files, options);
    ASSERT_TRUE(store.has_value());
    const auto attached = (*store)->Attach("CID-2", "BP-1", 7);
    ASSERT_FALSE(attached.has_value());
    EXPECT_NE(attached.error().message.find("CID-2"), std::string::npos);
    EXPECT_NE(attached.error().message.find("CID-1"), std::string::npos);
  }
  std::ofstream(directory / "a/VERSION") << "layoutVersion=99\n";
  const auto broken = BlockStore::Open(files, options);
  ASSERT_FALSE(broken.has_value());
  EXPECT_NE(broken.error().message.find("VERSION"), std::string::npos);
  std::ofstream(directory / "file") << "x";
  const auto none = BlockStore::Open(files, {{directory / "file"}, 0});
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().message.find("none of the 1"), std::string::npos);
}

TEST(FormatTest, NamesAndHeadersGoBothWays) {
  EXPECT_EQ(format::ParseName("blk_-5")->block_id, static_cast<std::uint64_t>(-5));
  EXPECT_EQ(format::ParseName(format::MetaFileName(12, 34))->generation_stamp, 34U);
  for (const char* name : {"blk_", "blk_x", "blk_1_2", "blk_1.meta", "blk_1_.meta", "1", ""}) {
    EXPECT_FALSE(format::ParseName(name).has_value()) << name;
  }
  std::array<std::byte, format::kMetaHeaderBytes> header;
  const format::Checksum checksum{format::ChecksumType::kCrc32, 1000};
  format::EncodeMetaHeader(checksum, header);
  EXPECT_EQ(*format::DecodeMetaHeader(header), checksum);
  EXPECT_FALSE(format::DecodeMetaHeader(std::span(header).first(6)).has_value());
  header[1] = std::byte{9};
  EXPECT_FALSE(format::DecodeMetaHeader(header).has_value());
}

}  // namespace
}  // namespace ebb
