// Server and client of data transfer against each other on loopback.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <thread>

#include "common/bytes.h"
#include "common/crc32c.h"
#include "disk/faulty_file_system.h"
#include "disk/test_support.h"
#include "disk/verified_reader.h"
#include "transfer/block_reader.h"
#include "transfer/cluster_block_io.h"
#include "transfer/md5.h"
#include "transfer/remote_sink.h"
#include "transfer/remote_source.h"
#include "transfer/replica_copier.h"
#include "transfer/server.h"
#include "transfer/wire.h"

namespace ebb::transfer {
namespace {

using namespace ebb::testing;
using namespace hadoop::hdfs;
using std::chrono::seconds;

constexpr Timeout kPatience = seconds(20);

// Serves any block: its bytes are random, and the block id is the seed. Of block 405 no byte can be
// read.
class PatternReader final : public MissingBlockReader {
 public:
  static constexpr std::uint64_t kLength = 300'000;

  Result<MissingBlock> Open(const ExtendedBlockProto& block, std::uint64_t offset,
                            std::uint64_t length) override {
    if (block.blockid() == 404) return Fail(ErrorCode::kNotFound, "no such block anywhere");
    auto data = RandomBytes(kLength, block.blockid());
    data.resize(block.blockid() == 405 ? offset : offset + std::min(length, kLength - offset));
    return MissingBlock{std::make_unique<Source>(std::move(data), offset), kLength};
  }

 private:
  class Source final : public BlockSource {
   public:
    Source(std::vector<std::byte> data, std::uint64_t offset)
        : data_(std::move(data)), position_(offset) {}
    ebb::Status Read(std::span<std::byte> out) override {
      if (out.size() > data_.size() - position_) return Fail(ErrorCode::kInvalid, "beyond the end");
      std::copy_n(data_.begin() + static_cast<std::ptrdiff_t>(position_), out.size(), out.begin());
      position_ += out.size();
      return {};
    }
    bool local() const override { return false; }

   private:
    const std::vector<std::byte> data_;
    std::uint64_t position_;
  };
};

// One chunk server without its namenode.
struct Node {
  explicit Node(MissingBlockReader* missing = nullptr, TransferServer::Options options = {},
                DiskQueue::Options calls = {}) {
    store = OpenStore(files, {directory / "a", directory / "b"}, {}, calls);
    store->SetListener(&listener);
    Serve(missing, options);
  }
  void Serve(MissingBlockReader* missing, TransferServer::Options options) {
    server = std::make_unique<TransferServer>(options, *store, missing);
    EXPECT_TRUE(server->Listen());
    server->Serve();
  }
  DatanodeIDProto id() const {
    DatanodeIDProto id;
    id.set_ipaddr("127.0.0.1");
    id.set_hostname("127.0.0.1");
    id.set_datanodeuuid(store->server_uuid());
    id.set_xferport(server->port());
    id.set_infoport(0);
    id.set_ipcport(0);
    return id;
  }
  std::string storage(std::size_t i) const { return store->Disks()[i].storage_uuid; }
  // Waits until the store has told of so many changes. False if it never does.
  bool AwaitEvents(std::size_t count) { return listener.AwaitEvents(count, kPatience); }

  TemporaryDirectory directory;
  FaultyFileSystem files;
  RecordingListener listener;
  std::unique_ptr<BlockStore> store;
  std::unique_ptr<TransferServer> server;
};

// Peers that sent corrupt bytes: their uuids and the blocks.
struct SuspectedPeers final : PeerListener {
  void OnCorruptAtPeer(const DatanodeIDProto& peer, const ExtendedBlockProto& block) override {
    names.push_back(fmt::format("{} {}", peer.datanodeuuid(), block.blockid()));
  }
  std::vector<std::string> names;
};

ExtendedBlockProto Block(std::uint64_t id, std::uint64_t length, std::uint64_t stamp = 1001) {
  ExtendedBlockProto block;
  block.set_poolid("BP-1");
  block.set_blockid(id);
  block.set_generationstamp(stamp);
  block.set_numbytes(length);
  return block;
}

Result<std::vector<std::byte>> ReadFrom(const DatanodeIDProto& peer,
                                        const ExtendedBlockProto& block, std::uint64_t offset) {
  EBB_ASSIGN(const auto source, OpenRemoteSource(peer, block, offset, block.numbytes()));
  std::vector<std::byte> data(block.numbytes() - offset);
  // In pieces that align with neither chunks nor packets.
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t n = std::min<std::size_t>(10'007, data.size() - at);
    EBB_TRY(source->Read(std::span(data).subspan(at, n)));
    at += n;
  }
  return data;
}

std::vector<std::byte> From(const std::vector<std::byte>& data, std::size_t offset) {
  return {data.begin() + static_cast<std::ptrdiff_t>(offset), data.end()};
}

// A client that sends the bytes of each packet itself.
class RawClient {
 public:
  explicit RawClient(const DatanodeIDProto& peer)
      : socket_(
            Socket::Connect(peer.ipaddr(), static_cast<std::uint16_t>(peer.xferport()), kPatience)
                .value()),
        reader_(socket_) {}

