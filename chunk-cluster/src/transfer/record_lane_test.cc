// Record appends of many writers to lanes, over servers on loopback.
#include "transfer/record_lane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <system_error>
#include <thread>

#include "common/bytes.h"
#include "common/crc32c.h"
#include "transfer/lane_node.h"
#include "transfer/record_append.h"
#include "transfer/wire.h"

namespace ebb::transfer {
namespace {

using hadoop::hdfs::DatanodeIDProto;

constexpr Timeout kLaneTestPatience = std::chrono::seconds(20);
constexpr std::uint64_t kBlockId = 7;
constexpr std::uint64_t kLedgerId = 8;
constexpr std::uint64_t kStamp = 1001;

ebbfs::OpenBlockProto OpenBlock(std::uint64_t id, const std::vector<const LaneNode*>& nodes) {
  ebbfs::OpenBlockProto open;
  open.mutable_block()->set_poolid("BP-1");
  open.mutable_block()->set_blockid(id);
  open.mutable_block()->set_generationstamp(kStamp);
  open.mutable_block()->set_numbytes(0);
  for (const auto* node : nodes) *open.add_targets()->mutable_id() = node->id();
  return open;
}

LaneProto Lane(const std::vector<const LaneNode*>& nodes, std::uint64_t capacity = 8 << 20,
               std::uint32_t idle_millis = 10'000, std::uint64_t first_id = kBlockId) {
  LaneProto lane;
  *lane.mutable_block() = OpenBlock(first_id, nodes);
  *lane.mutable_ledger() = OpenBlock(first_id + 1, nodes);
  lane.set_capacitybytes(capacity);
  lane.set_idlemillis(idle_millis);
  return lane;
}

// A writer whose records tell who wrote them: the first byte is the writer, the next four the
// number.
class TestWriter {
 public:
  TestWriter(const LaneNode& node, const LaneProto& lane, std::uint8_t name,
             bool join_only = false)
      : name_(name),
        socket_(Socket::Connect("127.0.0.1", node.server->port(), kLaneTestPatience).value()),
        reader_(socket_) {
    OpAppendRecordsProto op;
    *op.mutable_lane() = lane;
    op.set_writer(std::string(16, static_cast<char>(name)));
    if (join_only) op.set_joinonly(true);
    std::string bytes;
    AppendOperation(bytes, Operation::kAppendRecords, op);
    EXPECT_TRUE(WriteString(socket_, bytes, kLaneTestPatience));
  }
  BlockOpResponseProto Response() {
    BlockOpResponseProto response;
    EXPECT_TRUE(ReadMessage(reader_, response, kLaneTestPatience));
    return response;
  }
  static std::vector<std::byte> Record(std::uint8_t name, std::uint32_t number, std::size_t size) {
    std::vector<std::byte> record(size, static_cast<std::byte>(name));
    StoreBig32(record.data() + 1, number);
    return record;
  }
  void Send(std::uint32_t number, std::size_t size, bool damaged = false) {
    const auto record = Record(name_, number, size);
    BatchProto header;
    header.set_firstrecord(number);
    header.set_records(1);
    header.set_lengthbytes(static_cast<std::uint32_t>(size));
    header.set_checksum(Crc32c(0, record) ^ (damaged ? 1 : 0));
    std::string bytes;
    AppendMessage(bytes, header);
    bytes.append(reinterpret_cast<const char*>(record.data()), record.size());
    (void)WriteString(socket_, bytes, kLaneTestPatience);
  }
  void AskToFinish() {
    BatchProto header;
    header.set_firstrecord(0);
    header.set_records(0);
    header.set_lengthbytes(0);
    header.set_checksum(0);
    EXPECT_TRUE(WriteMessage(socket_, header, kLaneTestPatience));
  }
  // BROKEN if the server has closed the connection.
  BatchAnswerProto Answer() {
    BatchAnswerProto answer;
    if (!ReadMessage(reader_, answer, kLaneTestPatience)) {
      answer.set_result(BatchAnswerProto::BROKEN);
    }
    return answer;
  }
  bool AtEnd() {
    const auto end = reader_.AtEnd(kLaneTestPatience);
    return !end || *end;
  }

