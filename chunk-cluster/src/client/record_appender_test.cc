// Record appends of native writers over a namenode and a leader that fail on order.
#include "client/record_appender.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/fake_cluster.h"
#include "client/fake_lanes.h"
#include "client/fake_namespace.h"
#include "client/file_system.h"
#include "client/lane_files.h"
#include "client/lane_name.h"
#include "transfer/lane_node.h"
#include "transfer/wire.h"

namespace ebb::client {
namespace {

using testing::BrokenBatch;
using testing::FakeDatanode;
using testing::FakeFile;
using testing::FakeLanes;
using testing::FakeNamespace;

constexpr char kFile[] = "/d/f";
constexpr std::uint64_t kLaneBytes = 1 << 20;

std::string RecordText(int number, std::size_t size = 100) {
  std::string text = fmt::format("[{:06d}]", number);
  text.resize(size, static_cast<char>('a' + number % 26));
  return text;
}

bool AwaitTrue(const std::function<bool()>& condition) {
  for (int i = 0; i < 2'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class RecordAppenderTest : public ::testing::Test {
 protected:
  void SetUp() override { MakeServers(1); }

  void MakeServers(std::size_t count) {
    nodes_.clear();
    lanes_.clear();
    std::vector<hadoop::hdfs::DatanodeInfoProto> infos;
    for (std::size_t i = 0; i < count; ++i) {
      nodes_.push_back(std::make_unique<FakeDatanode>());
      lanes_.push_back(std::make_unique<FakeLanes>(*nodes_.back()));
      infos.push_back(nodes_.back()->info());
    }
    MakeNamespace(infos);
  }

  void MakeNamespace(const std::vector<hadoop::hdfs::DatanodeInfoProto>& infos) {
    names_ = std::make_unique<FakeNamespace>(infos);
    names_->directories = {"/d"};
    names_->recover = [this](std::uint64_t block) {
      std::uint64_t length = 0;
      for (auto& lanes : lanes_) length = std::max(length, lanes->Recover(block));
      return length;
    };
  }

  void Connect() {
    const auto address = names_->Start();
    auto opened = FileSystem::Open(configuration_, address.Text(), "tester");
    ASSERT_TRUE(opened) << opened.error().message;
    files_ = std::move(*opened);
  }

  static AppendOptions Options() {
    return {.lanes = 1, .replication = 1, .block_bytes = kLaneBytes, .patience_millis = 20'000};
  }

  std::unique_ptr<RecordAppender> Open(const AppendOptions& options = Options()) {
    auto opened = RecordAppender::Open(*files_, kFile, options);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }

  // Appends the record with this number, and notes when it is stored.
  void Append(RecordAppender& appender, int number, std::size_t size = 100) {
    const auto text = RecordText(number, size);
    const auto appended =
        appender.Append(std::as_bytes(std::span(text)), [this, number](const Status& stored) {
          const std::lock_guard lock(mutex_);
          (stored ? stored_ : failed_).push_back(number);
          if (!stored) failure_ = stored.error().message;
        });
    EXPECT_TRUE(appended) << appended.error().message;
  }

  static void Flush(RecordAppender& appender) {
    const auto flushed = appender.Flush();
    ASSERT_TRUE(flushed) << flushed.error().message;
  }

  static void Close(RecordAppender& appender) {
    const auto closed = appender.Close();
    ASSERT_TRUE(closed) << closed.error().message;
  }

  void Finish() {
    const auto finished = RecordAppender::Finish(*files_, kFile);
    ASSERT_TRUE(finished) << finished.error().message;
    EXPECT_EQ(names_->Names(), std::vector<std::string>{kFile}) << "nothing is left beside";
  }

  std::vector<int> Stored() {
    const std::lock_guard lock(mutex_);
    return stored_;
  }

  std::string Content() {
    auto in = files_->OpenFile(kFile);
    EXPECT_TRUE(in) << in.error().message;
    std::string bytes((*in)->length(), '\0');
    const auto read = (*in)->Read(std::as_writable_bytes(std::span(bytes)));
    EXPECT_TRUE(read) << read.error().message;
    EXPECT_EQ(read.value_or(0), bytes.size());
    return bytes;
  }

  static std::string Records(int first, int end, std::size_t size = 100) {
    std::string all;
    for (int i = first; i < end; ++i) all += RecordText(i, size);
    return all;
  }

  std::vector<ebbfs::OpAppendRecordsProto> Operations() { return lanes_[0]->Operations(); }

  Configuration configuration_;
  std::mutex mutex_;
  std::vector<int> stored_;
  std::vector<int> failed_;
  std::string failure_;
  // The nodes have threads that use the lanes: therefore they are destroyed first.
  std::vector<std::unique_ptr<FakeLanes>> lanes_;
  std::vector<std::unique_ptr<FakeDatanode>> nodes_;
  std::unique_ptr<FakeNamespace> names_;
  std::unique_ptr<FileSystem> files_;
};

TEST_F(RecordAppenderTest, RecordsAreInTheFileOnceTheLastWriterHasClosed) {
  Connect();
  const auto appender = Open();
  for (int i = 0; i < 10; ++i) Append(*appender, i);
  Flush(*appender);
  EXPECT_EQ(Content(), "") << "the lane is not sealed yet";
  Append(*appender, 10);
  Close(*appender);
  EXPECT_EQ(Stored(), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(Content(), Records(0, 11));
  EXPECT_EQ(names_->Calls("recoverLease"), 0) << "the leader has told the lengths";
  EXPECT_EQ(names_->Calls("concat"), 1);
  EXPECT_EQ(names_->Names("/d/.append-lane"), std::vector<std::string>());
  const auto ledgers = names_->Names("/d/.append-ledger-");
  ASSERT_EQ(ledgers.size(), 1U);
  EXPECT_EQ(names_->Get(ledgers[0]).attributes["append.sealed"], "1100");
  EXPECT_EQ(names_->Get(kFile).flags, 129U) << "CREATE and SHOULD_REPLICATE";
  Finish();
}

TEST_F(RecordAppenderTest, TheLaneIsToldAsItsLeaderWasAskedForIt) {
  Connect();
  const auto appender = Open();
  Append(*appender, 0);
  Flush(*appender);
  const auto operations = Operations();
  ASSERT_EQ(operations.size(), 1U);
  EXPECT_FALSE(operations[0].joinonly());
  EXPECT_EQ(operations[0].writer().size(), 16U);
  const auto& lane = operations[0].lane();
  EXPECT_EQ(lane.capacitybytes(), kLaneBytes);
  EXPECT_EQ(lane.idlemillis(), 5'000U);
  ASSERT_EQ(lane.block().storageuuids_size(), 1);
  EXPECT_EQ(lane.block().storageuuids(0), "storage-" + nodes_[0]->info().id().datanodeuuid());
  const auto ledgers = names_->Names("/d/.append-ledger-");
  ASSERT_EQ(ledgers.size(), 1U);
  const auto ledger = names_->Get(ledgers[0]);
  EXPECT_EQ(ledger.attributes.at("append.lane"), lane.SerializeAsString());
  EXPECT_EQ(ledger.flags, 129U);
  EXPECT_EQ(ledger.holder, fmt::format("EBBFS_APPEND_{}", names_->Get(kFile).id));
}

TEST_F(RecordAppenderTest, TwoWritersShareALane) {
  Connect();
  const auto first = Open();
  const auto second = Open();
  Append(*first, 0);
  Flush(*first);
  Append(*second, 1);
  Flush(*second);
  Append(*first, 2);
  Flush(*first);
  ASSERT_EQ(Operations().size(), 2U);
  EXPECT_TRUE(Operations()[1].joinonly());
  Close(*first);
  EXPECT_EQ(Content(), "") << "the second writer uses the lane";
  Close(*second);
  EXPECT_EQ(Content(), Records(0, 3));
  EXPECT_EQ(names_->Calls("recoverLease"), 0);
  Finish();
}

TEST_F(RecordAppenderTest, AFullLaneIsFollowedByTheNextOne) {
  Connect();
  constexpr std::size_t kSize = 200'000;
  const auto first = Open();
  const auto second = Open();
  for (int i = 0; i < 12; ++i) {
    auto& appender = i % 2 == 0 ? *first : *second;
    Append(appender, i, kSize);
    Flush(appender);
  }
  Close(*first);
  Close(*second);
  EXPECT_EQ(Content(), Records(0, 12, kSize));
  EXPECT_EQ(names_->Get(kFile).blocks.size(), 3U);
  Finish();
}

TEST_F(RecordAppenderTest, TheCreatorOfTheNextLaneSealsTheFullOne) {
  Connect();
  constexpr std::size_t kSize = 200'000;
  const auto appender = Open();
  for (int i = 0; i < 6; ++i) Append(*appender, i, kSize);
  Flush(*appender);
  EXPECT_TRUE(AwaitTrue([&] { return Content() == Records(0, 5, kSize); }));
  EXPECT_EQ(names_->Calls("recoverLease"), 0) << "the leader has told the lengths";
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 6, kSize));
}

TEST_F(RecordAppenderTest, RecordsOfManyBatchesKeepTheirOrderAcrossFullLanes) {
  Connect();
  auto options = Options();
  options.batch_bytes = 10'000;
  const auto appender = Open(options);
  for (int i = 0; i < 3'000; ++i) Append(*appender, i, 1'000);
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 3'000, 1'000));
  EXPECT_EQ(names_->Get(kFile).blocks.size(), 3U);
}

TEST_F(RecordAppenderTest, AnIdleLaneIsSealedByItsWriter) {
  Connect();
  const auto appender = Open();
  Append(*appender, 0);
  Flush(*appender);
  lanes_[0]->FinishIdle(Operations()[0].lane().block().block().blockid());
  EXPECT_TRUE(AwaitTrue([&] { return Content() == Records(0, 1); }));
  Append(*appender, 1);
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 2));
  EXPECT_EQ(names_->Calls("recoverLease"), 0);
}

