// The parts of a record append that need no cluster.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "append.pb.h"
#include "client/append_options.h"
#include "client/completion_queue.h"
#include "client/fake_namespace.h"
#include "client/lane_ledger.h"
#include "client/lane_name.h"
#include "client/lane_sealer.h"
#include "client/lease_renewer.h"
#include "client/namenode_connection.h"
#include "client/pending_batches.h"
#include "client/record_batch.h"
#include "common/crc32c.h"

namespace ebb::client {
namespace {

using transfer::LedgerEntry;
using transfer::WriterId;

constexpr auto kShortWhile = std::chrono::milliseconds(50);

WriterId Writer(char name) {
  WriterId writer;
  writer.fill(static_cast<std::byte>(name));
  return writer;
}

// Appends an entry to the bytes of a ledger.
void AddEntry(std::vector<std::byte>& ledger, char writer, std::uint64_t first_record,
              std::uint32_t length_bytes, std::uint64_t end) {
  std::array<std::byte, LedgerEntry::kBytes> bytes = {};
  LedgerEntry{.writer = Writer(writer),
              .first_record = first_record,
              .records = 1,
              .length_bytes = length_bytes,
              .end = end,
              .checksum = 77}
      .Encode(bytes);
  ledger.insert(ledger.end(), bytes.begin(), bytes.end());
}

TEST(LaneNameTest, TheNameOfALedgerTellsItsLane) {
  const LaneName lane = {"/d/", 17, 3, 1'700'000'000'000};
  EXPECT_EQ(lane.Ledger(), "/d/.append-ledger-17-03-001700000000000");
  EXPECT_EQ(lane.Block(), "/d/.append-lane-17-03-001700000000000");
  const auto ledgers = LaneName::Ledgers(17);
  const std::string ledger = ".append-ledger-17-03-001700000000000";
  EXPECT_EQ(LaneName::Of("/d/", ledgers, 17, ledger), lane);
  EXPECT_FALSE(LaneName::Of("/d/", LaneName::Ledgers(1), 1, ledger));
  EXPECT_FALSE(LaneName::Of("/d/", ledgers, 17, ledger + "x"));
  EXPECT_FALSE(LaneName::Of("/d/", ledgers, 17, ".append-ledger-17-03-0017000000000-1"));
  EXPECT_FALSE(LaneName::Of("/d/", ledgers, 17, ".append-ledger-17-draft"));
  const std::string block = ".append-lane-17-03-001700000000000";
  EXPECT_EQ(LaneName::Of("/d/", LaneName::Blocks(17), 17, block), lane);
  EXPECT_FALSE(LaneName::Of("/d/", ledgers, 17, block));
  EXPECT_EQ(lane.Next().Ledger(), "/d/.append-ledger-17-03-001700000000001");
}

TEST(LaneLedgerTest, ABlockIsCutAfterItsLastWholeBatch) {
  std::vector<std::byte> bytes;
  AddEntry(bytes, 'a', 0, 100, 100);
  AddEntry(bytes, 'b', 0, 50, 150);
  AddEntry(bytes, 'a', 1, 70, 220);
  const auto ledger = LaneLedger::Decode(bytes);
  EXPECT_EQ(ledger.WholeBytes(0), 0U);
  EXPECT_EQ(ledger.WholeBytes(99), 0U);
  EXPECT_EQ(ledger.WholeBytes(100), 100U);
  EXPECT_EQ(ledger.WholeBytes(219), 150U);
  EXPECT_EQ(ledger.WholeBytes(220), 220U);
  EXPECT_TRUE(ledger.Holds(Writer('a'), 1, 220));
  EXPECT_FALSE(ledger.Holds(Writer('a'), 1, 150));
  EXPECT_FALSE(ledger.Holds(Writer('b'), 1, 220));
}

TEST(LaneLedgerTest, ATornOrDamagedEntryEndsTheLedger) {
  std::vector<std::byte> whole;
  AddEntry(whole, 'a', 0, 100, 100);
  AddEntry(whole, 'b', 0, 50, 150);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    EXPECT_EQ(LaneLedger::Decode(std::span(whole).first(length)).entries.size(),
              length / LedgerEntry::kBytes);
  }
  for (std::size_t at = 0; at < LedgerEntry::kBytes; ++at) {
    auto damaged = whole;
    damaged[at] ^= std::byte{1};
    EXPECT_TRUE(LaneLedger::Decode(damaged).entries.empty()) << "byte " << at;
  }
  std::vector<std::byte> gap;
  AddEntry(gap, 'a', 0, 100, 100);
  AddEntry(gap, 'b', 0, 50, 160);
  EXPECT_EQ(LaneLedger::Decode(gap).entries.size(), 1U);
}

TEST(LaneSealerTest, ABlockWithBytesThatItsLedgerDoesNotKnowIsNotCut) {
  const LaneName name = {"/d/", 17, 0, 1};
  std::vector<std::byte> bytes;
  AddEntry(bytes, 'a', 0, 100, 100);
  const auto ledger = LaneLedger::Decode(bytes);
  EXPECT_TRUE(LaneSealer::RefuseUnknownBytes(name, ledger, 100));
  const auto refused = LaneSealer::RefuseUnknownBytes(name, ledger, 101);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("101 bytes"), std::string::npos);
  EXPECT_NE(refused.error().message.find("-truncate 100 /d/.append-lane-17-"), std::string::npos);
  EXPECT_FALSE(IsFinal(refused.error())) << "another attempt may read more of the ledger";
}

