#include "server/chunk_service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "combine/fake_block_io.h"
#include "combine/read_plan_client.h"
#include "common/crc32c.h"
#include "rpc/client.h"

namespace ebb {
namespace {

using namespace std::chrono_literals;

constexpr char kCodingProtocol[] = "io.ebbfs.protocol.CodingProtocol";

std::vector<std::uint32_t> PieceSums(const Bytes& bytes, std::size_t piece) {
  std::vector<std::uint32_t> sums;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    sums.push_back(Crc32c(0, std::span(bytes).subspan(at, std::min(piece, bytes.size() - at))));
  }
  return sums;
}

class FakeStorageInspector final : public StorageInspector {
 public:
  explicit FakeStorageInspector(FakeBlockIo& io) : io_(io) {}

  Status CheckReady() const override { return ready; }
  Status Sync(const hadoop::hdfs::ExtendedBlockProto& block) override {
    if (block.blockid() == 13) return Fail(ErrorCode::kIo, "syncing failed");
    synced.push_back(block.blockid());
    return {};
  }
  Result<OpenBlock> Open(const hadoop::hdfs::ExtendedBlockProto& block) override {
    ebbfs::SourceProto source;
    *source.mutable_block() = block;
    EBB_ASSIGN(auto opened, io_.OpenSource(source, 0, source.block().numbytes()));
    return OpenBlock{std::move(opened), io_.Get(block.blockid())->size()};
  }
  // The stored checksums of a block are those of the bytes at the time of Put. Blocks with an odd
  // id have no CRC32C checksums.
  Result<ChecksumFile> ReadChecksums(const hadoop::hdfs::ExtendedBlockProto& block,
                                     std::uint64_t piece_bytes) override {
    const auto bytes = io_.Get(block.blockid());
    if (!bytes) return Fail(ErrorCode::kNotFound, "no such block");
    if (block.blockid() % 2 != 0) return ChecksumFile{bytes->size()};
    ChecksumFile file{bytes->size(), Crc32c(0, *bytes)};
    if (piece_bytes > 0) file.pieces = PieceSums(*bytes, piece_bytes);
    return file;
  }
  std::vector<ebbfs::DiskStatusProto> Disks() override {
    ebbfs::DiskStatusProto disk;
    disk.set_storageuuid("DS-1");
    disk.set_directory("/data/1");
    disk.set_failed(false);
    return {disk};
  }
  void DescribeScrub(ebbfs::ChunkStatusResponseProto& status) override {
    status.set_blocksscrubbed(7);
  }

  Status ready;
  std::vector<std::uint64_t> synced;

 private:
  FakeBlockIo& io_;
};

// The whole path of a call: client, RPC server, service, engine.
class ChunkServiceTest : public testing::Test {
 protected:
  ChunkServiceTest()
      : plan_client_({{"127.0.0.1", 1}}, 1s),
        engine_(io_, {}),
        reads_(io_, plan_client_, {}),
        blocks_(io_),
        service_(engine_, reads_, blocks_, &transfers_),
        server_(RpcServerOptions{}) {
    service_.RegisterAt(server_);
  }
  void SetUp() override {
    ASSERT_TRUE(server_.Start());
    client_ = std::make_unique<RpcClient>("127.0.0.1", server_.port(), ChunkService::kProtocol,
                                          ChunkService::kVersion);
  }

