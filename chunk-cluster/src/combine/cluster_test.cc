// Combines and degraded reads between real block stores over real sockets.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "combine/combine_engine.h"
#include "combine/degraded_reader.h"
#include "combine/fake_block_io.h"
#include "common/crc32c.h"
#include "disk/block_store.h"
#include "disk/composed_checksum.h"
#include "disk/faulty_file_system.h"
#include "transfer/cluster_block_io.h"
#include "transfer/remote_source.h"
#include "transfer/server.h"

namespace ebb {
namespace {

constexpr std::size_t kServers = 4;
constexpr std::uint64_t kStamp = 1001;

// Answers with the plan that the test has set.
class FixedReadPlan final : public ReadPlanSource {
 public:
  Result<ebbfs::GetReadPlanResponseProto> GetReadPlan(
      const ebbfs::GetReadPlanRequestProto& request) override {
    ++calls;
    if (request.excludedblockids_size() + request.excludedserveruuids_size() == 0) return plan;
    return Fail(ErrorCode::kRemote, "nothing else is left");
  }
  ebbfs::GetReadPlanResponseProto plan;
  int calls = 0;
};

// One chunk server without its namenode: a store with one disk and the transfer port.
struct Server {
  explicit Server(const std::filesystem::path& directory) {
    auto opened = BlockStore::Open(files, {{directory.string()}, 0});
    EXPECT_TRUE(opened) << opened.error().message;
    store = std::move(*opened);
    EXPECT_TRUE(store->Attach("cluster", "BP-1", 1));
    io = std::make_unique<transfer::ClusterBlockIo>(*store);
    engine = std::make_unique<CombineEngine>(*io, CombineEngineOptions{});
    degraded_reader = std::make_unique<DegradedReader>(*io, read_plan, DegradedReadOptions{});
    transfers = std::make_unique<transfer::TransferServer>(transfer::TransferServer::Options{},
                                                           *store, degraded_reader.get());
    EXPECT_TRUE(transfers->Listen());
    transfers->Serve();
  }

  FaultyFileSystem files;
  std::unique_ptr<BlockStore> store;
  FixedReadPlan read_plan;
  std::unique_ptr<transfer::ClusterBlockIo> io;
  std::unique_ptr<CombineEngine> engine;
  std::unique_ptr<DegradedReader> degraded_reader;
  std::unique_ptr<transfer::TransferServer> transfers;
};

class ClusterTest : public testing::Test {
 protected:
  ClusterTest() : seed_(std::random_device()()), random_(seed_) {
    std::string name = (std::filesystem::temp_directory_path() / "ebb-cluster-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    for (std::size_t s = 0; s < kServers; ++s) {
      servers_.push_back(std::make_unique<Server>(directory_ / std::to_string(s)));
    }
  }
  ~ClusterTest() override {
    servers_.clear();
    std::filesystem::remove_all(directory_);
  }

  [[nodiscard]] std::string Seed() const { return fmt::format("seed {}", seed_); }

  Bytes RandomBytes(std::size_t n) {
    Bytes bytes(n);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random_());
    return bytes;
  }

  // Block `id` lives on server id % kServers.
  Server& HolderOf(std::uint64_t id) { return *servers_[id % kServers]; }

  ebbfs::TargetProto TargetOf(std::uint64_t id, std::uint64_t length) {
    ebbfs::TargetProto target = MakeTarget(id, length);
    target.mutable_block()->set_generationstamp(kStamp);
    auto& server = *target.mutable_location()->mutable_server();
    server.set_datanodeuuid(HolderOf(id).store->server_uuid());
    server.set_xferport(HolderOf(id).transfers->port());
    target.mutable_location()->set_storageuuid(HolderOf(id).store->Disks()[0].storage_uuid);
    return target;
  }
  ebbfs::SourceProto SourceOf(std::uint64_t id, std::uint64_t length) {
    const auto target = TargetOf(id, length);
    ebbfs::SourceProto source;
    *source.mutable_block() = target.block();
    *source.add_locations() = target.location();
    return source;
  }

  void Put(std::uint64_t id, const Bytes& bytes) {
    auto sink = HolderOf(id).io->OpenSink(TargetOf(id, bytes.size()));
    ASSERT_TRUE(sink) << sink.error().message;
    ASSERT_TRUE((*sink)->Write(bytes));
    ASSERT_TRUE((*sink)->Finish());
  }

  // Reads the block at server 0: over the network unless it is a block of server 0.
  Result<Bytes> Get(std::uint64_t id, std::uint64_t length) {
    EBB_ASSIGN(auto source, servers_[0]->io->OpenSource(SourceOf(id, length), 0, length));
    Bytes bytes(length);
    EBB_TRY(source->Read(bytes));
    return bytes;
  }