  void Send(Operation operation, const google::protobuf::MessageLite& message) {
    std::string bytes;
    AppendOperation(bytes, operation, message);
    ASSERT_TRUE(WriteString(socket_, bytes, kPatience));
  }
  void StartPipeline(
      const ExtendedBlockProto& block, const std::vector<DatanodeIDProto>& targets,
      OpWriteBlockProto::BlockConstructionStage stage = OpWriteBlockProto::PIPELINE_SETUP_CREATE,
      std::uint64_t new_stamp = 1001, std::uint64_t acknowledged = 0) {
    OpWriteBlockProto op;
    *op.mutable_header()->mutable_baseheader()->mutable_block() = block;
    op.mutable_header()->set_clientname("DFSClient_test");
    for (const auto& target : targets) *op.add_targets()->mutable_id() = target;
    op.set_stage(stage);
    op.set_pipelinesize(static_cast<std::uint32_t>(targets.size() + 1));
    op.set_minbytesrcvd(acknowledged);
    op.set_maxbytesrcvd(1 << 30);
    op.set_latestgenerationstamp(new_stamp);
    *op.mutable_requestedchecksum() = ToProto({});
    Send(Operation::kWriteBlock, op);
  }
  BlockOpResponseProto Response() {
    BlockOpResponseProto response;
    const auto read = ReadMessage(reader_, response, kPatience);
    EXPECT_TRUE(read.has_value()) << read.error().message;
    return response;
  }
  // False once the server has closed the connection.
  bool SendPacket(std::int64_t sequence, std::uint64_t offset, std::span<const std::byte> data,
                  bool last = false, bool damaged = false) {
    const format::Checksum checksum;
    std::vector<std::byte> sums(checksum.BytesFor(data.size()));
    checksum.ComputeAll(data, sums.data());
    if (damaged) sums[0] ^= std::byte{1};
    std::string bytes;
    AppendPacketPrefix(bytes, {.offset = offset,
                               .sequence = sequence,
                               .last = last,
                               .sync = false,
                               .sums_bytes = sums.size(),
                               .data_bytes = data.size()});
    bytes.append(reinterpret_cast<const char*>(sums.data()), sums.size());
    bytes.append(reinterpret_cast<const char*>(data.data()), data.size());
    return WriteString(socket_, bytes, kPatience).has_value();
  }
  PipelineAckProto Ack() {
    PipelineAckProto ack;
    const auto read = ReadMessage(reader_, ack, kPatience);
    EXPECT_TRUE(read.has_value()) << read.error().message;
    return ack;
  }
  // Reads the data of all packets, then sends the client's status as HDFS clients do.
  std::vector<std::byte> Packets(std::uint64_t offset, bool with_checksums) {
    std::vector<std::byte> data;
    for (;;) {
      const auto packet = ReadPacket(reader_, kPatience);
      EXPECT_TRUE(packet.has_value()) << packet.error().message;
      if (!packet || packet->last) break;
      EXPECT_EQ(packet->offset, offset + data.size());
      if (with_checksums) {
        EXPECT_FALSE(format::Checksum().FirstMismatch(packet->data, packet->sums).has_value());
      } else {
        EXPECT_TRUE(packet->sums.empty());
      }
      data.insert(data.end(), packet->data.begin(), packet->data.end());
    }
    ClientReadStatusProto thanks;
    thanks.set_status(CHECKSUM_OK);
    EXPECT_TRUE(WriteMessage(socket_, thanks, kPatience));
    return data;
  }
  // Reads until the server closes the connection. True if fewer bytes came than these.
  bool DrainsTooFew(std::size_t bytes) {
    std::size_t got = 0;
    constexpr std::size_t kStep = 4096;
    while (reader_.Take(kStep, kPatience).has_value()) got += kStep;
    return got < bytes;
  }
  bool AtEnd() {
    const auto end = reader_.AtEnd(kPatience);
    return !end || *end;
  }