TEST_F(RecordAppenderTest, AFinishedLaneThatCannotBeCompletedIsRecovered) {
  Connect();
  const auto appender = Open();
  Append(*appender, 0);
  Flush(*appender);
  names_->FailNext("complete", 2);
  names_->AnswerFalse(0, 2);
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 1));
  EXPECT_GE(names_->Calls("recoverLease"), 4) << "two answers were false";
  Finish();
}

TEST_F(RecordAppenderTest, AFinishedLaneIsCompleteOnceItsServersHaveReported) {
  Connect();
  const auto appender = Open();
  Append(*appender, 0);
  Flush(*appender);
  names_->AnswerFalse(3, 0);
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 1));
  EXPECT_EQ(names_->Calls("recoverLease"), 0);
}

// What the servers have of the batch, and whether the writers are told of the end of the lane.
constexpr std::array<std::pair<BrokenBatch, bool>, 7> kBreaks = {{
    {BrokenBatch::kNothing, true},
    {BrokenBatch::kNothing, false},
    {BrokenBatch::kEntry, true},
    {BrokenBatch::kEntry, false},
    {BrokenBatch::kEntryAndHalf, true},
    {BrokenBatch::kEntryAndAll, true},
    {BrokenBatch::kEntryAndAll, false},
}};

// The parameter is an index of kBreaks.
class BrokenLaneTest : public RecordAppenderTest,
                       public ::testing::WithParamInterface<std::size_t> {};