 private:
  const std::uint8_t name_;
  Socket socket_;
  SocketReader reader_;
};

std::uint64_t Big64(const std::byte* p) {
  return std::uint64_t{LoadBig32(p)} << 32 | LoadBig32(p + 4);
}

// Checks that the ledger describes each byte of the block in order, and that each record is whole.
// Returns the numbers of the records of each writer, in their order.
std::map<std::uint8_t, std::vector<std::uint64_t>> Check(const std::vector<std::byte>& block,
                                                         const std::vector<std::byte>& ledger) {
  std::map<std::uint8_t, std::vector<std::uint64_t>> numbers;
  std::uint64_t end = 0;
  for (std::size_t at = 0; at + LedgerEntry::kBytes <= ledger.size(); at += LedgerEntry::kBytes) {
    const std::byte* const entry = ledger.data() + at;
    EXPECT_EQ(LoadBig32(entry + 44), Crc32c(0, std::span(entry, 44)));
    if (::testing::Test::HasFailure()) break;
    const auto name = static_cast<std::uint8_t>(entry[0]);
    const std::uint32_t length = LoadBig32(entry + 28);
    EXPECT_EQ(Big64(entry + 32), end + length);
    if (end + length > block.size()) break;
    const auto number = Big64(entry + 16);
    const auto record = TestWriter::Record(name, static_cast<std::uint32_t>(number), length);
    EXPECT_TRUE(std::equal(record.begin(), record.end(),
                           block.begin() + static_cast<std::ptrdiff_t>(end)));
    EXPECT_EQ(LoadBig32(entry + 40), Crc32c(0, record));
    end += length;
    numbers[name].push_back(number);
  }
  return numbers;
}

TEST(RecordLaneTest, ManyWritersAppendWholeRecordsToOneBlock) {
  LaneNode first;
  LaneNode second;
  const auto lane = Lane({&first, &second});
  constexpr int kWriters = 16;
  constexpr std::uint32_t kRecords = 40;
  std::vector<std::unique_ptr<TestWriter>> writers;
  for (std::uint8_t w = 1; w <= kWriters; ++w) {
    writers.push_back(std::make_unique<TestWriter>(first, lane, w));
    ASSERT_EQ(writers.back()->Response().status(), hadoop::hdfs::SUCCESS);
  }
  std::vector<std::jthread> threads;
  for (std::uint8_t w = 1; w <= kWriters; ++w) {
    threads.emplace_back([&, w] {
      for (std::uint32_t i = 0; i < kRecords; ++i) writers[w - 1]->Send(i, 100 + 37 * w + i * 191);
      for (std::uint32_t i = 0; i < kRecords; ++i) {
        const auto answer = writers[w - 1]->Answer();
        EXPECT_EQ(answer.result(), BatchAnswerProto::STORED);
        EXPECT_EQ(answer.firstrecord(), i);
      }
    });
  }
  threads.clear();
  writers[0]->AskToFinish();
  EXPECT_EQ(writers[0]->Answer().result(), BatchAnswerProto::IN_USE);
  writers.resize(1);
  auto answer = BatchAnswerProto();
  // The server notices a moment later that the others have left.
  do {
    writers[0]->AskToFinish();
    answer = writers[0]->Answer();
  } while (answer.result() == BatchAnswerProto::IN_USE);
  ASSERT_EQ(answer.result(), BatchAnswerProto::FINISHED) << answer.message();
  for (const auto* node : {&first, &second}) {
    EXPECT_EQ(node->store->Find(kBlockId)->state, ReplicaState::kFinalized);
    const auto block = node->Read(kBlockId);
    const auto ledger = node->Read(kLedgerId);
    EXPECT_EQ(block.size(), answer.blockbytes());
    EXPECT_EQ(ledger.size(), answer.ledgerbytes());
    const auto numbers = Check(block, ledger);
    ASSERT_EQ(numbers.size(), kWriters);
    for (const auto& [name, mine] : numbers) {
      ASSERT_EQ(mine.size(), kRecords);
      EXPECT_TRUE(std::ranges::is_sorted(mine));
    }
  }
}

TEST(RecordLaneTest, ARecordThatHasNoRoomFinishesTheLaneForAll) {
  LaneNode node;
  const auto lane = Lane({&node}, kMaxBatchBytes);
  TestWriter writer(node, lane, 1);
  TestWriter other(node, lane, 2);
  ASSERT_EQ(writer.Response().status(), hadoop::hdfs::SUCCESS);
  ASSERT_EQ(other.Response().status(), hadoop::hdfs::SUCCESS);
  writer.Send(0, 700'000);
  ASSERT_EQ(writer.Answer().result(), BatchAnswerProto::STORED);
  other.Send(0, 400'000);
  for (auto* one : {&writer, &other}) {
    const auto answer = one->Answer();
    EXPECT_EQ(answer.result(), BatchAnswerProto::FINISHED);
    EXPECT_EQ(answer.blockbytes(), 700'000);
    EXPECT_EQ(answer.ledgerbytes(), LedgerEntry::kBytes);
  }
  EXPECT_EQ(node.Read(kBlockId), TestWriter::Record(1, 0, 700'000));
  // The block exists, and is no lane any more.
  TestWriter late(node, lane, 3);
  EXPECT_EQ(late.Response().status(), hadoop::hdfs::ERROR);
}

TEST(RecordLaneTest, ALaneWithALongLedgerIsFinished) {
  LaneNode node;
  TestWriter writer(node, Lane({&node}, 64 << 20), 1);
  ASSERT_EQ(writer.Response().status(), hadoop::hdfs::SUCCESS);
  constexpr std::uint32_t kEntries = (4 << 20) / LedgerEntry::kBytes;
  std::jthread sender([&] {
    for (std::uint32_t i = 0; i <= kEntries; ++i) writer.Send(i, 5);
  });
  std::uint32_t stored = 0;
  BatchAnswerProto answer;
  while ((answer = writer.Answer()).result() == BatchAnswerProto::STORED) ++stored;
  EXPECT_EQ(answer.result(), BatchAnswerProto::FINISHED);
  EXPECT_EQ(stored, kEntries);
  EXPECT_EQ(answer.ledgerbytes(), kEntries * LedgerEntry::kBytes);
}

TEST(RecordLaneTest, AnIdleLaneIsFinished) {
  LaneNode node;
  TestWriter writer(node, Lane({&node}, 8 << 20, 50), 1);
  ASSERT_EQ(writer.Response().status(), hadoop::hdfs::SUCCESS);
  const auto answer = writer.Answer();
  EXPECT_EQ(answer.result(), BatchAnswerProto::FINISHED);
  EXPECT_EQ(answer.blockbytes(), 0);
}

TEST(RecordLaneTest, ALaneThatIsNeverIdleIsFinishedSoLongAfterItsFirstRecord) {
  constexpr auto kAge = std::chrono::milliseconds(300);
  constexpr auto kMostTime = std::chrono::seconds(20);  // the block is full much later
  LaneNode node;
  auto lane = Lane({&node});
  lane.set_agemillis(300);
  TestWriter writer(node, lane, 1);
  ASSERT_EQ(writer.Response().status(), hadoop::hdfs::SUCCESS);
  std::this_thread::sleep_for(2 * kAge);  // a lane without records does not become old
  const auto first = std::chrono::steady_clock::now();
  std::uint32_t stored = 0;
  BatchAnswerProto answer;
  for (; std::chrono::steady_clock::now() - first < kMostTime; ++stored) {
    writer.Send(stored, 100);
    answer = writer.Answer();
    if (answer.result() != BatchAnswerProto::STORED) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(answer.result(), BatchAnswerProto::FINISHED) << answer.message();
  EXPECT_GE(std::chrono::steady_clock::now() - first, kAge);
  EXPECT_GE(stored, 1U);
  EXPECT_EQ(answer.blockbytes(), stored * 100);
  EXPECT_EQ(Check(node.Read(kBlockId), node.Read(kLedgerId))[1].size(), stored);
}

TEST(RecordLaneTest, ALaneWithOneRecordIsFinishedAtItsAgeBeforeItIsIdle) {
  LaneNode node;
  auto lane = Lane({&node}, 8 << 20, 30'000);
  lane.set_agemillis(100);
  TestWriter writer(node, lane, 1);
  ASSERT_EQ(writer.Response().status(), hadoop::hdfs::SUCCESS);
  writer.Send(0, 100);
  EXPECT_EQ(writer.Answer().result(), BatchAnswerProto::STORED);
  // The patience of the test is shorter than the idle time.
  const auto answer = writer.Answer();
  EXPECT_EQ(answer.result(), BatchAnswerProto::FINISHED);
  EXPECT_EQ(answer.blockbytes(), 100);
}

TEST(RecordLaneTest, ALaneHasRoomForItsBlockAndLedgerBeforeItsRecords) {
  constexpr std::uint64_t kCapacity = 8 << 20;
  LaneNode leader;
  LaneNode second;
  TestWriter writer(leader, Lane({&leader, &second}, kCapacity), 1);
  ASSERT_EQ(writer.Response().status(), hadoop::hdfs::SUCCESS);
  for (const auto* node : {&leader, &second}) {
    EXPECT_GE(RoomOf(node->directory, fmt::format("blk_{}", kBlockId)), kCapacity);
    EXPECT_GE(RoomOf(node->directory, fmt::format("blk_{}", kLedgerId)), 4U << 20);
  }
  writer.Send(0, 1'000);
  ASSERT_EQ(writer.Answer().result(), BatchAnswerProto::STORED);
  writer.AskToFinish();
  ASSERT_EQ(writer.Answer().result(), BatchAnswerProto::FINISHED);
  for (const auto* node : {&leader, &second}) {
    EXPECT_EQ(node->Read(kBlockId), TestWriter::Record(1, 0, 1'000));
    EXPECT_LT(RoomOf(node->directory, "blk_"), kCapacity / 8) << "the rest is given back";
  }
}

TEST(RecordLaneTest, TheRecoveryOfABrokenLaneGivesItsRoomBack) {
  constexpr std::uint64_t kCapacity = 8 << 20;
  LaneNode node;
  TestWriter writer(node, Lane({&node}, kCapacity), 1);
  ASSERT_EQ(writer.Response().status(), hadoop::hdfs::SUCCESS);
  writer.Send(0, 1'000);
  ASSERT_EQ(writer.Answer().result(), BatchAnswerProto::STORED);
  node.server->Stop();
  EXPECT_GE(RoomOf(node.directory, fmt::format("blk_{}", kBlockId)), kCapacity);
  ASSERT_TRUE(node.store->StartRecovery(kBlockId, kStamp, kStamp + 1).has_value());
  ASSERT_TRUE(node.store->FinishRecovery(kBlockId, kStamp + 1, 1'000).has_value());
  EXPECT_LT(RoomOf(node.directory, fmt::format("blk_{}", kBlockId)), kCapacity / 8);
}

TEST(RecordLaneTest, ALaneWithoutRoomIsRefusedAndItsServerIsNamed) {
  LaneNode leader;
  LaneNode full;
  full.files.Set(FaultyFileSystem::Fault::kNoRoom);
  TestWriter writer(leader, Lane({&leader, &full}), 1);
  const auto response = writer.Response();
  EXPECT_EQ(response.status(), hadoop::hdfs::ERROR);
  EXPECT_NE(response.message().find(fmt::format("127.0.0.1:{}", full.server->port())),
            std::string::npos)
      << response.message();
}

TEST(RecordLaneTest, ALaneWhoseServerDiesIsBrokenAndItsLedgerKnowsEachByte) {
  LaneNode first;
  auto second = std::make_unique<LaneNode>();
  TestWriter writer(first, Lane({&first, second.get()}), 1);
  ASSERT_EQ(writer.Response().status(), hadoop::hdfs::SUCCESS);
  std::uint32_t stored = 0;
  std::jthread sender([&] {
    for (std::uint32_t i = 0; i < 2'000; ++i) writer.Send(i, 5'000);
  });
  BatchAnswerProto answer;
  while ((answer = writer.Answer()).result() == BatchAnswerProto::STORED) {
    if (++stored == 20) second->server->Stop();
  }
  EXPECT_EQ(answer.result(), BatchAnswerProto::BROKEN);
  EXPECT_FALSE(answer.message().empty());
  sender.join();
  const auto block = first.Read(kBlockId);
  const auto ledger = first.Read(kLedgerId);
  EXPECT_GE(block.size(), stored * 5'000);
  EXPECT_GE(ledger.size() / LedgerEntry::kBytes, (block.size() + 4'999) / 5'000);
  EXPECT_GE(Check(block, ledger)[1].size(), stored);
}

TEST(RecordLaneTest, AWriterThatDiesInARecordHurtsNobody) {
  LaneNode node;
  const auto lane = Lane({&node});
  TestWriter writer(node, lane, 1);
  ASSERT_EQ(writer.Response().status(), hadoop::hdfs::SUCCESS);
  {
    TestWriter damaged(node, lane, 2);
    ASSERT_EQ(damaged.Response().status(), hadoop::hdfs::SUCCESS);
    damaged.Send(0, 1'000, true);
    EXPECT_TRUE(damaged.AtEnd());
    auto dying = Socket::Connect("127.0.0.1", node.server->port(), kLaneTestPatience).value();
    OpAppendRecordsProto op;
    *op.mutable_lane() = lane;
    op.set_writer(std::string(16, 'x'));
    std::string bytes;
    AppendOperation(bytes, Operation::kAppendRecords, op);
    BatchProto header;
    header.set_firstrecord(0);
    header.set_records(1);
    header.set_lengthbytes(1'000);
    header.set_checksum(0);
    AppendMessage(bytes, header);
    ASSERT_TRUE(WriteString(dying, bytes + "half", kLaneTestPatience));
  }
  writer.Send(0, 1'000);
  EXPECT_EQ(writer.Answer().result(), BatchAnswerProto::STORED);
  BatchAnswerProto answer;
  do {
    writer.AskToFinish();
    answer = writer.Answer();
  } while (answer.result() == BatchAnswerProto::IN_USE);
  EXPECT_EQ(answer.result(), BatchAnswerProto::FINISHED);
  EXPECT_EQ(node.Read(kBlockId), TestWriter::Record(1, 0, 1'000));
}

TEST(RecordLaneTest, OperationsThatMakeNoSenseAreRefusedByName) {
  LaneNode node(1);
  auto small = Lane({&node}, 1'000);
  EXPECT_NE(TestWriter(node, small, 1).Response().message().find("1000 bytes is too small"),
            std::string::npos);
  auto idle = Lane({&node}, 8 << 20, 3'600'000);
  EXPECT_NE(TestWriter(node, idle, 1).Response().message().find("3600000 ms"), std::string::npos);
  auto ageless = Lane({&node});
  ageless.set_agemillis(0);
  EXPECT_NE(TestWriter(node, ageless, 1).Response().message().find("age of 0 ms"),
            std::string::npos);
  TestWriter writer(node, Lane({&node}), 1);
  ASSERT_EQ(writer.Response().status(), hadoop::hdfs::SUCCESS);
  EXPECT_NE(TestWriter(node, Lane({&node}, 8 << 20, 10'000, 17), 2)
                .Response()
                .message()
                .find("leads 1 lanes"),
            std::string::npos);
  writer.Send(0, kMaxBatchBytes + 1);
  EXPECT_TRUE(writer.AtEnd());
}

TEST(RecordLaneTest, TheLastOfTheWritersThatLeaveTogetherFinishesTheLane) {
  LaneNode node;
  const auto lane = Lane({&node});
  TestWriter first(node, lane, 1);
  ASSERT_EQ(first.Response().status(), hadoop::hdfs::SUCCESS);
  TestWriter second(node, lane, 2, true);
  ASSERT_EQ(second.Response().status(), hadoop::hdfs::SUCCESS);
  second.Send(0, 100);
  EXPECT_EQ(second.Answer().result(), BatchAnswerProto::STORED);
  // A writer that goes on has not asked.
  first.AskToFinish();
  EXPECT_EQ(first.Answer().result(), BatchAnswerProto::IN_USE);
  first.Send(0, 100);
  EXPECT_EQ(first.Answer().result(), BatchAnswerProto::STORED);
  second.AskToFinish();
  EXPECT_EQ(second.Answer().result(), BatchAnswerProto::IN_USE);
  first.AskToFinish();
  EXPECT_EQ(first.Answer().result(), BatchAnswerProto::FINISHED);
}

TEST(RecordLaneTest, AWriterThatJoinsOpensNoLaneOfItsOwn) {
  LaneNode node;
  const auto lane = Lane({&node});
  EXPECT_NE(TestWriter(node, lane, 1, true).Response().message().find("leads no lane"),
            std::string::npos);
  EXPECT_FALSE(node.store->Find(kBlockId).has_value());
}

TEST(RecordLaneTest, TheLeaderReachesItselfWithoutTheNetwork) {
  LaneNode leader;
  LaneNode second;
  auto lane = Lane({&leader, &second});
  // Nobody listens at port 1.
  lane.mutable_block()->mutable_targets(0)->mutable_id()->set_xferport(1);
  lane.mutable_ledger()->mutable_targets(0)->mutable_id()->set_xferport(1);
  TestWriter writer(leader, lane, 1);
  ASSERT_EQ(writer.Response().status(), hadoop::hdfs::SUCCESS);
  writer.Send(0, 100'000);
  ASSERT_EQ(writer.Answer().result(), BatchAnswerProto::STORED);
  EXPECT_EQ(leader.Read(kBlockId), TestWriter::Record(1, 0, 100'000));
  EXPECT_EQ(second.Read(kBlockId), TestWriter::Record(1, 0, 100'000));
}

TEST(RecordLaneTest, ALaneThatGetsNoThreadIsRefused) {
  LaneNode node;
  int started = 0;
  const auto connect = [](const DatanodeIDProto& server) { return ConnectTo(server); };
  const auto lane = RecordLane::Open(Lane({&node}), connect, [&](std::function<void()> body) {
    if (++started == 2) {
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    }
    return std::thread(std::move(body));
  });
  ASSERT_FALSE(lane.has_value());
  EXPECT_EQ(lane.error().code, ErrorCode::kBusy);
}

TEST(RecordLaneTest, AWriterBeyondTheLimitIsRefused) {
  LaneNode node;
  const auto lane = Lane({&node});
  std::vector<std::unique_ptr<TestWriter>> writers;
  for (std::size_t i = 0; i < kMaxLaneWriters; ++i) {
    writers.push_back(std::make_unique<TestWriter>(node, lane, 1));
    ASSERT_EQ(writers.back()->Response().status(), hadoop::hdfs::SUCCESS);
    // A writer may be answered before it is counted, and is counted before it appends.
    writers.back()->Send(0, 10);
    ASSERT_EQ(writers.back()->Answer().result(), BatchAnswerProto::STORED);
  }
  const auto refused = TestWriter(node, lane, 2, true).Response();
  EXPECT_TRUE(refused.message().starts_with("BUSY: the lane has 256 writers"))
      << refused.message();
}

TEST(RecordLaneTest, AServerThatStopsBreaksItsLanes) {
  LaneNode node;
  TestWriter writer(node, Lane({&node}), 1);
  ASSERT_EQ(writer.Response().status(), hadoop::hdfs::SUCCESS);
  node.server->Stop();
  EXPECT_EQ(writer.Answer().result(), BatchAnswerProto::BROKEN);
}

}  // namespace
}  // namespace ebb::transfer
