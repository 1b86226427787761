// What a chunk server answers while it scans its disks, and after a disk failed its scan: it never
// says that it has no replica unless it knows.
#include <gtest/gtest.h>

#include <thread>

#include "ClientDatanodeProtocol.pb.h"
#include "InterDatanodeProtocol.pb.h"
#include "combine/combine_engine.h"
#include "combine/degraded_reader.h"
#include "combine/read_plan_client.h"
#include "disk/faulty_file_system.h"
#include "disk/test_support.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "server/chunk_service.h"
#include "server/client_datanode_service.h"
#include "server/disk_inspector.h"
#include "server/inter_datanode_service.h"
#include "server/scrubber.h"
#include "transfer/cluster_block_io.h"
#include "transfer/remote_source.h"
#include "transfer/server.h"

namespace ebb::server {
namespace {

using namespace ebb::testing;
using namespace hadoop::hdfs;
using Fault = FaultyFileSystem::Fault;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kRetriable[] = "org.apache.hadoop.ipc.RetriableException";
constexpr seconds kPatience(60);
constexpr std::uint64_t kLength = 3000;
constexpr std::uint64_t kStamp = 1001;

// The ports of a chunk server, as main() opens them, over a store that was not attached.
struct Ports {
  Ports(BlockStore& store, FileSystem& files, milliseconds transfer_patience)
      : io(store),
        plans({{"127.0.0.1", 1}}, seconds(1)),
        combines(io, {}),
        reads(io, plans, {}),
        scrubber(store, files, {}),
        inspector(store, scrubber),
        chunks(combines, reads, inspector),
        rpc(RpcServerOptions()),
        transfers({.ready_patience = transfer_patience}, store, nullptr) {
    RegisterClientDatanodeProtocol(
        rpc, store,
        {[] {}, [] {}, [] { return std::uint64_t{0}; }, [] { return std::size_t{0}; }});
    RegisterInterDatanodeProtocol(rpc, store);
    chunks.RegisterAt(rpc);
    EXPECT_TRUE(rpc.Start());
    EXPECT_TRUE(transfers.Listen());
    transfers.Serve();
  }
  ~Ports() {
    combines.Stop();
    transfers.Stop();
    rpc.Stop();
  }

  transfer::ClusterBlockIo io;
  ReadPlanClient plans;
  CombineEngine combines;
  DegradedReader reads;
  Scrubber scrubber;
  DiskInspector inspector;
  ChunkService chunks;
  RpcServer rpc;
  transfer::TransferServer transfers;
};

class ReadinessTest : public ::testing::Test {
 protected:
  // Two disks with a finalized replica each (blocks 1 and 2). An earlier process wrote them.
  void SetUp() override {
    const auto store = OpenStore(files_, {directory_ / "a", directory_ / "b"});
    for (const std::uint64_t id : {1, 2}) {
      StoreBlock(*store, id, RandomBytes(kLength, id), kStamp, store->Disks()[id - 1].storage_uuid);
    }
  }
  void Open(milliseconds transfer_patience = milliseconds(10)) {
    auto opened = BlockStore::Open(files_, {{directory_ / "a", directory_ / "b"}, 0});
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    store_ = std::move(opened).value();
    ports_ = std::make_unique<Ports>(*store_, files_, transfer_patience);
  }
  Status Attach() { return store_->Attach("CID-1", "BP-1", 7); }

  static ExtendedBlockProto Block(std::uint64_t id) {
    ExtendedBlockProto block;
    block.set_poolid("BP-1");
    block.set_blockid(id);
    block.set_generationstamp(kStamp);
    block.set_numbytes(kLength);
    return block;
  }
  template <typename Request, typename Response>
  Status Call(const char* protocol, const char* method, const Request& request,
              Response& response) {
    return RpcClient("127.0.0.1", ports_->rpc.port(), protocol, 1).Call(method, request, response);
  }
  Result<ebbfs::BlockHealthProto> Verify(std::uint64_t id) {
    ebbfs::VerifyRequestProto request;
    *request.add_blocks() = Block(id);
    ebbfs::VerifyResponseProto response;
    EBB_TRY(Call(ChunkService::kProtocol, "verify", request, response));
    return response.blocks(0).health();
  }
  Result<bool> StartRecovery(std::uint64_t id) {
    InitReplicaRecoveryRequestProto request;
    auto& located = *request.mutable_block()->mutable_block();
    *located.mutable_b() = Block(id);
    located.set_offset(0);
    located.set_corrupt(false);
    auto& token = *located.mutable_blocktoken();
    token.set_identifier("");
    token.set_password("");
    token.set_kind("");
    token.set_service("");
    request.mutable_block()->set_newgenstamp(kStamp + 1);
    InitReplicaRecoveryResponseProto response;
    EBB_TRY(Call("org.apache.hadoop.hdfs.server.protocol.InterDatanodeProtocol",
                 "initReplicaRecovery", request, response));
    return response.replicafound();
  }
  Result<std::uint64_t> VisibleLength(std::uint64_t id) {
    GetReplicaVisibleLengthRequestProto request;
    *request.mutable_block() = Block(id);
    GetReplicaVisibleLengthResponseProto response;
    EBB_TRY(Call("org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol",
                 "getReplicaVisibleLength", request, response));
    return response.length();
  }
  Result<std::vector<std::byte>> Read(std::uint64_t id) {
    DatanodeIDProto peer;
    peer.set_ipaddr("127.0.0.1");
    peer.set_xferport(ports_->transfers.port());
    EBB_ASSIGN(const auto source, transfer::OpenRemoteSource(peer, Block(id), 0, kLength));
    std::vector<std::byte> data(kLength);
    EBB_TRY(source->Read(data));
    return data;
  }