TEST_P(BrokenLaneTest, NoRecordIsLostAndNoneIsInTheFileTwice) {
  const auto [broken, told] = kBreaks.at(GetParam());
  lanes_[0]->batches_until_break = 2;
  lanes_[0]->broken_batch = broken;
  lanes_[0]->tells_break = told;
  Connect();
  const auto appender = Open();
  for (int i = 0; i < 5; ++i) {
    Append(*appender, i);
    Flush(*appender);
  }
  Close(*appender);
  EXPECT_EQ(Stored(), (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(Content(), Records(0, 5));
  const auto blocks = names_->Get(kFile).blocks;
  ASSERT_EQ(blocks.size(), 2U);
  const bool stored = broken == BrokenBatch::kEntryAndAll;
  EXPECT_EQ(blocks[0].b().numbytes(), stored ? 300U : 200U);
  EXPECT_EQ(names_->Calls("truncate"), broken == BrokenBatch::kEntryAndHalf ? 1 : 0);
  EXPECT_GE(names_->Calls("recoverLease"), 2);
  Finish();
}

TEST_P(BrokenLaneTest, SeveralBatchesUnderWayKeepTheirOrder) {
  const auto [broken, told] = kBreaks.at(GetParam());
  lanes_[0]->batches_until_break = 7;
  lanes_[0]->broken_batch = broken;
  lanes_[0]->tells_break = told;
  Connect();
  auto options = Options();
  options.batch_bytes = 1'000;
  const auto appender = Open(options);
  for (int i = 0; i < 400; ++i) Append(*appender, i);
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 400));
  EXPECT_EQ(Stored().size(), 400U);
}