TEST(AppendOptionsTest, ValuesOutOfTheirBoundsAreRefusedByName) {
  EXPECT_TRUE(AppendOptions().Check());
  const auto refusal = [](const AppendOptions& options) {
    const auto checked = options.Check();
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(refusal({.lanes = 0}), "lanes is 0; choose a value from 1 to 64");
  EXPECT_EQ(refusal({.lanes = 65}), "lanes is 65; choose a value from 1 to 64");
  EXPECT_EQ(refusal({.replication = 40'000}),
            "replication is 40000; choose a value from 0 to 32767");
  EXPECT_EQ(refusal({.batch_bytes = (1 << 20) + 1}),
            "batch_bytes is 1048577; choose a value from 1 to 1048576");
  EXPECT_EQ(refusal({.batch_bytes = 10, .unacknowledged_bytes = 9}),
            "unacknowledged_bytes is 9; choose a value from 10 to 1073741824");
  EXPECT_EQ(refusal({.idle_millis = 30'001}),
            "idle_millis is 30001; choose a value from 1 to 30000");
  EXPECT_FALSE(refusal({.patience_millis = 0}).empty());
  EXPECT_FALSE(refusal({.block_bytes = 1000}).empty());
}

TEST(CompletionQueueTest, FunctionsRunInOrderOnAnotherThread) {
  std::vector<int> seen;
  std::thread::id thread;
  {
    CompletionQueue queue;
    for (int i = 0; i < 100; ++i) {
      queue.Add([&, i] {
        seen.push_back(i);
        thread = std::this_thread::get_id();
        EXPECT_TRUE(queue.IsCurrentThread());
      });
    }
    queue.Await();
    EXPECT_EQ(seen.size(), 100U);
    EXPECT_FALSE(queue.IsCurrentThread());
    queue.Add([&] { seen.push_back(100); });
  }
  ASSERT_EQ(seen.size(), 101U) << "what is left runs before the queue is gone";
  for (int i = 0; i <= 100; ++i) EXPECT_EQ(seen[i], i);
  EXPECT_NE(thread, std::this_thread::get_id());
}

class PendingBatchesTest : public ::testing::Test {
 protected:
  Status Add(std::size_t bytes) {
    return batches_.Add(std::vector<std::byte>(bytes), [this](const Status& stored) {
      ++(stored ? stored_ : failed_);
    });
  }

  std::atomic<int> stored_ = 0;
  std::atomic<int> failed_ = 0;
  CompletionQueue completions_;
  PendingBatches batches_{100, 1'000, completions_};
};

TEST_F(PendingBatchesTest, RecordsGatherWhileAnAnswerIsAwaited) {
  EXPECT_FALSE(batches_.IsReady());
  ASSERT_TRUE(Add(10));
  const auto first = batches_.Send();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->records(), 1U);
  ASSERT_TRUE(Add(10));
  ASSERT_TRUE(Add(80));
  EXPECT_FALSE(batches_.IsReady()) << "90 bytes are no full batch, and an answer is awaited";
  ASSERT_TRUE(Add(20));
  const auto second = batches_.Send();
  ASSERT_TRUE(second) << "the next record has no room in this batch";
  EXPECT_EQ(second->first_record(), 1U);
  EXPECT_EQ(second->records(), 2U);
  EXPECT_EQ(second->length_bytes(), 90U);
  EXPECT_FALSE(batches_.Send());
  ASSERT_TRUE(batches_.Stored(0));
  EXPECT_FALSE(batches_.Stored(3)) << "batch 1 is the oldest";
  ASSERT_TRUE(batches_.Stored(1));
  const auto third = batches_.Send();
  ASSERT_TRUE(third) << "no answer is awaited any more";
  EXPECT_EQ(third->first_record(), 3U);
  completions_.Await();
  EXPECT_EQ(stored_.load(), 3);
}

TEST_F(PendingBatchesTest, BatchesWithoutAnAnswerAreSentAgainInOrder) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Add(100));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(batches_.Send());
  EXPECT_EQ(batches_.OldestSent(), 0U);
  batches_.SendAgain();
  EXPECT_FALSE(batches_.OldestSent());
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto batch = batches_.Send();
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->first_record(), i);
  }
}

TEST_F(PendingBatchesTest, ARecordWaitsWhileTooManyBytesAreNotStored) {
  ASSERT_TRUE(Add(600));
  auto waiting = std::async(std::launch::async, [&] { return Add(600); });
  EXPECT_EQ(waiting.wait_for(kShortWhile), std::future_status::timeout);
  ASSERT_TRUE(batches_.Send());
  ASSERT_TRUE(batches_.Stored(0));
  EXPECT_TRUE(waiting.get());
}

TEST_F(PendingBatchesTest, ManySmallRecordsAreBoundedByWhatTheyHoldInMemory) {
  auto waiting = std::async(std::launch::async, [&] {
    int records = 0;
    while (Add(1)) ++records;
    return records;
  });
  EXPECT_EQ(waiting.wait_for(kShortWhile), std::future_status::timeout);
  batches_.Close();
  EXPECT_LT(waiting.get(), 1'000);
}

TEST_F(PendingBatchesTest, AFlushWaitsForTheRecordsBeforeIt) {
  ASSERT_TRUE(batches_.Flush());
  ASSERT_TRUE(Add(10));
  ASSERT_TRUE(batches_.Send());
  auto flush = std::async(std::launch::async, [&] { return batches_.Flush(); });
  EXPECT_EQ(flush.wait_for(kShortWhile), std::future_status::timeout);
  ASSERT_TRUE(Add(10));
  ASSERT_TRUE(batches_.Stored(0));
  EXPECT_TRUE(flush.get());
}

TEST_F(PendingBatchesTest, AfterAFailureAllRecordsFail) {
  ASSERT_TRUE(Add(100));
  ASSERT_TRUE(Add(100));
  ASSERT_TRUE(batches_.Send());
  batches_.Fail(Error{ErrorCode::kTimeout, "no lane"});
  completions_.Await();
  EXPECT_EQ(failed_.load(), 2);
  const auto later = Add(1);
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(later.error().message, "records could not be appended: no lane");
  EXPECT_FALSE(batches_.Flush());
}

TEST_F(PendingBatchesTest, AClosedWriterIsDoneWhenAllIsStored) {
  ASSERT_TRUE(Add(10));
  batches_.Close();
  EXPECT_FALSE(batches_.IsDone());
  EXPECT_EQ(Add(1).error().code, ErrorCode::kInvalid);
  batches_.AwaitWork();
  ASSERT_TRUE(batches_.Send());
  ASSERT_TRUE(batches_.Stored(0));
  EXPECT_TRUE(batches_.IsDone());
  batches_.AwaitWork();
}

TEST(RecordBatchTest, TheMessageTellsOfTheRecordsThatFollow) {
  RecordBatch batch(7);
  const std::vector<std::byte> record(5, std::byte{'x'});
  batch.Add(record, {});
  batch.Add(record, {});
  const auto message = batch.Message();
  ebbfs::BatchProto parsed;
  ASSERT_TRUE(parsed.ParseFromString(message.substr(1)));
  EXPECT_EQ(message[0], static_cast<char>(message.size() - 1));
  EXPECT_EQ(parsed.firstrecord(), 7U);
  EXPECT_EQ(parsed.records(), 2U);
  EXPECT_EQ(parsed.lengthbytes(), 10U);
  EXPECT_EQ(parsed.checksum(), Crc32c(0, batch.data()));
}

TEST(LeaseRenewerTest, TheLeaseOfEachHolderWithAnOpenFileIsRenewed) {
  testing::FakeNamespace names(std::vector<hadoop::hdfs::DatanodeInfoProto>{});
  NamenodeConnection namenode({names.Start()}, {}, "user");
  LeaseRenewer renewer(namenode, std::chrono::milliseconds(200));
  renewer.OnOpen("A");
  renewer.OnClose("A");
  renewer.OnOpen("B");
  renewer.OnOpen("B");
  renewer.OnClose("B");
  renewer.OnOpen();
  const std::set<std::string> wanted = {"B", renewer.client_name()};
  const auto await_wanted = [&] {
    for (int i = 0; i < 1'000 && !std::ranges::includes(names.Renewed(), wanted); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  // The thread may have renewed A while it was open. After it has renewed the others, it knows that
  // A is closed.
  await_wanted();
  names.ForgetRenewed();
  await_wanted();
  EXPECT_EQ(names.Renewed(), wanted);
}

}  // namespace
}  // namespace ebb::client