  TemporaryDirectory directory_;
  FaultyFileSystem files_;
  std::unique_ptr<BlockStore> store_;
  std::unique_ptr<Ports> ports_;
};

TEST_F(ReadinessTest, BeforeTheScanEveryAnswerIsNotReady) {
  Open();
  const auto verified = Verify(1);
  ASSERT_FALSE(verified.has_value());
  EXPECT_EQ(verified.error().exception_class, kRetriable) << verified.error().message;
  const auto recovery = StartRecovery(1);
  ASSERT_FALSE(recovery.has_value());
  EXPECT_EQ(recovery.error().exception_class, kRetriable) << recovery.error().message;
  const auto length = VisibleLength(1);
  ASSERT_FALSE(length.has_value());
  EXPECT_EQ(length.error().exception_class, kRetriable) << length.error().message;
  const auto read = Read(1);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::kNotReady) << read.error().message;
  const auto created = store_->Create({.block_id = 3, .generation_stamp = 1, .checksum = {}});
  ASSERT_FALSE(created.has_value());
  EXPECT_EQ(created.error().code, ErrorCode::kNotReady);
}

TEST_F(ReadinessTest, ReadyOnlyOnceTheLastDiskIsScanned) {
  Open();
  files_.Set(Fault::kHang, directory_ / "b/finalized");
  std::thread attaching([this] { EXPECT_TRUE(Attach()); });
  EXPECT_TRUE(files_.AwaitHanging(1, kPatience));
  // The first disk is scanned, and the store would find block 1.
  for (const std::uint64_t id : {1, 2}) {
    const auto verified = Verify(id);
    EXPECT_FALSE(verified.has_value());
    EXPECT_EQ(verified ? "" : verified.error().exception_class, kRetriable);
  }
  files_.Set(Fault::kNone);
  attaching.join();
  for (const std::uint64_t id : {1, 2}) {
    const auto health = Verify(id);
    ASSERT_TRUE(health.has_value()) << health.error().message;
    EXPECT_EQ(*health, ebbfs::BLOCK_OK);
    EXPECT_EQ(*VisibleLength(id), kLength);
    EXPECT_EQ(*Read(id), RandomBytes(kLength, id));
    EXPECT_TRUE(*StartRecovery(id));
  }
  EXPECT_EQ(*Verify(3), ebbfs::BLOCK_MISSING);
  EXPECT_FALSE(*StartRecovery(3));
}

TEST_F(ReadinessTest, AReadWaitsForTheScan) {
  Open(kPatience);
  Result<std::vector<std::byte>> read;
  std::thread reading([&] { read = Read(1); });
  while (ports_->transfers.connections() == 0) std::this_thread::yield();
  EXPECT_TRUE(Attach());
  reading.join();
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(*read, RandomBytes(kLength, 1));
}

TEST_F(ReadinessTest, StoppingDoesNotWaitForTheScan) {
  Open(std::chrono::hours(1));
  std::thread reading([&] { EXPECT_FALSE(Read(1).has_value()); });
  while (ports_->transfers.connections() == 0) std::this_thread::yield();
  ports_->transfers.Stop();
  reading.join();
}

TEST_F(ReadinessTest, OfBlocksOnADiskThatFailedItsScanNobodyCanTell) {
  Open();
  files_.Set(Fault::kFailReads, directory_ / "a/finalized");
  ASSERT_TRUE(Attach());
  files_.Set(Fault::kNone);
  EXPECT_EQ(*Verify(1), ebbfs::BLOCK_UNKNOWN);
  EXPECT_EQ(*Verify(2), ebbfs::BLOCK_OK);
  const auto recovery = StartRecovery(1);
  ASSERT_FALSE(recovery.has_value()) << "the server says: no such replica";
  EXPECT_TRUE(*StartRecovery(2));
  const auto length = VisibleLength(1);
  ASSERT_FALSE(length.has_value());
  EXPECT_FALSE(length.error().exception_class.contains("ReplicaNotFoundException"));
}

TEST_F(ReadinessTest, ADiskThatFailsDuringTheReadMakesNoBlockCorrupt) {
  Open();
  ASSERT_TRUE(Attach());
  files_.Set(Fault::kFailAll, directory_ / "a");
  EXPECT_EQ(*Verify(1), ebbfs::BLOCK_UNKNOWN);
  EXPECT_EQ(*Verify(2), ebbfs::BLOCK_OK);
}

}  // namespace
}  // namespace ebb::server