INSTANTIATE_TEST_SUITE_P(Breaks, BrokenLaneTest,
                         ::testing::Range(std::size_t{0}, kBreaks.size()));

TEST_F(RecordAppenderTest, ALaneWithoutAWholeBatchIsDeleted) {
  lanes_[0]->batches_until_break = 0;
  lanes_[0]->broken_batch = BrokenBatch::kEntryAndHalf;
  Connect();
  const auto appender = Open();
  Append(*appender, 0);
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 1));
  EXPECT_EQ(names_->Get(kFile).blocks.size(), 1U);
  Finish();
}

TEST_F(RecordAppenderTest, AWriterWhoseConnectionIsLostBetweenBatchesComesBack) {
  Connect();
  const auto appender = Open();
  Append(*appender, 0);
  Flush(*appender);
  lanes_[0]->DropConnections();
  ASSERT_TRUE(AwaitTrue([&] { return Operations().size() == 2; }));
  EXPECT_TRUE(Operations()[1].joinonly());
  Append(*appender, 1);
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 2));
  EXPECT_EQ(names_->Get(kFile).blocks.size(), 1U);
  EXPECT_EQ(names_->Calls("recoverLease"), 0);
}

TEST_F(RecordAppenderTest, AWriterThatComesBackToALaneThatHasEndedSealsIt) {
  Connect();
  const auto appender = Open();
  Append(*appender, 0);
  Flush(*appender);
  lanes_[0]->RefuseNext(false, {"this server leads no lane of the block"});
  lanes_[0]->DropConnections();
  EXPECT_TRUE(AwaitTrue([&] { return Content() == Records(0, 1); }));
  Append(*appender, 1);
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 2));
}

TEST_F(RecordAppenderTest, AWriterWaitsForALaneThatIsBusy) {
  Connect();
  const auto first = Open();
  Append(*first, 0);
  Flush(*first);
  lanes_[0]->RefuseNext(false, {"BUSY: the lane has 256 writers"});
  const auto second = Open();
  Append(*second, 1);
  Flush(*second);
  EXPECT_EQ(Operations().size(), 3U);
  EXPECT_EQ(names_->Names("/d/.append-ledger-").size(), 1U) << "no other lane was created";
  Close(*first);
  Close(*second);
  EXPECT_EQ(Content(), Records(0, 2));
}

TEST_F(RecordAppenderTest, AServerThatCannotBeUsedIsExcluded) {
  MakeServers(3);
  Connect();
  const auto bad = nodes_[1]->info();
  auto options = Options();
  options.replication = 2;
  lanes_[0]->RefuseNext(true, {"no pipeline: " + transfer::TransferAddress(bad.id()) + " is down"});
  const auto appender = Open(options);
  Append(*appender, 0);
  Flush(*appender);
  const auto operations = Operations();
  ASSERT_EQ(operations.size(), 2U);
  EXPECT_EQ(operations[0].lane().block().targets(1).id().xferport(), bad.id().xferport());
  EXPECT_EQ(operations[1].lane().block().targets(1).id().xferport(),
            nodes_[2]->info().id().xferport());
  EXPECT_EQ(names_->Calls("abandonBlock"), 2) << "both blocks of the first attempt";
  ASSERT_EQ(names_->Additions().back().excludenodes_size(), 1);
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 1));
}

TEST_F(RecordAppenderTest, ALeaderThatIsBusyOrDeadIsExcluded) {
  MakeServers(3);
  lanes_[0]->RefuseNext(true, {"BUSY: this server leads 64 lanes"});
  nodes_[1]->dead = true;
  Connect();
  const auto appender = Open();
  Append(*appender, 0);
  Close(*appender);
  EXPECT_EQ(lanes_[0]->Operations().size(), 1U);
  EXPECT_EQ(lanes_[2]->Operations().size(), 1U);
  EXPECT_EQ(Content(), Records(0, 1));
}