  FakeBlockIo io_;
  ReadPlanClient plan_client_;
  CombineEngine engine_;
  DegradedReader reads_;
  FakeStorageInspector blocks_;
  transfer::TransferCounters transfers_;
  ChunkService service_;
  RpcServer server_;
  std::unique_ptr<RpcClient> client_;
};

TEST_F(ChunkServiceTest, Combines) {
  io_.Put(1, Bytes(10'000, std::byte{5}));
  io_.Put(2, Bytes(10'000, std::byte{3}));
  ebbfs::CombineRequestProto request;
  request.set_id("c");
  *request.add_sources() = MakeSource(1, 10'000);
  *request.add_sources() = MakeSource(2, 10'000);
  *request.add_targets() = MakeTarget(9, 10'000);
  request.set_coefficients("\1\1");
  ebbfs::CombineResponseProto response;
  const auto status = client_->Call("combine", request, response);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(response.status(), ebbfs::COMBINE_OK);
  EXPECT_EQ(io_.Get(9), Bytes(10'000, std::byte{6}));
}

TEST_F(ChunkServiceTest, VerifiesBlocks) {
  const Bytes good(300'000, std::byte{7});
  io_.Put(1, good);
  io_.Put(2, good);
  io_.SetFault(2, {.at = 200'000, .error = {ErrorCode::kCorrupt, "chunk 390"}});
  ebbfs::VerifyRequestProto request;
  for (const std::uint64_t id : {1, 2, 3}) FillBlock(*request.add_blocks(), id, good.size());
  ebbfs::VerifyResponseProto response;
  ASSERT_TRUE(client_->Call("verify", request, response));
  ASSERT_EQ(response.blocks_size(), 3);
  EXPECT_EQ(response.blocks(0).health(), ebbfs::BLOCK_OK);
  EXPECT_EQ(response.blocks(0).lengthbytes(), good.size());
  EXPECT_EQ(response.blocks(0).crc32c(), Crc32c(0, good));
  EXPECT_EQ(response.blocks(1).health(), ebbfs::BLOCK_CORRUPT);
  EXPECT_EQ(response.blocks(1).message(), "chunk 390");
  EXPECT_EQ(response.blocks(2).health(), ebbfs::BLOCK_MISSING);
}

TEST_F(ChunkServiceTest, VerifiesChecksumsWithoutReadingData) {
  for (const std::uint64_t id : {1, 2}) io_.Put(id, Bytes(1000, static_cast<std::byte>(id)));
  ebbfs::VerifyRequestProto request;
  request.set_checksumsonly(true);
  for (const std::uint64_t id : {1, 2, 3}) FillBlock(*request.add_blocks(), id, 1000);
  ebbfs::VerifyResponseProto response;
  ASSERT_TRUE(client_->Call("verify", request, response));
  ASSERT_EQ(response.blocks_size(), 3);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(response.blocks(i).health(), ebbfs::BLOCK_OK);
    EXPECT_EQ(response.blocks(i).lengthbytes(), 1000u);
    EXPECT_EQ(response.blocks(i).crc32c(), Crc32c(0, Bytes(1000, static_cast<std::byte>(i + 1))));
  }
  EXPECT_EQ(io_.bytes_read(1), 1000u);
  EXPECT_EQ(io_.bytes_read(2), 0u);
  EXPECT_EQ(response.blocks(2).health(), ebbfs::BLOCK_MISSING);
}

// By the checksum file or, of the block with an odd id, by its data.
TEST_F(ChunkServiceTest, TellsTheChecksumsOfPieces) {
  for (const std::uint64_t id : {1, 2}) {
    Bytes bytes(300'000);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * id / 7);
    io_.Put(id, bytes);
  }
  for (const bool checksums_only : {false, true}) {
    for (const std::uint32_t piece : {4096U, 100'000U, 131'073U, 300'000U, 400'000U}) {
      ebbfs::VerifyRequestProto request;
      request.set_checksumsonly(checksums_only);
      request.set_cellbytes(piece);
      for (const std::uint64_t id : {1, 2}) FillBlock(*request.add_blocks(), id, 300'000);
      ebbfs::VerifyResponseProto response;
      ASSERT_TRUE(client_->Call("verify", request, response));
      for (int i = 0; i < 2; ++i) {
        const Bytes bytes = *io_.Get(static_cast<std::uint64_t>(i) + 1);
        const auto& sums = response.blocks(i).cellcrc32c();
        EXPECT_EQ(std::vector<std::uint32_t>(sums.begin(), sums.end()), PieceSums(bytes, piece));
        EXPECT_EQ(response.blocks(i).crc32c(), Crc32c(0, bytes));
      }
    }
  }
  EXPECT_EQ(io_.bytes_read(2), 5 * 300'000u) << "the checksum file tells them";
  ebbfs::VerifyRequestProto request;
  request.set_cellbytes(4095);
  ebbfs::VerifyResponseProto response;
  EXPECT_FALSE(client_->Call("verify", request, response));
}

TEST_F(ChunkServiceTest, SyncsBeforeItVerifiesIfAsked) {
  for (const std::uint64_t id : {2, 4, 13}) io_.Put(id, Bytes(1000));
  ebbfs::VerifyRequestProto request;
  for (const std::uint64_t id : {2, 4, 13}) FillBlock(*request.add_blocks(), id, 1000);
  for (const bool checksums_only : {false, true}) {
    blocks_.synced.clear();
    request.set_checksumsonly(checksums_only);
    request.clear_sync();
    ebbfs::VerifyResponseProto response;
    ASSERT_TRUE(client_->Call("verify", request, response));
    EXPECT_TRUE(blocks_.synced.empty());
    EXPECT_FALSE(response.blocks(0).has_synced());
    request.set_sync(true);
    ASSERT_TRUE(client_->Call("verify", request, response));
    EXPECT_EQ(blocks_.synced, (std::vector<std::uint64_t>{2, 4}));
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(response.blocks(i).health(), ebbfs::BLOCK_OK);
      EXPECT_TRUE(response.blocks(i).synced());
    }
    EXPECT_EQ(response.blocks(2).health(), ebbfs::BLOCK_CORRUPT);
    EXPECT_FALSE(response.blocks(2).synced());
  }
}

TEST_F(ChunkServiceTest, AServerThatIsNotReadyJudgesNoBlock) {
  io_.Put(1, Bytes(1000));
  blocks_.ready = Fail(ErrorCode::kNotReady, "the disks are being scanned");
  ebbfs::VerifyRequestProto verify;
  FillBlock(*verify.add_blocks(), 1, 1000);
  ebbfs::VerifyResponseProto verified;
  auto status = client_->Call("verify", verify, verified);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().exception_class, "org.apache.hadoop.ipc.RetriableException");
  ebbfs::CombineRequestProto combine;
  combine.set_id("c");
  *combine.add_sources() = MakeSource(1, 1000);
  *combine.add_targets() = MakeTarget(9, 1000);
  combine.set_coefficients("\1");
  ebbfs::CombineResponseProto combined;
  status = client_->Call("combine", combine, combined);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().exception_class, "org.apache.hadoop.ipc.RetriableException");
}

TEST_F(ChunkServiceTest, ABlockOnAFailedDiskIsUnknown) {
  io_.Put(1, Bytes(1000));
  io_.SetFault(1, {.open = Error{ErrorCode::kCannotTell, "a disk has failed"}});
  ebbfs::VerifyRequestProto request;
  FillBlock(*request.add_blocks(), 1, 1000);
  ebbfs::VerifyResponseProto response;
  ASSERT_TRUE(client_->Call("verify", request, response));
  EXPECT_EQ(response.blocks(0).health(), ebbfs::BLOCK_UNKNOWN);
}

TEST_F(ChunkServiceTest, LackOfMemoryMakesNoBlockBad) {
  io_.Put(1, Bytes(1000));
  io_.SetFault(1, {.open = Error{ErrorCode::kBusy, "no descriptor is left"}});
  ebbfs::VerifyRequestProto request;
  FillBlock(*request.add_blocks(), 1, 1000);
  ebbfs::VerifyResponseProto response;
  const auto status = client_->Call("verify", request, response);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kRemote);
}

TEST_F(ChunkServiceTest, ReportsItsStatus) {
  transfers_.background_bytes = 9;
  ebbfs::ChunkStatusResponseProto response;
  ASSERT_TRUE(client_->Call("status", ebbfs::ChunkStatusRequestProto(), response));
  ASSERT_EQ(response.disks_size(), 1);
  EXPECT_EQ(response.disks(0).storageuuid(), "DS-1");
  EXPECT_GT(response.residentbytes(), 1u << 20);
  EXPECT_EQ(response.combinesrunning(), 0u);
  EXPECT_EQ(response.degradedreads(), 0u);
  EXPECT_EQ(response.blocksscrubbed(), 7u);
  EXPECT_EQ(response.backgroundbytesreceived(), 9u);
}

TEST(ReadPlanClientTest, AsksTheNamenodeAndUnderstandsItsErrors) {
  RpcServer namenode(RpcServerOptions{});
  RpcHandlers handlers;
  handlers["getReadPlan"] = MakeRpcHandler<ebbfs::GetReadPlanRequestProto>(
      [](const RpcCaller&,
         const ebbfs::GetReadPlanRequestProto& request) -> Result<ebbfs::GetReadPlanResponseProto> {
        if (request.block().blockid() == 404) {
          return std::unexpected(Error{ErrorCode::kNotFound, "no block 404",
                                       "org.apache.hadoop.hdfs.BlockMissingException"});
        }
        ebbfs::GetReadPlanResponseProto plan;
        plan.set_coefficients("");
        plan.set_lengthbytes(request.block().numbytes());
        return plan;
      });
  namenode.RegisterService(kCodingProtocol, 1, std::move(handlers));
  ASSERT_TRUE(namenode.Start());
  ReadPlanClient plan_client({{"127.0.0.1", namenode.port()}}, 10s);
  ebbfs::GetReadPlanRequestProto request;
  FillBlock(*request.mutable_block(), 1, 77);
  const auto plan = plan_client.GetReadPlan(request);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->lengthbytes(), 77u);
  request.mutable_block()->set_blockid(404);
  EXPECT_EQ(plan_client.GetReadPlan(request).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace ebb