  std::filesystem::path DataFileOf(std::uint64_t id) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             directory_ / std::to_string(id % kServers))) {
      if (entry.path().filename() == fmt::format("blk_{}", id)) return entry.path();
    }
    ADD_FAILURE() << "no file of block " << id;
    return {};
  }

  // A combine at server 0, with three sources and three targets on three servers.
  ebbfs::CombineRequestProto Prepare(std::size_t length) {
    ebbfs::CombineRequestProto request;
    request.set_id("combine");
    data_.clear();
    for (const std::uint64_t id : {1, 2, 4}) {
      data_.push_back(RandomBytes(length - 100 * id));
      Put(id, data_.back());
      *request.add_sources() = SourceOf(id, data_.back().size());
    }
    for (const std::uint64_t id : {8, 9, 11}) *request.add_targets() = TargetOf(id, length);
    request.set_coefficients("\1\1\1\2\3\4\1\0\7", 9);
    return request;
  }

  unsigned seed_;
  std::mt19937 random_;
  std::filesystem::path directory_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<Bytes> data_;
};

TEST_F(ClusterTest, CombinesBetweenServers) {
  SCOPED_TRACE(Seed());
  const std::size_t length = 1'000'000;
  const auto request = Prepare(length);
  const auto response = servers_[0]->engine->Combine(request);
  ASSERT_EQ(response.status(), ebbfs::COMBINE_OK) << response.message();
  const std::span coefficients(reinterpret_cast<const std::uint8_t*>(request.coefficients().data()),
                               9);
  const std::vector<std::uint64_t> ids = {8, 9, 11};
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const Bytes expected = ReferenceSum(data_, coefficients.subspan(3 * t, 3), length);
    const auto written = Get(ids[t], length);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_TRUE(*written == expected) << "target " << t;
    EXPECT_EQ(response.targets(static_cast<int>(t)).crc32c(), Crc32c(0, expected));
  }
  EXPECT_EQ(response.bytesreadlocal(), data_[2].size());
  EXPECT_EQ(response.bytesreadremote(), data_[0].size() + data_[1].size());
  EXPECT_EQ(response.byteswrittenlocal(), length);
  EXPECT_EQ(response.byteswrittenremote(), 2 * length);
  EXPECT_EQ(servers_[0]->engine->bytes_received(), response.bytesreadremote());
  std::uint64_t received = 0;
  for (const auto& server : servers_) received += server->transfers->counters().background_bytes;
  EXPECT_EQ(received, response.byteswrittenremote());
}

// Flips a bit of every output on its way from the combine to the disk.
class FlippingIo final : public BlockIo {
 public:
  explicit FlippingIo(BlockIo& io) : io_(io) {}
  Result<std::unique_ptr<BlockSource>> OpenSource(const ebbfs::SourceProto& source,
                                                  std::uint64_t offset,
                                                  std::uint64_t end) override {
    return io_.OpenSource(source, offset, end);
  }
  Result<std::unique_ptr<BlockSink>> OpenSink(const ebbfs::TargetProto& target) override {
    EBB_ASSIGN(auto sink, io_.OpenSink(target));
    return std::make_unique<Sink>(std::move(sink));
  }

 private:
  class Sink final : public BlockSink {
   public:
    explicit Sink(std::unique_ptr<BlockSink> sink) : sink_(std::move(sink)) {}
    Status Write(std::span<const std::byte> data) override {
      Bytes flipped(data.begin(), data.end());
      if (!flipped_) flipped[0] ^= std::byte{8};
      flipped_ = true;
      return sink_->Write(flipped);
    }
    Status Finish() override { return sink_->Finish(); }
    bool local() const override { return sink_->local(); }

   private:
    std::unique_ptr<BlockSink> sink_;
    bool flipped_ = false;
  };
  BlockIo& io_;
};

