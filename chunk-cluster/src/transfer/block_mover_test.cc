// The operations of HDFS's balancer, and their limits.
#include "transfer/block_mover.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>

#include "disk/faulty_file_system.h"
#include "disk/test_support.h"
#include "transfer/peer.h"
#include "transfer/server.h"
#include "transfer/wire.h"

namespace ebb::transfer::moves {
namespace {

using namespace ebb::testing;
using namespace hadoop::hdfs;
using Clock = std::chrono::steady_clock;

constexpr Timeout kPatience = std::chrono::seconds(20);

struct Suspects final : PeerListener {
  void OnCorruptAtPeer(const DatanodeIDProto& peer, const ExtendedBlockProto& block) override {
    peers.push_back(fmt::format("{} {}", peer.datanodeuuid(), block.blockid()));
  }
  std::vector<std::string> peers;
};

// A chunk server without its namenode.
struct Server {
  explicit Server(BalanceThrottler::Options balance = {}, std::vector<StorageType> types = {}) {
    store = OpenStore(files, {directory / "a"}, types);
    store->SetListener(&listener);
    TransferServer::Options options;
    options.balance = balance;
    transfers = std::make_unique<TransferServer>(options, *store, nullptr);
    transfers->SetListener(&suspects);
    EXPECT_TRUE(transfers->Listen());
    transfers->Serve();
  }
  DatanodeIDProto id() const {
    DatanodeIDProto id;
    id.set_ipaddr("127.0.0.1");
    id.set_hostname("127.0.0.1");
    id.set_datanodeuuid(store->server_uuid());
    id.set_xferport(transfers->port());
    id.set_infoport(0);
    id.set_ipcport(0);
    return id;
  }