TEST_F(RecordAppenderTest, ALaneThatWasGivenUpIsDeletedWithoutARecovery) {
  Connect();
  names_->Put(kFile, FakeFile{.id = 7, .block_bytes = kLaneBytes});
  const LaneName given_up = {"/d/", 7, 0, 5};
  names_->Put(given_up.Ledger(), FakeFile{.holder = "dead", .attributes = {{"append.lane", ""}}});
  names_->Put(given_up.Block(), FakeFile{.holder = "dead"});
  const auto appender = Open();
  Append(*appender, 0);
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 1));
  EXPECT_EQ(names_->Calls("recoverLease"), 0);
  EXPECT_EQ(names_->Get(given_up.Ledger()).attributes["append.sealed"], "0");
  EXPECT_EQ(names_->Get(given_up.Next().Ledger()).attributes["append.sealed"], "100");
  EXPECT_EQ(names_->Names("/d/.append-lane-"), std::vector<std::string>());
}

TEST_F(RecordAppenderTest, ACreatorThatCannotTellItsLaneGivesItUp) {
  Connect();
  const auto appender = Open();
  names_->FailNext("setXAttr", 1);
  Append(*appender, 0);
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 1));
  EXPECT_EQ(names_->Names("/d/.append-ledger-").size(), 2U);
  EXPECT_EQ(names_->Names("/d/.append-lane-"), std::vector<std::string>());
  Finish();
}

TEST_F(RecordAppenderTest, OldLedgersOfSealedLanesAreRemoved) {
  Connect();
  names_->Put(kFile, FakeFile{.id = 7, .block_bytes = kLaneBytes});
  const LaneName old = {"/d/", 7, 0, 5};
  const LaneName hidden = old.Next();
  const LaneName newest = hidden.Next();
  constexpr std::int64_t kHour = 3'600'000;
  const auto sealed = [](std::int64_t modified) {
    return FakeFile{.attributes = {{"append.lane", ""}, {"append.sealed", "0"}},
                    .modified_millis = modified};
  };
  names_->Put(old.Ledger(), sealed(1));
  names_->Put(hidden.Ledger(), sealed(1));
  names_->Put(newest.Ledger(), sealed(kHour + 2));
  names_->Put(hidden.Block(), FakeFile{});
  const auto appender = Open();
  Append(*appender, 0);
  Flush(*appender);
  EXPECT_EQ(names_->Names("/d/.append-ledger-"),
            (std::vector<std::string>{hidden.Ledger(), newest.Ledger(), newest.Next().Ledger()}))
      << "the block of the second lane was there when its ledger was looked at";
  Close(*appender);
}

TEST_F(RecordAppenderTest, OldLedgersAreRemovedAFewAtATime) {
  names_->Put(kFile, FakeFile{.id = 7, .block_bytes = kLaneBytes});
  LaneName name = {"/d/", 7, 0, 1};
  for (int i = 0; i < 63; ++i, name = name.Next()) {
    names_->Put(name.Ledger(), FakeFile{.attributes = {{"append.sealed", "0"}}});
    if (i >= 3) continue;
    names_->Put(fmt::format("/d/.append-writer-7-00000000-0000-0001-0000-00000000000{}-{:015d}-00-"
                            "{:015d}-{:018d}",
                            i, 3, name.generation, 40),
                FakeFile{});
  }
  names_->Put(name.Ledger(), FakeFile{.modified_millis = 3'600'002});
  Connect();
  const auto lanes = LaneFiles::Open(*files_, kFile);
  ASSERT_TRUE(lanes);
  ASSERT_TRUE(lanes->RemoveOldLedgers(name));
  EXPECT_EQ(names_->Names("/d/.append-ledger-").size(), 14U);
  EXPECT_EQ(names_->Calls("getXAttrs"), 50) << "no ledger that a writer needs is looked at";
  ASSERT_TRUE(lanes->RemoveOldLedgers(name));
  EXPECT_EQ(names_->Names("/d/.append-ledger-").size(), 4U);
}