// The answer has the checksums of the outputs in memory. The checksum files, here and at the peers,
// have those of the bytes that arrived: a difference shows without a look at the data.
TEST_F(ClusterTest, WhatChangesBetweenMemoryAndDiskShowsInTheChecksumFile) {
  SCOPED_TRACE(Seed());
  const auto stored = [&](std::uint64_t id) {
    const auto reader = HolderOf(id).store->OpenReader(id, kStamp);
    EXPECT_TRUE(reader) << reader.error().message;
    return **ComposeCrc32c(**reader);
  };
  for (const bool flips : {false, true}) {
    FlippingIo flipping(*servers_[0]->io);
    BlockIo& io = flips ? static_cast<BlockIo&>(flipping) : *servers_[0]->io;
    CombineEngine engine(io, {});
    auto request = Prepare(300'000);
    request.set_id(flips ? "flips" : "right");
    const auto response = engine.Combine(request);
    ASSERT_EQ(response.status(), ebbfs::COMBINE_OK) << response.message();
    for (int t = 0; t < 3; ++t) {
      const std::uint64_t id = request.targets(t).block().blockid();
      EXPECT_EQ(stored(id) != response.targets(t).crc32c(), flips) << "block " << id;
      EXPECT_TRUE(Get(id, 300'000)) << "the checksums fit the bytes that arrived";
    }
    for (const std::uint64_t id : {1, 2, 4, 8, 9, 11}) {
      EXPECT_TRUE(HolderOf(id).store->Delete(id, kStamp)) << id;
    }
  }
}

TEST_F(ClusterTest, ARepeatedCombineComparesWhatIsThere) {
  SCOPED_TRACE(Seed());
  const auto request = Prepare(300'000);
  const auto first = servers_[0]->engine->Combine(request);
  ASSERT_EQ(first.status(), ebbfs::COMBINE_OK) << first.message();
  // At another server, which does not know of the first run.
  const auto again = servers_[3]->engine->Combine(request);
  ASSERT_EQ(again.status(), ebbfs::COMBINE_OK) << again.message();
  EXPECT_EQ(again.byteswrittenlocal() + again.byteswrittenremote(), 0u);
  EXPECT_EQ(again.targets(0).crc32c(), first.targets(0).crc32c());
}

TEST_F(ClusterTest, LostAndCorruptSourcesAreNamedAndNothingIsWritten) {
  SCOPED_TRACE(Seed());
  const auto request = Prepare(300'000);
  std::filesystem::remove(DataFileOf(1));
  auto response = servers_[0]->engine->Combine(request);
  EXPECT_EQ(response.status(), ebbfs::COMBINE_SOURCE_FAILED) << response.message();
  ASSERT_EQ(response.failedsources_size(), 1);
  EXPECT_EQ(response.failedsources(0).index(), 0u);
  EXPECT_EQ(response.failedsources(0).message().substr(0, 8), "MISSING:");

  Put(1, data_[0]);
  {
    std::fstream file(DataFileOf(2), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(200'000);
    file.put(static_cast<char>(~std::to_integer<int>(data_[1][200'000])));
  }
  response = servers_[0]->engine->Combine(request);
  EXPECT_EQ(response.status(), ebbfs::COMBINE_SOURCE_FAILED) << response.message();
  ASSERT_EQ(response.failedsources_size(), 1);
  EXPECT_EQ(response.failedsources(0).index(), 1u);
  EXPECT_EQ(response.failedsources(0).message().substr(0, 8), "CORRUPT:");
  for (const std::uint64_t id : {8, 9, 11}) EXPECT_FALSE(Get(id, 300'000)) << id;
}

// Server 0 combines. Target 8 is on server 0, target 9 on server 1.
TEST_F(ClusterTest, AFullDiskIsNamedAsSuchWhereverItIs) {
  SCOPED_TRACE(Seed());
  const auto request = Prepare(700'000);
  const auto expect_full = [&](int index) {
    const auto response = servers_[0]->engine->Combine(request);
    EXPECT_EQ(response.status(), ebbfs::COMBINE_TARGET_FAILED) << response.message();
    ASSERT_EQ(response.failedtargets_size(), 1) << response.message();
    EXPECT_EQ(response.failedtargets(0).index(), static_cast<std::uint32_t>(index));
    EXPECT_TRUE(response.failedtargets(0).nospace()) << response.message();
    EXPECT_EQ(response.failedtargets(0).message().substr(0, 9), "NO_SPACE:") << response.message();
    auto& store = *HolderOf(8 + index).store;
    // The peer notices the broken write a moment later.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (store.Find(8 + index) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    EXPECT_FALSE(store.Find(8 + index));
    EXPECT_FALSE(store.Disks()[0].failed);
  };
  for (const int index : {0, 1}) {
    SCOPED_TRACE(fmt::format("target {}", index));
    auto& files = servers_[index]->files;
    files.Set(FaultyFileSystem::Fault::kFillDisk);  // during the write
    files.SetRoomBytes(400'000);
    expect_full(index);
    files.Set(FaultyFileSystem::Fault::kNone);
    files.SetFreeBytes(1000);  // before the write
    expect_full(index);
    files.SetFreeBytes(-1);
  }
  const auto response = servers_[0]->engine->Combine(request);
  EXPECT_EQ(response.status(), ebbfs::COMBINE_OK) << response.message();
}

TEST_F(ClusterTest, AServerDecodesWhatItDoesNotHold) {
  SCOPED_TRACE(Seed());
  const auto request = Prepare(700'000);
  ASSERT_EQ(servers_[0]->engine->Combine(request).status(), ebbfs::COMBINE_OK);
  // Server 3 decodes block 1, because block 8 = 1 + 2 + 4.
  Server& proxy = *servers_[3];
  for (const auto& [id, length] : {std::pair<std::uint64_t, std::size_t>{8, 700'000},
                                   {2, data_[1].size()},
                                   {4, data_[2].size()}}) {
    *proxy.read_plan.plan.add_sources() = SourceOf(id, length);
  }
  proxy.read_plan.plan.set_coefficients("\1\1\1");
  proxy.read_plan.plan.set_lengthbytes(data_[0].size());
  const auto lost = SourceOf(1, data_[0].size()).block();
  auto opened = proxy.degraded_reader->Open(lost, 0, data_[0].size());
  ASSERT_TRUE(opened) << opened.error().message;
  Bytes bytes(data_[0].size());
  ASSERT_TRUE(opened->source->Read(bytes));
  EXPECT_TRUE(bytes == data_[0]);
  EXPECT_EQ(proxy.degraded_reader->counters().sources, 3u);
}

// Two of the three sources are on a disk of the decoding server, so that one block crosses the
// network.
TEST_F(ClusterTest, SourcesOnTheDecodingServerCrossNoLink) {
  SCOPED_TRACE(Seed());
  const auto request = Prepare(700'000);
  ASSERT_EQ(servers_[0]->engine->Combine(request).status(), ebbfs::COMBINE_OK);
  std::vector<std::uint64_t> before;
  for (const auto& server : servers_) before.push_back(server->transfers->counters().reads);
  Server& proxy = *servers_[0];
  for (const auto& [id, length] : {std::pair<std::uint64_t, std::size_t>{8, 700'000},
                                   {2, data_[1].size()},
                                   {4, data_[2].size()}}) {
    auto& source = *proxy.read_plan.plan.add_sources();
    source = SourceOf(id, length);
    if (id == 8) {  // the first location is a replica on another server
      auto& elsewhere = *source.add_locations();
      elsewhere = SourceOf(9, length).locations(0);
      source.mutable_locations()->SwapElements(0, 1);
    }
  }
  proxy.read_plan.plan.set_coefficients("\1\1\1");
  proxy.read_plan.plan.set_lengthbytes(data_[0].size());
  auto opened =
      proxy.degraded_reader->Open(SourceOf(1, data_[0].size()).block(), 0, data_[0].size());
  ASSERT_TRUE(opened) << opened.error().message;
  Bytes bytes(data_[0].size());
  ASSERT_TRUE(opened->source->Read(bytes));
  EXPECT_TRUE(bytes == data_[0]);
  EXPECT_EQ(proxy.degraded_reader->counters().sources, 3u);
  for (std::size_t s = 0; s < kServers; ++s) {
    EXPECT_EQ(servers_[s]->transfers->counters().reads - before[s], s == 2 ? 1u : 0u) << s;
  }
}

TEST_F(ClusterTest, APartOfABlockIsReadFromAPeer) {
  SCOPED_TRACE(Seed());
  const Bytes block = RandomBytes(300'000);
  Put(1, block);
  for (int i = 0; i < 20; ++i) {
    const std::size_t offset = random_() % block.size();
    const std::size_t end = offset + 1 + random_() % (block.size() - offset);
    auto source = servers_[0]->io->OpenSource(SourceOf(1, block.size()), offset, end);
    ASSERT_TRUE(source) << source.error().message;
    Bytes part(end - offset);
    const auto status = (*source)->Read(part);
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_TRUE(
        std::equal(part.begin(), part.end(), block.begin() + static_cast<std::ptrdiff_t>(offset)))
        << offset << " to " << end;
  }
}

// Otherwise two lost blocks could be decoded from each other without an end.
TEST_F(ClusterTest, ASourceIsNeverServedByDecoding) {
  SCOPED_TRACE(Seed());
  Put(1, RandomBytes(1000));
  std::filesystem::remove(DataFileOf(1));
  Server& holder = HolderOf(1);
  holder.read_plan.plan.set_coefficients("");
  holder.read_plan.plan.set_lengthbytes(1000);
  const auto bytes = Get(1, 1000);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::kNotFound) << bytes.error().message;
  EXPECT_EQ(holder.read_plan.calls, 0);
}

}  // namespace
}  // namespace ebb