  TemporaryDirectory directory;
  FaultyFileSystem files;
  RecordingListener listener;
  Suspects suspects;
  std::unique_ptr<BlockStore> store;
  std::unique_ptr<TransferServer> transfers;
};

ExtendedBlockProto Block(std::uint64_t id, std::uint64_t length, std::uint64_t stamp = 1001) {
  ExtendedBlockProto block;
  block.set_poolid("BP-1");
  block.set_blockid(id);
  block.set_generationstamp(stamp);
  block.set_numbytes(length);
  return block;
}

OpReplaceBlockProto Replace(const ExtendedBlockProto& block, const Server& source) {
  OpReplaceBlockProto op;
  *op.mutable_header()->mutable_block() = block;
  op.set_delhint("the-fullest");
  *op.mutable_source()->mutable_id() = source.id();
  op.set_storagetype(DISK);
  return op;
}

// The last answer; IN_PROGRESS is not the last one.
BlockOpResponseProto Ask(const Server& server, Operation operation,
                         const google::protobuf::MessageLite& op) {
  BlockOpResponseProto response;
  auto socket = ConnectTo(server.id());
  EXPECT_TRUE(socket.has_value());
  if (!socket) return response;
  std::string bytes;
  AppendOperation(bytes, operation, op);
  EXPECT_TRUE(WriteString(*socket, bytes, kPatience));
  SocketReader reader(*socket);
  do {
    const auto read = ReadMessage(reader, response, kPatience);
    EXPECT_TRUE(read.has_value()) << read.error().message;
    if (!read) break;
  } while (response.status() == IN_PROGRESS);
  return response;
}

TEST(BlockMoverTest, AReplicaMovesWithItsChecksumsAndItsHint) {
  Server from;
  Server to;
  std::size_t events = 0;
  for (const auto size : kBoundarySizes) {
    const auto data = RandomBytes(size, size);
    StoreBlock(*from.store, 100 + size, data);
    const auto response =
        Ask(to, Operation::kReplaceBlock, Replace(Block(100 + size, size), from));
    ASSERT_EQ(response.status(), SUCCESS) << response.message();
    const auto moved = ReadBlock(*to.store, 100 + size);
    ASSERT_TRUE(moved.has_value()) << moved.error().message;
    EXPECT_EQ(*moved, data);
    ASSERT_TRUE(to.listener.AwaitEvents(++events, kPatience));
    EXPECT_EQ(to.listener.events().back(), fmt::format("stored {} for the-fullest", 100 + size));
    // The namenode decides whether the old replica goes.
    EXPECT_TRUE(from.store->Find(100 + size).has_value());
  }
  EXPECT_EQ(to.transfers->throttler().moves(), 0);
  EXPECT_EQ(to.transfers->counters().moves_in.load(), events);
  EXPECT_EQ(from.transfers->counters().moves_out.load(), events);
}

TEST(BlockMoverTest, AReplicaMovesToAServerWithTheTypeThatTheMoverNames) {
  Server from;
  Server to({}, {StorageType::kArchive});
  StoreBlock(*from.store, 1, RandomBytes(1000, 1));
  auto op = Replace(Block(1, 1000), from);
  EXPECT_NE(Ask(to, Operation::kReplaceBlock, op).status(), SUCCESS);
  op.set_storagetype(ARCHIVE);
  const auto response = Ask(to, Operation::kReplaceBlock, op);
  EXPECT_EQ(response.status(), SUCCESS) << response.message();
  EXPECT_TRUE(to.store->Find(1).has_value());
}

TEST(BlockMoverTest, AMovedReplicaIsSyncedBeforeTheNamenodeMayDeleteTheOldOne) {
  Server from;
  Server to;
  StoreBlock(*from.store, 1, RandomBytes(1000, 1));
  const auto before = to.files.syncs();
  EXPECT_EQ(Ask(to, Operation::kReplaceBlock, Replace(Block(1, 1000), from)).status(), SUCCESS);
  EXPECT_GE(to.files.syncs(), before + 3);
}

TEST(BlockMoverTest, ARefusedMoveSaysWhyAndLeavesNothing) {
  Server from;
  Server to;
  StoreBlock(*from.store, 1, RandomBytes(1000, 1));
  StoreBlock(*to.store, 2, RandomBytes(1000, 2));
  StoreBlock(*from.store, 2, RandomBytes(1000, 2));
  auto foreign = Replace(Block(1, 1000), from);
  foreign.mutable_header()->mutable_block()->set_poolid("BP-of-another");
  auto fast = Replace(Block(1, 1000), from);
  fast.set_storagetype(SSD);
  auto nowhere = Replace(Block(1, 1000), from);
  nowhere.mutable_source()->mutable_id()->set_xferport(1);
  auto long_hint = Replace(Block(1, 1000), from);
  long_hint.set_delhint(std::string(65, 'x'));
  for (const auto& [op, why] : std::vector<std::pair<OpReplaceBlockProto, std::string>>{
           {foreign, "belongs to block pool BP-of-another"},
           {fast, "storage of type SSD"},
           {nowhere, "127.0.0.1:1"},
           {long_hint, "the name has 65 bytes"},
           {Replace(Block(404, 1000), from), "block 404 is not on this server"},
           {Replace(Block(1, 1000, 1002), from), "older than 1002"},
           {Replace(Block(2, 1000), from), "cannot be created again"},
           {Replace(Block(2, 1000), to), "already, which is of type DISK"}}) {
    const auto response = Ask(to, Operation::kReplaceBlock, op);
    EXPECT_EQ(response.status(), ERROR);
    EXPECT_NE(response.message().find(why), std::string::npos) << response.message();
  }
  EXPECT_FALSE(to.store->Find(1).has_value());
  EXPECT_TRUE(to.directory.Find("blk_1").empty());
  EXPECT_EQ(to.transfers->throttler().moves(), 0);
}

TEST(BlockMoverTest, AReplicaThatIsBeingWrittenIsNotCopied) {
  Server from;
  Server to;
  auto writer = from.store->Create({.block_id = 1, .generation_stamp = 1001});
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE(WriteBytes(**writer, 0, RandomBytes(700, 1)));
  const auto response = Ask(to, Operation::kReplaceBlock, Replace(Block(1, 700), from));
  EXPECT_EQ(response.status(), ERROR);
  EXPECT_NE(response.message().find("only a finished replica"), std::string::npos);
  EXPECT_FALSE(to.store->Find(1).has_value());
}

TEST(BlockMoverTest, DamagedBytesAreNotStoredAndTheirHolderIsSuspected) {
  Server from;
  Server to;
  StoreBlock(*from.store, 1, RandomBytes(300'000, 1));
  for (const auto& path : from.directory.Find("blk_1")) {
    if (!path.ends_with(".meta")) FlipByte(path, 200'000);
  }
  const auto response = Ask(to, Operation::kReplaceBlock, Replace(Block(1, 300'000), from));
  EXPECT_EQ(response.status(), ERROR);
  EXPECT_NE(response.message().find("contradict their checksum"), std::string::npos);
  EXPECT_FALSE(to.store->Find(1).has_value());
  EXPECT_EQ(to.suspects.peers, (std::vector<std::string>{from.store->server_uuid() + " 1"}));
}

TEST(BlockMoverTest, BeyondTheLimitOfMovesTheServerIsBusy) {
  Server from;
  Server to({.max_moves = 1});
  StoreBlock(*from.store, 1, RandomBytes(1000, 1));
  {
    const auto other = to.transfers->throttler().Begin();
    ASSERT_TRUE(other.has_value());
    const auto response = Ask(to, Operation::kReplaceBlock, Replace(Block(1, 1000), from));
    EXPECT_EQ(response.status(), ERROR);
    EXPECT_NE(response.message().find("1 moves are under way"), std::string::npos);
    OpCopyBlockProto copy;
    *copy.mutable_header()->mutable_block() = Block(1, 1000);
    EXPECT_EQ(Ask(to, Operation::kCopyBlock, copy).status(), ERROR);
  }
  EXPECT_EQ(Ask(to, Operation::kReplaceBlock, Replace(Block(1, 1000), from)).status(), SUCCESS);
}

TEST(BlockMoverTest, MovesKeepToTheBandwidth) {
  Server from;
  Server to({.bytes_per_second = 2 << 20});
  const std::size_t length = 1 << 20;
  StoreBlock(*from.store, 1, RandomBytes(length, 1));
  const auto begun = Clock::now();
  EXPECT_EQ(Ask(to, Operation::kReplaceBlock, Replace(Block(1, length), from)).status(), SUCCESS);
  // The last of sixteen packets waits for those before it.
  EXPECT_GE(Clock::now() - begun, std::chrono::milliseconds(350));
}

TEST(BalanceThrottlerTest, ALowLimitOfBytesAllowsOnlyMovesThatEnd) {
  BalanceThrottler throttler({.bytes_per_second = 4096, .max_moves = 40});
  std::vector<BalanceThrottler::Move> moves;
  const auto begin_all = [&] {
    while (auto move = throttler.Begin()) moves.push_back(std::move(*move));
    EXPECT_EQ(moves.size(), throttler.max_moves());
    return moves.size();
  };
  EXPECT_EQ(begin_all(), 1);
  throttler.SetBytesPerSecond(64 << 10);
  EXPECT_EQ(begin_all(), 30);
  throttler.SetBytesPerSecond(~std::uint64_t{0});
  EXPECT_EQ(begin_all(), 40);
  throttler.SetBytesPerSecond(1);
  EXPECT_FALSE(throttler.Begin().has_value());
  moves.clear();
  EXPECT_EQ(begin_all(), 1);
}

TEST(BalanceThrottlerTest, AHigherLimitEndsTheWaitAndSoDoesTheStop) {
  BalanceThrottler throttler({.bytes_per_second = 1});
  std::stop_source stop;
  ASSERT_TRUE(throttler.Take(1'000'000, stop.get_token()).has_value());
  auto waits = std::async([&] { return throttler.Take(1, stop.get_token()).has_value(); });
  throttler.SetBytesPerSecond(0);
  EXPECT_EQ(throttler.bytes_per_second(), 1);
  throttler.SetBytesPerSecond(std::uint64_t{1} << 40);
  EXPECT_TRUE(waits.get());
  throttler.SetBytesPerSecond(1);
  ASSERT_TRUE(throttler.Take(1'000'000, stop.get_token()).has_value());
  auto stopped = std::async([&] { return throttler.Take(1, stop.get_token()); });
  stop.request_stop();
  const auto end = stopped.get();
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code, ErrorCode::kShutdown);
}

}  // namespace
}  // namespace ebb::transfer::moves