TEST_F(RecordAppenderTest, ALedgerThatTheFileOfAWriterTellsIsKeptUntilTheEnd) {
  Connect();
  names_->Put(kFile, FakeFile{.id = 7, .block_bytes = kLaneBytes});
  const LaneName told = {"/d/", 7, 0, 5};
  const LaneName newest = told.Next();
  const std::string writer =
      "/d/.append-writer-7-00000000-0000-0001-0000-000000000002-000000000000003-00-"
      "000000000000005-000000000000000040";
  const auto sealed = [](std::int64_t modified) {
    return FakeFile{.attributes = {{"append.lane", ""}, {"append.sealed", "0"}},
                    .modified_millis = modified};
  };
  names_->Put(told.Ledger(), sealed(1));
  names_->Put(newest.Ledger(), sealed(3'600'002));
  names_->Put(writer, FakeFile{});
  const auto appender = Open();
  Append(*appender, 0);
  Flush(*appender);
  EXPECT_EQ(names_->Names("/d/.append-ledger-"),
            (std::vector<std::string>{told.Ledger(), newest.Ledger(), newest.Next().Ledger()}));
  Close(*appender);
  Finish();
  EXPECT_EQ(names_->Names("/d/.append-"), std::vector<std::string>());
}

TEST_F(RecordAppenderTest, AWriterThatTellsALaneWhileTheFileIsFinishedKeepsItsId) {
  names_->Put(kFile, FakeFile{.id = 7, .block_bytes = kLaneBytes});
  const LaneName lane = {"/d/", 7, 0, 9};
  const std::string id = "/d/.append-writer-7-00000000-0000-0001-0000-000000000002-";
  const std::string before = id + "000000000000003-00-000000000000000-000000000000000000";
  const std::string after = id + "000000000000004-00-000000000000009-000000000000000000";
  names_->Put(before, FakeFile{});
  names_->listed = [&](const std::string& start_after, auto& files) {
    if (!start_after.starts_with(LaneName::Ledgers(7)) || files.erase(before) == 0) return;
    files[after] = FakeFile{.id = 1'000};
    files[lane.Ledger()] = FakeFile{.id = 1'001};
  };
  Connect();
  const auto lanes = LaneFiles::Open(*files_, kFile);
  ASSERT_TRUE(lanes);
  ASSERT_TRUE(lanes->RemoveAll());
  EXPECT_EQ(names_->Names("/d/.append-"), (std::vector<std::string>{lane.Ledger(), after}));
}

TEST_F(RecordAppenderTest, SealAllMakesTheRecordsOfAnOpenLaneVisible) {
  Connect();
  const auto appender = Open();
  for (int i = 0; i < 3; ++i) Append(*appender, i);
  Flush(*appender);
  const auto sealed = RecordAppender::SealAll(*files_, kFile);
  ASSERT_TRUE(sealed) << sealed.error().message;
  EXPECT_EQ(Content(), Records(0, 3));
  for (int i = 3; i < 6; ++i) Append(*appender, i);
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 6));
  Finish();
}

TEST_F(RecordAppenderTest, ALedgerThatKnowsLessThanIsSealedIsRefused) {
  const LaneName lane = {"/d/", 7, 0, 5};
  names_->Put(kFile, FakeFile{.id = 7, .block_bytes = kLaneBytes});
  names_->Put(lane.Ledger(), FakeFile{});
  Connect();
  const auto lanes = LaneFiles::Open(*files_, kFile);
  ASSERT_TRUE(lanes);
  EXPECT_TRUE(lanes->ReadSealedLedger(lane, 0));
  const auto refused = lanes->ReadSealedLedger(lane, 100);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("100 bytes"), std::string::npos);
  EXPECT_NE(refused.error().message.find(lane.Ledger() + " knows 0"), std::string::npos);
  EXPECT_FALSE(IsFinal(refused.error())) << "another attempt may read more of the ledger";
}

TEST_F(RecordAppenderTest, FinishNamesABlockWithoutALedger) {
  Connect();
  names_->Put(kFile, FakeFile{.id = 7});
  const LaneName lost = {"/d/", 7, 2, 5};
  names_->Put(lost.Block(), FakeFile{});
  const auto finished = RecordAppender::Finish(*files_, kFile);
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, ErrorCode::kInvalid);
  EXPECT_NE(finished.error().message.find(lost.Block()), std::string::npos);
  EXPECT_NE(finished.error().message.find("restore the ledger"), std::string::npos);
}