 private:
  Socket socket_;
  SocketReader reader_;
};

OpReadBlockProto ReadOp(const ExtendedBlockProto& block, std::uint64_t offset,
                        std::uint64_t length) {
  OpReadBlockProto op;
  *op.mutable_header()->mutable_baseheader()->mutable_block() = block;
  op.mutable_header()->set_clientname("test");
  op.set_offset(offset);
  op.set_len(length);
  return op;
}

TEST(TransferTest, BlocksOfAllLengthsGoThroughASinkAndASource) {
  Node node;
  for (const auto size : kBoundarySizes) {
    const auto data = RandomBytes(size, size);
    const auto block = Block(100 + size, size);
    auto sink = OpenRemoteSink(node.id(), block, node.storage(1));
    ASSERT_TRUE(sink.has_value()) << sink.error().message;
    for (std::size_t at = 0; at < size; at += 100'003) {
      ASSERT_TRUE(
          (*sink)->Write(std::span(data).subspan(at, std::min<std::size_t>(100'003, size - at))));
    }
    const auto finished = (*sink)->Finish();
    ASSERT_TRUE(finished.has_value()) << finished.error().message;
    EXPECT_EQ(node.store->Find(100 + size)->storage_uuid, node.storage(1));
    for (const std::size_t offset : {std::size_t{0}, size / 3, size - size / 7}) {
      const auto read = ReadFrom(node.id(), block, offset);
      ASSERT_TRUE(read.has_value()) << size << " at " << offset << ": " << read.error().message;
      EXPECT_EQ(*read, From(data, offset)) << size << " at " << offset;
    }
  }
  EXPECT_GE(node.files.syncs(), 3 * std::size(kBoundarySizes));
}

TEST(TransferTest, RangesComeInWholeChunksAndTheConnectionServesTheNext) {
  Node node;
  const auto data = RandomBytes(5000, 1);
  StoreBlock(*node.store, 1, data);
  RawClient client(node.id());
  struct Case {
    std::uint64_t offset, length, begin, end;
    bool checksums;
  };
  for (const auto& c :
       {Case{0, 5000, 0, 5000, true}, Case{0, 1, 0, 512, true}, Case{513, 10, 512, 1024, true},
        Case{4999, 1, 4608, 5000, true}, Case{1024, 512, 1024, 1536, true},
        Case{100, ~std::uint64_t{0}, 0, 5000, true}, Case{5000, 0, 4608, 5000, true},
        Case{600, 1000, 512, 2048, false}}) {
    auto op = ReadOp(Block(1, 5000), c.offset, c.length);
    op.set_sendchecksums(c.checksums);
    client.Send(Operation::kReadBlock, op);
    const auto response = client.Response();
    ASSERT_EQ(response.status(), SUCCESS) << response.message();
    EXPECT_EQ(response.readopchecksuminfo().chunkoffset(), c.begin);
    EXPECT_EQ(response.readopchecksuminfo().checksum().type(),
              c.checksums ? CHECKSUM_CRC32C : CHECKSUM_NULL);
    EXPECT_EQ(client.Packets(c.begin, c.checksums),
              (std::vector<std::byte>{data.begin() + static_cast<std::ptrdiff_t>(c.begin),
                                      data.begin() + static_cast<std::ptrdiff_t>(c.end)}));
  }
}

TEST(TransferTest, AReaderLeavesItsConnectionToTheNextOne) {
  Node node;
  const auto data = RandomBytes(500'000, 1);
  StoreBlock(*node.store, 1, data);
  const auto block = Block(1, data.size());
  const auto address = TransferAddress(node.id());
  IdleSockets idle;
  // Reads `length` bytes of the range up to `end`, and ends the reader.
  const auto read = [&](std::uint64_t offset, std::uint64_t end, std::size_t length) {
    auto reader = BlockReader::Open(node.id(), ReadOp(block, offset, end - offset), 8192,
                                    {.idle = &idle});
    ASSERT_TRUE(reader) << reader.error().message;
    std::vector<std::byte> bytes;
    while (bytes.size() < length) {
      const auto part = (*reader)->Next(length - bytes.size());
      ASSERT_TRUE(part) << part.error().message;
      bytes.insert(bytes.end(), part->begin(), part->end());
    }
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(),
                           data.begin() + static_cast<std::ptrdiff_t>(offset)));
  };
  read(1000, 3000, 2000);
  auto kept = idle.Take(address);
  ASSERT_TRUE(kept);
  const auto local = kept->local();
  idle.Put(address, *std::move(kept));
  read(7, 400'000, 399'993);
  kept = idle.Take(address);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->local(), local);
  EXPECT_FALSE(idle.Take(address));

  // A reader in the middle of a range closes its connection.
  idle.Put(address, *std::move(kept));
  read(0, 400'000, 10);
  EXPECT_FALSE(idle.Take(address));

  // A connection that the server has closed is of no use.
  read(0, 100, 100);
  node.server->Stop();
  EXPECT_FALSE(idle.Take(address));
}

TEST(TransferTest, ReadsThatCannotBeServedSayWhy) {
  Node node;
  StoreBlock(*node.store, 1, RandomBytes(5000, 1));
  RawClient client(node.id());
  auto foreign = Block(1, 5000);
  foreign.set_poolid("BP-of-another");
  for (const auto& op : {ReadOp(Block(2, 10), 0, 10), ReadOp(Block(1, 5000), 5001, 1),
                         ReadOp(Block(1, 5000), 0, 5001), ReadOp(Block(1, 5000, 1002), 0, 10),
                         ReadOp(foreign, 0, 10)}) {
    client.Send(Operation::kReadBlock, op);
    const auto response = client.Response();
    EXPECT_EQ(response.status(), ERROR);
    EXPECT_FALSE(response.message().empty());
  }
  OpRequestShortCircuitAccessProto fds;
  *fds.mutable_header()->mutable_block() = Block(1, 5000);
  fds.set_maxversion(1);
  client.Send(Operation::kRequestShortCircuitFds, fds);
  EXPECT_EQ(client.Response().status(), ERROR_UNSUPPORTED);
  client.Send(static_cast<Operation>(123), fds);
  EXPECT_EQ(client.Response().status(), ERROR_UNSUPPORTED);
}

// The client goes to its next location at once, and keeps its connection.
TEST(TransferTest, AReadThatTheDiskRefusesBeforeItsFirstByteSaysWhy) {
  // A disk that works on one call at a time, for which none waits.
  Node node(nullptr, {}, {.max_calls = 1, .max_waiting = 0});
  const auto data = RandomBytes(512 * 1000, 1);
  StoreBlock(*node.store, 1, data, 1001, node.storage(0));
  StoreBlock(*node.store, 77, data, 1001, node.storage(0));
  RawClient client(node.id());
  for (const bool checksums : {true, false}) {
    // The replica is open once the header of its checksums was read. Then the deletion of another
    // block, which is never refused, keeps the disk busy.
    std::future<bool> deleted;
    node.files.AfterReading("/blk_1_1001.meta", [&] {
      node.files.Set(FaultyFileSystem::Fault::kHang, "/blk_77");
      deleted = std::async(std::launch::async, [&] { return node.store->Delete(77, 1001); });
      EXPECT_TRUE(node.files.AwaitHanging(1, kPatience));
    });
    auto op = ReadOp(Block(1, data.size()), 0, data.size());
    op.set_sendchecksums(checksums);
    client.Send(Operation::kReadBlock, op);
    const auto refused = client.Response();
    EXPECT_EQ(refused.status(), ERROR);
    EXPECT_NE(refused.message().find("does not keep up"), std::string::npos) << refused.message();
    node.files.Set(FaultyFileSystem::Fault::kNone);
    EXPECT_TRUE(deleted.get());
    client.Send(Operation::kReadBlock, op);
    ASSERT_EQ(client.Response().status(), SUCCESS);
    EXPECT_EQ(client.Packets(0, checksums), data);
    StoreBlock(*node.store, 77, data, 1001, node.storage(0));
  }
  EXPECT_TRUE(node.store->Find(1).has_value()) << "no fault of the replica";
}

TEST(TransferTest, DamageOnTheDiskIsCaughtByEveryReader) {
  Node node;
  const auto data = RandomBytes(100'000, 1);
  StoreBlock(*node.store, 1, data);
  FlipByte(node.directory.Find("blk_1").front().ends_with(".meta")
               ? node.directory.Find("blk_1").back()
               : node.directory.Find("blk_1").front(),
           70'000);
  const auto remote = ReadFrom(node.id(), Block(1, data.size()), 0);
  ASSERT_FALSE(remote.has_value());
  EXPECT_EQ(remote.error().code, ErrorCode::kCorrupt);
  auto local = OpenVerifiedReader(*node.store, 1, 1001, data.size(), 0);
  ASSERT_TRUE(local.has_value());
  std::vector<std::byte> out(69'632);
  EXPECT_TRUE((*local)->Read(out));
  const auto bad = (*local)->Read(std::span(out).first(1));
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(node.listener.events().back(), "corrupt 1");
}

// After its first packet the server waits for its turn, and the replica is cut meanwhile.
TEST(TransferTest, AReplicaThatIsCutWhileItIsMovedStays) {
  TransferServer::Options options;
  options.balance.bytes_per_second = 1;
  // Files with descriptors: only their packets are sent one by one.
  const TemporaryDirectory directory;
  RecordingListener listener;
  const auto store = OpenStore(RealFileSystem(), {directory / "a"});
  store->SetListener(&listener);
  TransferServer server(options, *store, nullptr);
  ASSERT_TRUE(server.Listen());
  server.Serve();
  DatanodeIDProto id;
  id.set_ipaddr("127.0.0.1");
  id.set_xferport(server.port());
  const auto data = RandomBytes(1 << 20, 1);
  StoreBlock(*store, 1, data);
  OpCopyBlockProto copy;
  *copy.mutable_header()->mutable_block() = Block(1, data.size());
  RawClient client(id);
  client.Send(Operation::kCopyBlock, copy);
  ASSERT_EQ(client.Response().status(), SUCCESS);
  ASSERT_TRUE(store->StartRecovery(1, 1001, 1005).has_value());
  ASSERT_TRUE(store->FinishRecovery(1, 1005, 1300).has_value());
  const auto events = listener.events();
  server.throttler().SetBytesPerSecond(std::uint64_t{1} << 40);
  EXPECT_TRUE(client.DrainsTooFew(data.size()));
  EXPECT_EQ(listener.events(), events);
  const auto left = ReadBlock(*store, 1);
  ASSERT_TRUE(left.has_value()) << left.error().message;
  EXPECT_EQ(*left, (std::vector<std::byte>{data.begin(), data.begin() + 1300}));
}

TEST(TransferTest, ABlockThatIsNotHereComesFromTheMissingBlockReader) {
  PatternReader pattern;
  Node node(&pattern);
  RawClient client(node.id());
  for (const std::size_t offset : {0U, 1U, 512U, 299'999U}) {
    const auto block = Block(7, PatternReader::kLength);
    client.Send(Operation::kReadBlock, ReadOp(block, offset, PatternReader::kLength - offset));
    const auto response = client.Response();
    ASSERT_EQ(response.status(), SUCCESS) << response.message();
    const std::size_t begin = response.readopchecksuminfo().chunkoffset();
    EXPECT_EQ(begin, offset / 512 * 512);
    EXPECT_EQ(client.Packets(begin, true), From(RandomBytes(PatternReader::kLength, 7), begin));
  }
  EXPECT_EQ(node.server->counters().reads_of_missing_blocks, 4U);
  client.Send(Operation::kReadBlock, ReadOp(Block(404, 10), 0, 10));
  const auto response = client.Response();
  EXPECT_EQ(response.status(), ERROR);
  EXPECT_NE(response.message().find("no such block anywhere"), std::string::npos);
  RawClient second(node.id());
  second.Send(Operation::kReadBlock, ReadOp(Block(405, 10), 0, 10));
  const auto unreadable = second.Response();
  EXPECT_EQ(unreadable.status(), ERROR);
  EXPECT_NE(unreadable.message().find("beyond the end"), std::string::npos);
  // A chunk server that reads a source never gets a decoded block.
  EXPECT_FALSE(ReadFrom(node.id(), Block(7, PatternReader::kLength), 0).has_value());
}

TEST(TransferTest, APartOfABlockThatIsNotHereComesInWholeChunks) {
  PatternReader pattern;
  Node node(&pattern);
  RawClient client(node.id());
  const auto data = RandomBytes(PatternReader::kLength, 7);
  const auto block = Block(7, PatternReader::kLength);
  for (const auto& [offset, length] : {std::pair<std::size_t, std::size_t>{0, 1},
                                       {511, 2},
                                       {1000, 98'765},
                                       {299'000, 999},
                                       {0, 300'000}}) {
    client.Send(Operation::kReadBlock, ReadOp(block, offset, length));
    const auto response = client.Response();
    ASSERT_EQ(response.status(), SUCCESS) << response.message();
    const std::size_t begin = offset / 512 * 512;
    const std::size_t end = std::min((offset + length + 511) / 512 * 512, data.size());
    const auto sent = client.Packets(begin, true);
    EXPECT_EQ(sent, std::vector(data.begin() + static_cast<std::ptrdiff_t>(begin),
                                data.begin() + static_cast<std::ptrdiff_t>(end)))
        << length << " bytes at " << offset;
  }
}

TEST(TransferTest, ABlockWhoseFileIsGoneIsServedInTheSameRequest) {
  PatternReader pattern;
  Node node(&pattern);
  const auto data = RandomBytes(PatternReader::kLength, 7);
  StoreBlock(*node.store, 7, data);
  for (const auto& path : node.directory.Find("blk_7")) std::filesystem::remove(path);
  RawClient client(node.id());
  client.Send(Operation::kReadBlock, ReadOp(Block(7, data.size()), 0, data.size()));
  ASSERT_EQ(client.Response().status(), SUCCESS);
  EXPECT_EQ(client.Packets(0, true), data);
  EXPECT_EQ(node.listener.events().back(), "deleted 7");
}

TEST(TransferTest, APipelineOfThreeStoresThreeReplicas) {
  Node nodes[3];
  const auto data = RandomBytes(200'000, 1);
  RawClient client(nodes[0].id());
  client.StartPipeline(Block(1, 0), {nodes[1].id(), nodes[2].id()});
  const auto response = client.Response();
  ASSERT_EQ(response.status(), SUCCESS) << response.firstbadlink();
  std::int64_t sequence = 0;
  for (std::size_t at = 0; at < data.size(); at += 65'024) {
    const std::size_t n = std::min<std::size_t>(65'024, data.size() - at);
    ASSERT_TRUE(client.SendPacket(sequence++, at, std::span(data).subspan(at, n)));
  }
  ASSERT_TRUE(client.SendPacket(kHeartbeatSequence, 0, {}));
  for (std::int64_t i = 0; i < sequence; ++i) {
    const auto ack = client.Ack();
    EXPECT_EQ(ack.seqno(), i);
    EXPECT_EQ(ack.reply_size(), 3);
    for (const int status : ack.reply()) EXPECT_EQ(status, SUCCESS);
  }
  EXPECT_EQ(client.Ack().seqno(), kHeartbeatSequence);
  // Acknowledged bytes are visible on every server before the block is finalized.
  for (const auto& node : nodes) {
    const auto reader = node.store->OpenReader(1, 0);
    ASSERT_TRUE(reader.has_value());
    EXPECT_EQ((*reader)->info().length_bytes, data.size());
    EXPECT_EQ((*reader)->info().state, ReplicaState::kBeingWritten);
  }
  ASSERT_TRUE(client.SendPacket(sequence, data.size(), {}, true));
  EXPECT_EQ(client.Ack().seqno(), sequence);
  for (auto& node : nodes) {
    EXPECT_EQ(node.store->Find(1)->state, ReplicaState::kFinalized);
    const auto read = ReadBlock(*node.store, 1);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(*read, data);
    EXPECT_EQ(node.listener.events(), std::vector<std::string>{"stored 1"});
  }
}

TEST(TransferTest, ABrokenPipelineLeavesNoFinalizedBlockAndCanBeRebuilt) {
  Node first;
  auto second = std::make_unique<Node>();
  Node third;
  const auto data = RandomBytes(4096, 1);
  {
    RawClient client(first.id());
    client.StartPipeline(Block(1, 0), {second->id(), third.id()});
    ASSERT_EQ(client.Response().status(), SUCCESS);
    ASSERT_TRUE(client.SendPacket(0, 0, std::span(data).first(1024)));
    EXPECT_EQ(client.Ack().reply_size(), 3);
    second->server->Stop();
    ASSERT_TRUE(client.SendPacket(1, 1024, std::span(data).subspan(1024, 1024)));
    const auto ack = client.Ack();
    EXPECT_EQ(ack.seqno(), 1);
    EXPECT_EQ(ack.reply(0), SUCCESS);
    EXPECT_EQ(ack.reply(1), ERROR);
    EXPECT_TRUE(client.AtEnd());
  }
  EXPECT_TRUE(first.directory.Find("finalized").empty());
  EXPECT_TRUE(third.directory.Find("finalized").empty());
  // The client continues with the remaining servers, under a new generation stamp.
  RawClient client(first.id());
  client.StartPipeline(Block(1, 0), {third.id()},
                       OpWriteBlockProto::PIPELINE_SETUP_STREAMING_RECOVERY, 1002, 1024);
  const auto response = client.Response();
  ASSERT_EQ(response.status(), SUCCESS) << response.message();
  ASSERT_TRUE(client.SendPacket(0, 1024, std::span(data).subspan(1024)));
  ASSERT_TRUE(client.SendPacket(1, 4096, {}, true));
  EXPECT_EQ(client.Ack().seqno(), 0);
  EXPECT_EQ(client.Ack().seqno(), 1);
  for (auto* node : {&first, &third}) {
    const auto read = ReadBlock(*node->store, 1);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(*read, data);
    EXPECT_EQ(node->store->Find(1)->generation_stamp, 1002U);
  }
}

TEST(TransferTest, AServerThatCannotBeReachedIsTheFirstBadLink) {
  Node first;
  DatanodeIDProto nobody = first.id();
  nobody.set_xferport(Listener::Listen("127.0.0.1", 0)->port());
  RawClient client(first.id());
  client.StartPipeline(Block(1, 0), {nobody});
  const auto response = client.Response();
  EXPECT_EQ(response.status(), ERROR);
  EXPECT_EQ(response.firstbadlink(), TransferAddress(nobody));
}

TEST(TransferTest, AServerThatRefusesTheBlockIsTheFirstBadLink) {
  Node first;
  Node second;
  StoreBlock(*second.store, 1, RandomBytes(100, 1));
  RawClient client(first.id());
  client.StartPipeline(Block(1, 0), {second.id()});
  const auto response = client.Response();
  EXPECT_EQ(response.status(), ERROR);
  EXPECT_EQ(response.firstbadlink(), TransferAddress(second.id()));
}

TEST(TransferTest, DamagedPacketsAndFailingDisksReachTheClient) {
  Node first;
  Node second;
  const auto data = RandomBytes(1024, 1);
  {
    RawClient client(first.id());
    client.StartPipeline(Block(1, 0), {});
    ASSERT_EQ(client.Response().status(), SUCCESS);
    ASSERT_TRUE(client.SendPacket(0, 0, data, false, true));
    EXPECT_EQ(client.Ack().reply(0), ERROR_CHECKSUM);
  }
  RawClient client(first.id());
  client.StartPipeline(Block(2, 0), {second.id()});
  ASSERT_EQ(client.Response().status(), SUCCESS);
  second.files.Set(FaultyFileSystem::Fault::kFailAll);
  ASSERT_TRUE(client.SendPacket(0, 0, data));
  const auto ack = client.Ack();
  EXPECT_EQ(ack.reply(0), SUCCESS);
  EXPECT_EQ(ack.reply(1), ERROR);
  EXPECT_TRUE(first.directory.Find("finalized").empty());
}

TEST(TransferTest, ASinkThatIsDroppedLeavesNothing) {
  Node node;
  ClusterBlockIo io(*node.store);
  ebbfs::TargetProto target;
  *target.mutable_block() = Block(1, 100'000);
  *target.mutable_location()->mutable_server() = node.id();
  target.mutable_location()->set_storageuuid(node.storage(0));
  const auto data = RandomBytes(100'000, 1);
  {
    auto sink = io.OpenSink(target);
    ASSERT_TRUE(sink.has_value() && (*sink)->local());
    ASSERT_TRUE((*sink)->Write(data));
  }
  EXPECT_TRUE(node.directory.Find("blk_1").empty());
  {
    auto sink = OpenRemoteSink(node.id(), Block(1, 100'000), node.storage(0));
    ASSERT_TRUE(sink.has_value());
    ASSERT_TRUE((*sink)->Write(data));
  }
  node.server->Stop();  // returns after the connection has noticed
  EXPECT_TRUE(node.directory.Find("blk_1").empty());
  target.mutable_location()->set_storageuuid("DS-unknown");
  EXPECT_FALSE(io.OpenSink(target).has_value());
}

TEST(TransferTest, SourcesGoToTheNextLocationEvenMidway) {
  Node mine;
  Node good;
  Node bad;
  const auto data = RandomBytes(600'000, 1);
  for (auto* node : {&good, &bad}) StoreBlock(*node->store, 1, data);
  auto path = bad.directory.Find("blk_1");
  FlipByte(path.front().ends_with(".meta") ? path.back() : path.front(), 590'000);
  ebbfs::SourceProto source;
  *source.mutable_block() = Block(1, data.size());
  for (const auto* node : {&mine, &bad, &good}) {
    auto& location = *source.add_locations();
    *location.mutable_server() = node->id();
    location.set_storageuuid(node->storage(0));
  }
  ClusterBlockIo io(*mine.store);
  SuspectedPeers suspected;
  io.SetListener(&suspected);
  for (const std::size_t offset : {std::size_t{0}, std::size_t{1000}}) {
    const auto opened = io.OpenSource(source, offset, source.block().numbytes());
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    EXPECT_FALSE((*opened)->local());
    std::vector<std::byte> read(data.size() - offset);
    for (std::size_t at = 0; at < read.size(); at += 64'000) {
      const auto part =
          std::span(read).subspan(at, std::min<std::size_t>(64'000, read.size() - at));
      const auto status = (*opened)->Read(part);
      ASSERT_TRUE(status.has_value()) << status.error().message;
    }
    EXPECT_EQ(read, From(data, offset));
  }
  const std::string named = bad.store->server_uuid() + " 1";
  EXPECT_EQ(suspected.names, (std::vector<std::string>{named, named}));
  source.mutable_locations()->DeleteSubrange(1, 2);
  EXPECT_FALSE(io.OpenSource(source, 0, source.block().numbytes()).has_value());
}

TEST(TransferTest, LocalSourcesReadPiecesOfAnyLength) {
  Node node;
  for (const auto size : kBoundarySizes) {
    const auto data = RandomBytes(size, size);
    StoreBlock(*node.store, 1 + size, data);
    for (const std::size_t piece : {1U, 100U, 512U, 1000U, 4096U, 700'000U}) {
      if (size > 100'000 && piece < 512) continue;
      const std::size_t offset = size / 5;
      auto source = OpenVerifiedReader(*node.store, 1 + size, 1001, size, offset);
      ASSERT_TRUE(source.has_value()) << source.error().message;
      std::vector<std::byte> read(size - offset);
      for (std::size_t at = 0; at < read.size(); at += piece) {
        const std::size_t n = std::min(piece, read.size() - at);
        ASSERT_TRUE((*source)->Read(std::span(read).subspan(at, n)));
      }
      EXPECT_EQ(read, From(data, offset)) << size << " by " << piece;
    }
  }
}

TEST(TransferTest, ReplicasAreCopiedAlongAChain) {
  Node nodes[3];
  for (const auto size : kBoundarySizes) {
    const auto data = RandomBytes(size, size);
    StoreBlock(*nodes[0].store, 1 + size, data);
    CopyTargets targets;
    for (const auto* node : {&nodes[1], &nodes[2]}) {
      *targets.servers.emplace_back().mutable_id() = node->id();
      targets.storage_uuids.push_back(node->storage(1));
    }
    const auto reader = nodes[0].store->OpenReader(1 + size, 0);
    ASSERT_TRUE(reader.has_value());
    // With a client's name, the answer means that the first target has the replica.
    const auto copied = CopyReplica(**reader, "BP-1", targets, "client");
    ASSERT_TRUE(copied.has_value()) << copied.error().message;
    const auto read = ReadBlock(*nodes[1].store, 1 + size);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(*read, data);
    EXPECT_EQ(nodes[1].store->Find(1 + size)->storage_uuid, nodes[1].storage(1));
  }
  // The first target answers without waiting for the second one, which may still receive.
  ASSERT_TRUE(nodes[2].AwaitEvents(std::size(kBoundarySizes)));
  for (const auto size : kBoundarySizes) {
    const auto read = ReadBlock(*nodes[2].store, 1 + size);
    ASSERT_TRUE(read.has_value()) << size << ": " << read.error().message;
    EXPECT_EQ(*read, RandomBytes(size, size)) << size;
  }
}

TEST(TransferTest, EvictedWritersGoOnElsewhereAndReadersStay) {
  Node first;
  Node second;
  const auto data = RandomBytes(2048, 1);
  StoreBlock(*first.store, 2, data);
  RawClient reader(first.id());
  reader.Send(Operation::kReadBlock, ReadOp(Block(2, data.size()), 0, data.size()));
  ASSERT_EQ(reader.Response().status(), SUCCESS);
  EXPECT_EQ(reader.Packets(0, true), data);
  {
    RawClient client(first.id());
    client.StartPipeline(Block(1, 0), {second.id()});
    ASSERT_EQ(client.Response().status(), SUCCESS);
    ASSERT_TRUE(client.SendPacket(0, 0, std::span(data).first(1024)));
    EXPECT_EQ(client.Ack().reply_size(), 2);
    EXPECT_EQ(first.server->EvictWriters(), 1U);
    EXPECT_TRUE(client.AtEnd());
  }
  RawClient client(second.id());
  client.StartPipeline(Block(1, 0), {}, OpWriteBlockProto::PIPELINE_SETUP_STREAMING_RECOVERY, 1002,
                       1024);
  const auto response = client.Response();
  ASSERT_EQ(response.status(), SUCCESS) << response.message();
  ASSERT_TRUE(client.SendPacket(0, 1024, std::span(data).subspan(1024)));
  ASSERT_TRUE(client.SendPacket(1, 2048, {}, true));
  EXPECT_EQ(client.Ack().seqno(), 0);
  EXPECT_EQ(client.Ack().seqno(), 1);
  EXPECT_EQ(ReadBlock(*second.store, 1).value(), data);

  reader.Send(Operation::kReadBlock, ReadOp(Block(2, data.size()), 0, data.size()));
  ASSERT_EQ(reader.Response().status(), SUCCESS);
  EXPECT_EQ(reader.Packets(0, true), data);
}

TEST(TransferTest, AReplicaBeingWrittenIsHandedToANewServerOfThePipeline) {
  Node first;
  Node fresh;
  const auto data = RandomBytes(3000, 1);
  RawClient writer(first.id());
  writer.StartPipeline(Block(1, 0), {});
  ASSERT_EQ(writer.Response().status(), SUCCESS);
  ASSERT_TRUE(writer.SendPacket(0, 0, std::span(data).first(1300)));
  EXPECT_EQ(writer.Ack().seqno(), 0);
  OpTransferBlockProto op;
  *op.mutable_header()->mutable_baseheader()->mutable_block() = Block(1, 0);
  op.mutable_header()->set_clientname("DFSClient_test");
  *op.add_targets()->mutable_id() = fresh.id();
  RawClient client(first.id());
  client.Send(Operation::kTransferBlock, op);
  const auto response = client.Response();
  ASSERT_EQ(response.status(), SUCCESS) << response.message();
  EXPECT_EQ(fresh.store->Find(1)->state, ReplicaState::kBeingWritten);
  EXPECT_EQ(*ReadBlock(*fresh.store, 1),
            (std::vector<std::byte>{data.begin(), data.begin() + 1300}));
}

TEST(TransferTest, BlockChecksumsAreThoseOfHdfs) {
  PatternReader pattern;
  Node node(&pattern);
  const auto data = RandomBytes(PatternReader::kLength, 7);
  StoreBlock(*node.store, 7, data);
  RawClient client(node.id());
  for (const std::uint64_t length : {0U, 1U, 512U, 1000U, 300'000U}) {
    const auto part = std::span(data).first(length);
    std::vector<std::byte> sums(format::Checksum().BytesFor(length));
    Crc32cChunks(part, 512, sums.data());
    OpBlockChecksumProto op;
    *op.mutable_header()->mutable_block() = Block(7, length);
    client.Send(Operation::kBlockChecksum, op);
    auto response = client.Response();
    ASSERT_EQ(response.status(), SUCCESS) << response.message();
    const auto digest = Md5(sums);
    EXPECT_EQ(response.checksumresponse().blockchecksum(),
              std::string(reinterpret_cast<const char*>(digest.data()), 16));
    op.mutable_blockchecksumoptions()->set_blockchecksumtype(COMPOSITE_CRC);
    client.Send(Operation::kBlockChecksum, op);
    response = client.Response();
    ASSERT_EQ(response.status(), SUCCESS) << response.message();
    const auto& crc = response.checksumresponse().blockchecksum();
    ASSERT_EQ(crc.size(), 4U);
    EXPECT_EQ(LoadBig32(reinterpret_cast<const std::byte*>(crc.data())), Crc32c(0, part));
  }
  // The same for a block that is decoded.
  OpBlockChecksumProto op;
  *op.mutable_header()->mutable_block() = Block(9, PatternReader::kLength);
  op.mutable_blockchecksumoptions()->set_blockchecksumtype(COMPOSITE_CRC);
  client.Send(Operation::kBlockChecksum, op);
  const auto made = client.Response().checksumresponse().blockchecksum();
  EXPECT_EQ(LoadBig32(reinterpret_cast<const std::byte*>(made.data())),
            Crc32c(0, RandomBytes(PatternReader::kLength, 9)));
}

// A group of three data blocks and two parities with small cells.
struct SmallGroup {
  static constexpr std::uint64_t kId = 32;
  static constexpr std::size_t kCell = 1024;
  static constexpr std::size_t kUnits = 3;
  static constexpr std::size_t kBlock = PatternReader::kLength / kCell * kCell;

  static std::vector<std::byte> BlockData(std::size_t index, std::size_t length) {
    auto data = RandomBytes(PatternReader::kLength, kId + index);
    data.resize(length);
    return data;
  }
  // The first bytes of the data, and the blocks that they fill.
  explicit SmallGroup(std::size_t length) : blocks(kUnits) {
    std::vector<std::vector<std::byte>> full;
    for (std::size_t i = 0; i < kUnits; ++i) full.push_back(BlockData(i, kBlock));
    for (std::size_t cell = 0; cell * kCell < length; ++cell) {
      const auto& block = full[cell % kUnits];
      const std::size_t count = std::min(kCell, length - cell * kCell);
      const auto from = block.begin() + static_cast<std::ptrdiff_t>(cell / kUnits * kCell);
      data.insert(data.end(), from, from + static_cast<std::ptrdiff_t>(count));
      auto& part = blocks[cell % kUnits];
      part.insert(part.end(), from, from + static_cast<std::ptrdiff_t>(count));
    }
  }
  std::string Md5OfMd5s() const {
    std::vector<std::byte> all;
    for (const auto& block : blocks) {
      if (block.empty()) continue;
      std::vector<std::byte> sums(format::Checksum().BytesFor(block.size()));
      Crc32cChunks(block, 512, sums.data());
      const auto digest = Md5(sums);
      all.insert(all.end(), digest.begin(), digest.end());
    }
    all.resize(all.size() > 32 ? 64 : 32);
    const auto digest = Md5(all);
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
  }
  static OpBlockGroupChecksumProto Request(std::uint64_t length, BlockChecksumTypeProto type) {
    OpBlockGroupChecksumProto op;
    *op.mutable_header()->mutable_block() = Block(kId, kUnits * kBlock);
    op.mutable_datanodes();
    auto& policy = *op.mutable_ecpolicy();
    policy.set_id(70);
    policy.set_cellsize(kCell);
    policy.mutable_schema()->set_codecname("rs");
    policy.mutable_schema()->set_dataunits(kUnits);
    policy.mutable_schema()->set_parityunits(2);
    op.set_requestednumbytes(length);
    op.mutable_blockchecksumoptions()->set_blockchecksumtype(type);
    return op;
  }

  std::vector<std::byte> data;
  std::vector<std::vector<std::byte>> blocks;
};

void AddHolder(OpBlockGroupChecksumProto& op, std::uint32_t index, const DatanodeIDProto& server) {
  op.add_blockindices(index);
  *op.mutable_datanodes()->add_datanodes()->mutable_id() = server;
  auto& token = *op.add_blocktokens();
  token.set_identifier("");
  token.set_password("");
  token.set_kind("");
  token.set_service("");
}

TEST(TransferTest, ChecksumsOfGroupsCoverTheirDataInOrder) {
  PatternReader pattern;
  Node node(&pattern);
  Node other;
  StoreBlock(*node.store, SmallGroup::kId, SmallGroup::BlockData(0, SmallGroup::kBlock));
  StoreBlock(*other.store, SmallGroup::kId + 1, SmallGroup::BlockData(1, SmallGroup::kBlock));
  DatanodeIDProto dead = other.id();
  dead.set_xferport(1);
  RawClient client(node.id());
  for (const std::size_t length :
       {std::size_t{1}, SmallGroup::kCell, SmallGroup::kCell + 1, 3 * SmallGroup::kCell - 700,
        3 * SmallGroup::kCell, std::size_t{50'000}, 3 * SmallGroup::kBlock}) {
    const SmallGroup group(length);
    for (const bool lost : {false, true}) {
      for (const auto type : {MD5CRC, COMPOSITE_CRC}) {
        auto op = SmallGroup::Request(length, type);
        AddHolder(op, 0, node.id());
        // Block 1 is read from the other server, or decoded, and nobody has block 2.
        AddHolder(op, 1, lost ? dead : other.id());
        client.Send(Operation::kBlockGroupChecksum, op);
        const auto response = client.Response();
        ASSERT_EQ(response.status(), SUCCESS) << response.message();
        const auto& found = response.checksumresponse();
        EXPECT_EQ(found.bytespercrc(), 512U);
        EXPECT_EQ(found.crctype(), CHECKSUM_CRC32C);
        EXPECT_EQ(found.crcperblock(), (group.blocks[0].size() + 511) / 512);
        EXPECT_EQ(found.blockchecksumoptions().blockchecksumtype(), type);
        if (type == MD5CRC) {
          EXPECT_EQ(found.blockchecksum(), group.Md5OfMd5s()) << length;
        } else {
          ASSERT_EQ(found.blockchecksum().size(), 4U);
          EXPECT_EQ(LoadBig32(reinterpret_cast<const std::byte*>(found.blockchecksum().data())),
                    Crc32c(0, group.data))
              << length;
        }
      }
    }
  }
}

TEST(TransferTest, ChecksumsOfImpossibleGroupsAreRefused) {
  Node node;
  StoreBlock(*node.store, SmallGroup::kId, SmallGroup::BlockData(0, SmallGroup::kBlock));
  RawClient client(node.id());
  const auto refusal = [&](const OpBlockGroupChecksumProto& op) {
    client.Send(Operation::kBlockGroupChecksum, op);
    const auto response = client.Response();
    EXPECT_EQ(response.status(), ERROR);
    return response.message();
  };
  auto op = SmallGroup::Request(3 * SmallGroup::kBlock, MD5CRC);
  EXPECT_TRUE(refusal(op).contains("the checksum of block 33: no server is named"));
  op.set_requestednumbytes(3 * SmallGroup::kBlock + 1);
  EXPECT_TRUE(refusal(op).contains("897025 bytes of group 32"));
  op = SmallGroup::Request(1, MD5CRC);
  op.add_blockindices(0);
  EXPECT_TRUE(refusal(op).contains("0 servers, and 1 indices"));
  op = SmallGroup::Request(1, MD5CRC);
  op.mutable_ecpolicy()->mutable_schema()->set_dataunits(17);
  EXPECT_TRUE(refusal(op).contains("the id 70, 17 data units"));
  op.mutable_ecpolicy()->clear_schema();
  EXPECT_TRUE(refusal(op).contains("no erasure coding policy with the id 70"));
  op = SmallGroup::Request(1, COMPOSITE_CRC);
  op.mutable_ecpolicy()->set_cellsize(1000);
  EXPECT_TRUE(refusal(op).contains("a checksum for each 1000 bytes"));
}

TEST(TransferTest, ConnectionsBeyondTheLimitAreClosed) {
  Node node(nullptr, {"127.0.0.1", 0, 1});
  RawClient held(node.id());
  held.StartPipeline(Block(2, 0), {});
  EXPECT_EQ(held.Response().status(), SUCCESS);
  RawClient refused(node.id());
  EXPECT_EQ(refused.Response().status(), ERROR);
  EXPECT_TRUE(refused.AtEnd());
  EXPECT_EQ(node.server->counters().refused_connections, 1U);
  // What runs is not disturbed.
  EXPECT_TRUE(held.SendPacket(0, 0, {}, true));
  EXPECT_EQ(held.Ack().reply(0), SUCCESS);
}

std::size_t ThreadsOfThisProcess() {
  const auto tasks = std::filesystem::directory_iterator("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST(TransferTest, HalfOpenConnectionsByTheThousandShutNobodyOut) {
  constexpr std::size_t kHalfOpen = 2'000;
  constexpr std::size_t kLimit = 64;
  rlimit descriptors = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &descriptors), 0);
  descriptors.rlim_cur = descriptors.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &descriptors), 0);
  ASSERT_GT(descriptors.rlim_cur, kHalfOpen + 500) << "raise ulimit -n";

  Node node(nullptr, {"127.0.0.1", 0, kLimit});
  const auto data = RandomBytes(100'000, 1);
  StoreBlock(*node.store, 1, data);
  // A pipeline that is open all the time.
  RawClient writer(node.id());
  writer.StartPipeline(Block(2, 0), {});
  ASSERT_EQ(writer.Response().status(), SUCCESS);

  // Nothing, the beginning of a header, a header, an announced message that does not come.
  const std::string beginnings[] = {"", std::string("\0\x1c", 2), std::string("\0\x1c\x51", 3),
                                    std::string("\0\x1c\x50\x80\x80\x40", 6)};
  const std::size_t threads_before = ThreadsOfThisProcess();
  std::vector<Socket> half_open;
  for (std::size_t i = 0; i < kHalfOpen; ++i) {
    auto socket = Socket::Connect("127.0.0.1", node.server->port(), kPatience);
    ASSERT_TRUE(socket.has_value()) << i << ": " << socket.error().message;
    (void)WriteString(*socket, beginnings[i % std::size(beginnings)], kPatience);
    half_open.push_back(std::move(*socket));
    if (i % 250 != 249) continue;
    const auto read = ReadFrom(node.id(), Block(1, data.size()), 0);
    ASSERT_TRUE(read.has_value()) << i << ": " << read.error().message;
    EXPECT_EQ(*read, data);
    EXPECT_LE(node.server->connections(), kLimit);
    // Threads of displaced connections may still be ending.
    EXPECT_LE(ThreadsOfThisProcess(), threads_before + 2 * kLimit);
  }
  EXPECT_EQ(node.server->counters().refused_connections, 0U);
  EXPECT_TRUE(writer.SendPacket(0, 0, data));
  EXPECT_EQ(writer.Ack().reply(0), SUCCESS);
  EXPECT_TRUE(writer.SendPacket(1, data.size(), {}, true));
  EXPECT_EQ(writer.Ack().reply(0), SUCCESS);
  EXPECT_EQ(ReadFrom(node.id(), Block(2, data.size()), 0).value(), data);
}

// Another process that holds connections to a port, so that it takes half of the descriptors. It
// ends with this object.
class IdleClients {
 public:
  IdleClients(std::uint16_t port, std::size_t count) {
    int stop[2];
    EXPECT_EQ(pipe(stop), 0);
    process_ = fork();
    if (process_ == 0) {
      close(stop[1]);
      sockaddr_in address = {};
      address.sin_family = AF_INET;
      address.sin_port = htons(port);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      for (std::size_t i = 0; i < count; ++i) {
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) break;
      }
      char byte = 0;
      (void)!read(stop[0], &byte, 1);
      _exit(0);
    }
    close(stop[0]);
    stop_ = stop[1];
  }
  ~IdleClients() {
    close(stop_);
    waitpid(process_, nullptr, 0);
  }

 private:
  pid_t process_ = -1;
  int stop_ = -1;
};

// All at once: ten thousand peers that send nothing, a reader that takes nothing, a pipeline whose
// next server does not answer, and a disk that hangs.
TEST(TransferTest, SlowPeersAndASlowDiskAmongTenThousandConnectionsStopNobody) {
  rlimit descriptors = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &descriptors), 0);
  descriptors.rlim_cur = descriptors.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &descriptors), 0);
  const std::size_t idle = std::min<std::size_t>(10'000, descriptors.rlim_max - 500);
  Node node(nullptr, {.max_connections = 12'000},
            {.max_calls = 2, .max_waiting = 16, .patience = seconds(1)});
  const auto large = RandomBytes(16 << 20, 1);
  const auto small = RandomBytes(100'000, 2);
  StoreBlock(*node.store, 1, large, 1001, node.storage(0));
  StoreBlock(*node.store, 2, small, 1001, node.storage(0));
  StoreBlock(*node.store, 3, small, 1001, node.storage(1));

  const std::size_t threads_before = ThreadsOfThisProcess();
  const IdleClients clients(node.server->port(), idle);
  const auto deadline = std::chrono::steady_clock::now() + seconds(60);
  while (node.server->connections() < idle) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << node.server->connections();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_LE(ThreadsOfThisProcess(), threads_before);

  RawClient slow_reader(node.id());
  slow_reader.Send(Operation::kReadBlock, ReadOp(Block(1, large.size()), 0, large.size()));
  auto mute = Listener::Listen("127.0.0.1", 0);
  ASSERT_TRUE(mute.has_value());
  auto mute_peer = node.id();
  mute_peer.set_xferport(mute->port());
  RawClient slow_pipeline(node.id());
  slow_pipeline.StartPipeline(Block(10, 0), {mute_peer});
  node.files.Set(FaultyFileSystem::Fault::kHang, node.directory / "b");
  std::vector<std::unique_ptr<RawClient>> hanging;
  for (int i = 0; i < 2; ++i) {
    hanging.push_back(std::make_unique<RawClient>(node.id()));
    hanging.back()->Send(Operation::kReadBlock, ReadOp(Block(3, small.size()), 0, small.size()));
  }
  ASSERT_TRUE(node.files.AwaitHanging(2, kPatience));

  for (int i = 0; i < 3; ++i) {
    const auto read = ReadFrom(node.id(), Block(2, small.size()), 0);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(*read, small);
    RawClient turned_away(node.id());
    turned_away.Send(Operation::kReadBlock, ReadOp(Block(3, small.size()), 0, small.size()));
    const auto answer = turned_away.Response();
    EXPECT_EQ(answer.status(), ERROR);
    EXPECT_NE(answer.message().find("does not keep up"), std::string::npos) << answer.message();
  }
  EXPECT_LE(ThreadsOfThisProcess(), threads_before + 20);
  EXPECT_EQ(node.server->counters().refused_connections, 0U);
  EXPECT_EQ(node.server->counters().displaced_connections, 0U);
  node.files.Set(FaultyFileSystem::Fault::kNone);
  // The disk turns readers away until the two calls that hung have ended; a reader whose replica
  // is open already then only sees that the connection ends.
  auto read = ReadFrom(node.id(), Block(3, small.size()), 0);
  while (!read.has_value()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << read.error().message;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    read = ReadFrom(node.id(), Block(3, small.size()), 0);
  }
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(*read, small);
}

TEST(TransferTest, NonsenseEndsTheConnectionAndNothingElse) {
  Node node;
  StoreBlock(*node.store, 1, RandomBytes(10, 1));
  std::mt19937_64 random(20261121);  // the seed: fixed
  for (int i = 0; i < 50; ++i) {
    auto socket = Socket::Connect("127.0.0.1", node.server->port(), kPatience);
    ASSERT_TRUE(socket.has_value());
    auto bytes = RandomBytes(1 + random() % 300, random());
    if (i % 2 == 0 && bytes.size() > 3) {
      bytes[0] = std::byte{0};
      bytes[1] = std::byte{28};
      bytes[2] = static_cast<std::byte>(80 + random() % 12);
    }
    (void)socket->WriteAll(bytes, kPatience);
  }
  EXPECT_TRUE(ReadFrom(node.id(), Block(1, 10), 0).has_value());
}

// Test vectors of RFC 1321.
TEST(Md5Test, Vectors) {
  const auto hex = [](std::string_view text) {
    std::string out;
    for (const auto b : Md5(std::as_bytes(std::span(text)))) {
      out += fmt::format("{:02x}", static_cast<int>(b));
    }
    return out;
  };
  EXPECT_EQ(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(hex("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
            "57edf4a22be3c955ac49da2e2107b67a");
}

}  // namespace
}  // namespace ebb::transfer