TEST_F(RecordAppenderTest, ASnapshotThatShowsALaneIsNamed) {
  Connect();
  const auto appender = Open();
  Append(*appender, 0);
  Flush(*appender);
  names_->FailNext("concat", 1, "org.apache.hadoop.hdfs.protocol.SnapshotException");
  const auto closed = appender->Close();
  ASSERT_FALSE(closed);
  EXPECT_NE(closed.error().message.find("delete the snapshots"), std::string::npos)
      << closed.error().message;
  EXPECT_EQ(Stored(), std::vector<int>{0});
  Finish();
  EXPECT_EQ(Content(), Records(0, 1));
}

TEST_F(RecordAppenderTest, FilesThatTakeNoRecordsAreRefused) {
  Connect();
  const auto refusal = [&](const std::string& path) {
    const auto opened = RecordAppender::Open(*files_, path, Options());
    return opened ? Error{ErrorCode::kIo, "opened"} : opened.error();
  };
  EXPECT_NE(refusal("/d").message.find("/d is a directory"), std::string::npos);
  names_->Put("/d/encoded", FakeFile{.policy_id = 70});
  EXPECT_EQ(refusal("/d/encoded").code, ErrorCode::kUnsupported);
  EXPECT_EQ(RecordAppender::Finish(*files_, "/d/none").error().code, ErrorCode::kNotFound);
  auto options = Options();
  options.lanes = 0;
  EXPECT_EQ(RecordAppender::Open(*files_, kFile, options).error().code, ErrorCode::kInvalid);
}

TEST_F(RecordAppenderTest, AFileBelowASnapshottableDirectoryIsRefused) {
  names_->snapshottable = {"/d"};
  Connect();
  const auto opened = RecordAppender::Open(*files_, kFile, Options());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
  EXPECT_NE(opened.error().message.find("-disallowSnapshot /d"), std::string::npos);
  EXPECT_TRUE(names_->Names().empty());
}

TEST_F(RecordAppenderTest, RecordsWithoutBytesAndLongOnesAreRefused) {
  Connect();
  const auto appender = Open();
  EXPECT_EQ(appender->Append({}).error().code, ErrorCode::kInvalid);
  const std::vector<std::byte> longest(kMostRecordBytes, std::byte{'x'});
  const std::vector<std::byte> longer(kMostRecordBytes + 1);
  const auto refused = appender->Append(longer);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("1048577 bytes"), std::string::npos);
  EXPECT_TRUE(appender->Append(longest));
  Close(*appender);
  EXPECT_EQ(Content(), std::string(kMostRecordBytes, 'x'));
  EXPECT_EQ(appender->Append(longest).error().code, ErrorCode::kInvalid);
  Close(*appender);
}

TEST_F(RecordAppenderTest, AnAppendWaitsWhileTooManyBytesHaveNoAnswer) {
  Connect();
  auto options = Options();
  options.batch_bytes = options.unacknowledged_bytes = 1'000;
  lanes_[0]->Hold(true);
  const auto appender = Open(options);
  Append(*appender, 0, 900);
  auto second = std::async(std::launch::async, [&] { Append(*appender, 1, 900); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  lanes_[0]->Hold(false);
  second.get();
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 2, 900));
}

TEST_F(RecordAppenderTest, ACompletionMayAppendButNotClose) {
  Connect();
  const auto appender = Open();
  std::promise<ErrorCode> refused;
  const auto text = RecordText(0);
  const auto appended =
      appender->Append(std::as_bytes(std::span(text)), [&](const Status& stored) {
        EXPECT_TRUE(stored);
        Append(*appender, 1);
        const auto closed = appender->Close();
        refused.set_value(closed ? ErrorCode::kIo : closed.error().code);
      });
  ASSERT_TRUE(appended);
  EXPECT_EQ(refused.get_future().get(), ErrorCode::kInvalid);
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 2));
}

TEST_F(RecordAppenderTest, AnAppenderThatIsDestroyedStoresItsRecords) {
  Connect();
  auto appender = Open();
  for (int i = 0; i < 50; ++i) Append(*appender, i);
  const auto text = RecordText(50);
  auto* const raw = appender.get();
  const auto appended =
      appender->Append(std::as_bytes(std::span(text)), [&](const Status& stored) {
        EXPECT_TRUE(stored);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        EXPECT_FALSE(raw->Append(std::as_bytes(std::span(text)))) << "it is closed";
      });
  ASSERT_TRUE(appended);
  appender.reset();
  EXPECT_EQ(Stored().size(), 50U);
  EXPECT_EQ(Content(), Records(0, 51));
}

TEST_F(RecordAppenderTest, AfterItsPatienceAWriterFails) {
  Connect();
  auto options = Options();
  options.patience_millis = 100;
  const auto appender = Open(options);
  names_->FailNext("addBlock", 1'000);
  Append(*appender, 0);
  const auto flushed = appender->Flush();
  ASSERT_FALSE(flushed);
  EXPECT_NE(flushed.error().message.find("takes no records"), std::string::npos)
      << flushed.error().message;
  const auto text = RecordText(1);
  EXPECT_FALSE(appender->Append(std::as_bytes(std::span(text))));
  EXPECT_FALSE(appender->Close());
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(failed_, std::vector<int>{0});
}

TEST_F(RecordAppenderTest, AMissingRightEndsAWriterAtOnce) {
  Connect();
  const auto appender = Open();
  names_->FailNext("create", 1, "org.apache.hadoop.security.AccessControlException");
  Append(*appender, 0);
  const auto closed = appender->Close();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().exception_class,
            "org.apache.hadoop.security.AccessControlException");
}

TEST_F(RecordAppenderTest, ALongListOfLanesIsReadPageByPage) {
  names_->most_listed = 3;
  Connect();
  names_->Put(kFile, FakeFile{.id = 7, .block_bytes = kLaneBytes});
  const FakeFile sealed = {.attributes = {{"append.lane", ""}, {"append.sealed", "0"}}};
  for (int i = 0; i < 10; ++i) {
    const LaneName lane = {"/d/", 7, 0, 5 + i};
    names_->Put(lane.Ledger(), sealed);
  }
  Finish();
}

TEST_F(RecordAppenderTest, AChunkServerLeadsTheLanesOfNativeWriters) {
  const transfer::LaneNode leader;
  const transfer::LaneNode second;
  std::vector<hadoop::hdfs::DatanodeInfoProto> infos(2);
  *infos[0].mutable_id() = leader.id();
  *infos[1].mutable_id() = second.id();
  MakeNamespace(infos);
  names_->names_storages = false;
  Connect();
  auto options = Options();
  options.replication = 2;
  const auto first_writer = Open(options);
  const auto second_writer = Open(options);
  for (int i = 0; i < 40; ++i) {
    auto& appender = i % 2 == 0 ? *first_writer : *second_writer;
    Append(appender, i, 50'000);
    Flush(appender);
  }
  Close(*first_writer);
  Close(*second_writer);
  EXPECT_EQ(Content(), Records(0, 40, 50'000));
  EXPECT_EQ(names_->Get(kFile).blocks.size(), 2U) << "20 records have room in a block";
  for (const auto& block : names_->Get(kFile).blocks) {
    EXPECT_EQ(second.Read(block.b().blockid()), leader.Read(block.b().blockid()));
  }
  Finish();
}

TEST_F(RecordAppenderTest, WhenAChunkServerOfALaneDiesItsWritersGoOn) {
  const transfer::LaneNode leader;
  transfer::LaneNode second;
  std::vector<hadoop::hdfs::DatanodeInfoProto> infos(2);
  *infos[0].mutable_id() = leader.id();
  *infos[1].mutable_id() = second.id();
  MakeNamespace(infos);
  names_->names_storages = false;
  constexpr std::uint64_t kRecoveryStamp = 2001;
  names_->recover = [&](std::uint64_t block) -> std::uint64_t {
    const auto replica = leader.store->StartRecovery(block, 1001, kRecoveryStamp);
    if (!replica || !*replica) return 0;
    const auto length = (*replica)->length_bytes;
    EXPECT_TRUE(leader.store->FinishRecovery(block, kRecoveryStamp, length));
    return length;
  };
  Connect();
  auto options = Options();
  options.replication = 2;
  options.batch_bytes = 10'000;
  const auto appender = Open(options);
  for (int i = 0; i < 300; ++i) {
    Append(*appender, i, 5'000);
    if (i == 100) {
      Flush(*appender);
      second.server = nullptr;  // its port refuses connections from now on
    }
  }
  Close(*appender);
  EXPECT_EQ(Content(), Records(0, 300, 5'000));
  EXPECT_EQ(Stored().size(), 300U);
  EXPECT_GE(names_->Calls("recoverLease"), 2);
  Finish();
}

}  // namespace
}  // namespace ebb::client
