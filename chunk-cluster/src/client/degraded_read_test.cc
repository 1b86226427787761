// Members of stripes whose holders are lost, silent or slow.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "client/decoding_slots.h"
#include "client/fake_cluster.h"
#include "client/file_system.h"
#include "combine/fake_block_io.h"

namespace ebb::client {
namespace {

using namespace std::chrono_literals;
using testing::FakeDatanode;
using testing::FakeNamenode;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBlock = 7;
constexpr std::size_t kLength = 300'000;
constexpr std::size_t kPlans = 6;
constexpr char kReader[] = "EBBFS_READER";

std::string TextOf(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A file of one block at server 0, which is in a stripe. Plan p decodes the block from the blocks
// 10 + 2p and 11 + 2p at the servers of the same numbers less nine. The last server is a proxy.
class DegradedReadTest : public ::testing::Test {
 protected:
  DegradedReadTest() : seed_(std::random_device()()), random_(seed_) {
    for (std::size_t i = 0; i < 2 * kPlans + 2; ++i) {
      nodes_.push_back(std::make_unique<FakeDatanode>());
      infos_.push_back(nodes_.back()->info());
    }
    lost_ = RandomBytes();
    holder().Put(kBlock, TextOf(lost_));
    proxy().Put(kBlock, TextOf(lost_));
    for (std::size_t p = 0; p < kPlans; ++p) PutSources(p);
    namenode_ = std::make_unique<FakeNamenode>(infos_);
    namenode_->plan = [this](const auto& request) { return Plan(request); };
    Locate();
  }
  // Streams and the namenode's threads use the other members.
  ~DegradedReadTest() override {
    in_.reset();
    files_.reset();
    namenode_.reset();
  }

  FakeDatanode& holder() { return *nodes_.front(); }
  FakeDatanode& proxy() { return *nodes_.back(); }
  FakeDatanode& HolderOfSource(std::uint64_t id) { return *nodes_[id - 9]; }

  Bytes RandomBytes() {
    Bytes bytes(kLength);
    for (auto& b : bytes) b = static_cast<std::byte>(random_());
    return bytes;
  }

  static std::uint8_t CoefficientOf(std::size_t plan) {
    return static_cast<std::uint8_t>(3 + plan);
  }

  void PutSources(std::size_t plan) {
    const auto other = RandomBytes();
    const std::vector<Bytes> both = {lost_, other};
    const std::vector<std::uint8_t> row = {1, CoefficientOf(plan)};
    const auto id = 10 + 2 * plan;
    HolderOfSource(id).Put(id, TextOf(ReferenceSum(both, row, kLength)));
    HolderOfSource(id + 1).Put(id + 1, TextOf(other));
  }

  void Locate() {
    auto& block = *namenode_->located.add_blocks();
    namenode_->Locate(kBlock, {}, block);
    block.mutable_b()->set_numbytes(kLength);
    block.mutable_locs()->DeleteSubrange(1, block.locs_size() - 2);
    block.mutable_storageids()->DeleteSubrange(1, block.storageids_size() - 2);
    block.mutable_storagetypes()->Truncate(2);
    // A proxy has no storage.
    block.set_storageids(1, "");
    namenode_->located.set_filelength(kLength);
    namenode_->located.set_underconstruction(false);
    namenode_->located.set_islastblockcomplete(true);
  }

  bool Excludes(const ebbfs::GetReadPlanRequestProto& request, std::uint64_t id) {
    const auto& uuid = infos_[id - 9].id().datanodeuuid();
    return std::ranges::count(request.excludedblockids(), id) > 0 ||
           std::ranges::count(request.excludedserveruuids(), uuid) > 0;
  }

  Result<ebbfs::GetReadPlanResponseProto> Plan(const ebbfs::GetReadPlanRequestProto& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    if (!refusal_.empty()) return std::unexpected(Error{ErrorCode::kRemote, "no", refusal_});
    for (std::size_t p = 0; p < kPlans; ++p) {
      const auto id = 10 + 2 * p;
      if (Excludes(request, id) || Excludes(request, id + 1)) continue;
      ebbfs::GetReadPlanResponseProto plan;
      for (const auto source : {id, id + 1}) {
        *plan.add_sources() = MakeSource(source, kLength);
        *plan.mutable_sources()->rbegin()->mutable_locations(0)->mutable_server() =
            infos_[source - 9].id();
      }
      plan.set_coefficients(std::string({1, static_cast<char>(CoefficientOf(p))}));
      plan.set_lengthbytes(kLength);
      plan.set_code("test");
      return plan;
    }
    return std::unexpected(Error{ErrorCode::kRemote, "nothing is left",
                                 "org.apache.hadoop.hdfs.BlockMissingException"});
  }
  std::vector<ebbfs::GetReadPlanRequestProto> Requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  // A `straggler` of 0 waits for ever.
  void Open(Timeout straggler = 0ms) {
    if (!files_) {
      Configuration configuration;
      configuration.Set("ebbfs.client.straggler.millis", std::to_string(straggler.count()));
      auto files = FileSystem::Open(configuration, namenode_->Start()[0].Text());
      ASSERT_TRUE(files) << files.error().message;
      files_ = std::move(*files);
    }
    auto in = files_->OpenFile("/f");
    ASSERT_TRUE(in) << in.error().message;
    in_ = std::move(*in);
  }

  void ExpectReads() {
    Bytes out(kLength);
    const auto read = in_->Read(out);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, kLength);
    EXPECT_TRUE(out == lost_);
  }

  // All slots of the process for reads that decode.
  static std::vector<DecodingSlots::Slot> TakeAllSlots() {
    std::vector<DecodingSlots::Slot> slots;
    const std::atomic<bool> stopped = false;
    while (auto slot = DecodingSlots::OfProcess().Take(0ms, stopped)) {
      slots.push_back(std::move(slot));
    }
    return slots;
  }

  [[nodiscard]] std::string Seed() const { return fmt::format("seed {}", seed_); }

  const unsigned seed_;
  std::mt19937 random_;
  Bytes lost_;
  std::vector<std::unique_ptr<FakeDatanode>> nodes_;
  std::vector<hadoop::hdfs::DatanodeInfoProto> infos_;
  // The class of the exception that refuses plans.
  std::string refusal_;
  std::mutex mutex_;
  std::vector<ebbfs::GetReadPlanRequestProto> requests_;
  std::unique_ptr<FakeNamenode> namenode_;
  std::unique_ptr<FileSystem> files_;
  std::unique_ptr<InputStream> in_;
};

TEST_F(DegradedReadTest, ALostBlockIsDecodedWithoutAProxy) {
  SCOPED_TRACE(Seed());
  nodes_.front().reset();
  Open();
  ExpectReads();
  EXPECT_EQ(in_->counts().decoded_bytes, kLength);
  EXPECT_EQ(in_->counts().local_bytes, 0U);
  EXPECT_TRUE(proxy().Reads().empty());
  ASSERT_EQ(Requests().size(), 1U);
  EXPECT_EQ(Requests()[0].block().blockid(), kBlock);
  EXPECT_EQ(Requests()[0].excludedserveruuids(0), infos_[0].id().datanodeuuid());
  // Such reads never make a chunk server decode.
  EXPECT_EQ(HolderOfSource(10).Reads().at(0).header().clientname(), kReader);
}

TEST_F(DegradedReadTest, AServerThatRefusesIsReadAround) {
  SCOPED_TRACE(Seed());
  holder().refuses_reads = true;
  Open();
  ExpectReads();
  EXPECT_EQ(in_->counts().decoded_bytes, kLength);
  EXPECT_TRUE(proxy().Reads().empty());
}

TEST_F(DegradedReadTest, WrongBytesAreReportedAndReadAround) {
  SCOPED_TRACE(Seed());
  holder().damages_reads = true;
  Open();
  ExpectReads();
  EXPECT_TRUE(proxy().Reads().empty());
  ASSERT_EQ(namenode_->bad().blocks_size(), 1);
  EXPECT_EQ(namenode_->bad().blocks(0).locs(0).id().datanodeuuid(), infos_[0].id().datanodeuuid());
}

TEST_F(DegradedReadTest, OnlyTheWantedRangeIsFetched) {
  SCOPED_TRACE(Seed());
  nodes_.front().reset();
  Open();
  Bytes out(7000);
  ASSERT_EQ(*in_->ReadAt(123'456, out), out.size());
  EXPECT_TRUE(std::equal(out.begin(), out.end(), lost_.begin() + 123'456));
  for (const std::uint64_t id : {10, 11}) {
    const auto read = HolderOfSource(id).Reads().at(0);
    EXPECT_EQ(read.offset(), 123'456U);
    EXPECT_EQ(read.len(), out.size());
  }
  for (int i = 0; i < 20; ++i) {
    const std::size_t at = random_() % kLength;
    out.resize(std::min<std::size_t>(1 + random_() % 90'000, kLength - at));
    ASSERT_EQ(*in_->ReadAt(at, out), out.size());
    ASSERT_TRUE(std::equal(out.begin(), out.end(), lost_.begin() + static_cast<long>(at)));
  }
}

TEST_F(DegradedReadTest, ASourceThatFailsLeadsToAnotherPlan) {
  SCOPED_TRACE(Seed());
  nodes_.front().reset();
  HolderOfSource(11).damages_reads = true;
  const auto unreachable = infos_[12 - 9].id().datanodeuuid();
  nodes_[12 - 9].reset();
  HolderOfSource(15).bytes_until_stall = 1024;
  Open();
  ExpectReads();
  const auto requests = Requests();
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_EQ(requests[1].excludedblockids(0), 11U);
  EXPECT_EQ(std::ranges::count(requests[2].excludedserveruuids(), unreachable), 1);
  EXPECT_TRUE(Excludes(requests[3], 15));
  EXPECT_EQ(in_->counts().decoded_bytes, kLength);
  EXPECT_TRUE(proxy().Reads().empty());
}

TEST_F(DegradedReadTest, AProxyIsReadAfterFivePlans) {
  SCOPED_TRACE(Seed());
  nodes_.front().reset();
  for (std::uint64_t id = 10; id < 10 + 2 * kPlans; ++id) HolderOfSource(id).refuses_reads = true;
  Open();
  ExpectReads();
  EXPECT_EQ(Requests().size(), 5U);
  EXPECT_EQ(in_->counts().decoded_bytes, 0U);
  EXPECT_EQ(proxy().Reads().size(), 1U);
}

TEST_F(DegradedReadTest, AProxyIsReadIfTheStripeDoesNotDecode) {
  SCOPED_TRACE(Seed());
  nodes_.front().reset();
  refusal_ = "org.apache.hadoop.hdfs.BlockMissingException";
  Open();
  ExpectReads();
  EXPECT_EQ(proxy().Reads().size(), 1U);
  // Another stream asks again: that was no refusal.
  Open();
  ExpectReads();
  EXPECT_EQ(Requests().size(), 2U);
}

TEST_F(DegradedReadTest, RefusedPlansAreAskedForOnce) {
  SCOPED_TRACE(Seed());
  nodes_.front().reset();
  refusal_ = "org.apache.hadoop.security.AccessControlException";
  for (std::size_t i = 1; i <= 3; ++i) {
    Open();
    ExpectReads();
    EXPECT_EQ(proxy().Reads().size(), i);
  }
  EXPECT_EQ(Requests().size(), 1U);
}

TEST_F(DegradedReadTest, ANamenodeWithoutPlansIsNoFailure) {
  SCOPED_TRACE(Seed());
  nodes_.front().reset();
  namenode_->plan = nullptr;
  Open();
  ExpectReads();
  EXPECT_EQ(proxy().Reads().size(), 1U);
}

TEST_F(DegradedReadTest, NoPlanIsAskedForWithoutAStripe) {
  SCOPED_TRACE(Seed());
  nodes_.front().reset();
  namenode_->located.mutable_blocks(0)->set_storageids(1, "storage");
  Open(50ms);
  proxy().read_delay_millis = 300;
  ExpectReads();
  EXPECT_TRUE(Requests().empty());
}

TEST_F(DegradedReadTest, ASilentServerIsReadAround) {
  SCOPED_TRACE(Seed());
  holder().stalls_reads = true;
  const auto begin = Clock::now();
  Open(100ms);
  ExpectReads();
  EXPECT_LT(Clock::now() - begin, 10s);
  EXPECT_EQ(in_->counts().decoded_bytes, kLength);
  EXPECT_TRUE(proxy().Reads().empty());
  // The server is not waited for again.
  ASSERT_TRUE(in_->Seek(0));
  ExpectReads();
  EXPECT_EQ(holder().Reads().size(), 1U);
}

TEST_F(DegradedReadTest, AServerThatFallsSilentIsReadAroundFromThereOn) {
  SCOPED_TRACE(Seed());
  holder().bytes_until_stall = 100 * 512;
  const auto begin = Clock::now();
  Open(100ms);
  ExpectReads();
  EXPECT_LT(Clock::now() - begin, 10s);
  EXPECT_EQ(in_->counts().decoded_bytes, kLength - 100 * 512);
  EXPECT_EQ(HolderOfSource(10).Reads().at(0).offset(), 100U * 512);
}

TEST_F(DegradedReadTest, ASlowServerThatIsFirstGoesOn) {
  SCOPED_TRACE(Seed());
  holder().read_delay_millis = 600;
  HolderOfSource(10).stalls_reads = true;
  const auto begin = Clock::now();
  Open(100ms);
  ExpectReads();
  EXPECT_EQ(in_->counts().decoded_bytes, 0U);
  EXPECT_EQ(Requests().size(), 1U);
  in_.reset();
  // The source that stalls keeps nobody.
  EXPECT_LT(Clock::now() - begin, 4s);
}

// At most 30 silences: races begin at the first one and 1, 2, 4 and 8 silences later.
TEST_F(DegradedReadTest, RacesThatFailBecomeRare) {
  SCOPED_TRACE(Seed());
  refusal_ = "org.apache.hadoop.hdfs.BlockMissingException";
  holder().read_delay_millis = 1500;
  Open(50ms);
  ExpectReads();
  EXPECT_EQ(in_->counts().decoded_bytes, 0U);
  EXPECT_GE(Requests().size(), 3U);
  EXPECT_LE(Requests().size(), 5U);
}

TEST_F(DegradedReadTest, TheBytesAreRightWhoeverIsFirst) {
  SCOPED_TRACE(Seed());
  for (int i = 0; i < 20 && !HasFatalFailure(); ++i) {
    holder().read_delay_millis = static_cast<int>(random_() % 60);
    holder().bytes_until_stall =
        i % 2 == 0 ? 1'000'000'000 : static_cast<int>(random_() % 500) * 512;
    Open(20ms);
    ExpectReads();
    EXPECT_EQ(in_->counts().bytes, kLength);
  }
}

TEST_F(DegradedReadTest, WithoutALimitAServerIsWaitedFor) {
  SCOPED_TRACE(Seed());
  holder().read_delay_millis = 300;
  Open();
  ExpectReads();
  EXPECT_TRUE(Requests().empty());
  EXPECT_EQ(in_->counts().local_bytes, kLength);
}

TEST_F(DegradedReadTest, ReadsBeyondTheBoundOfTheProcessGoToTheProxy) {
  SCOPED_TRACE(Seed());
  nodes_.front().reset();
  auto slots = TakeAllSlots();
  EXPECT_EQ(slots.size(), 16U);
  Open();
  ExpectReads();
  EXPECT_EQ(in_->counts().decoded_bytes, 0U);
  EXPECT_EQ(proxy().Reads().size(), 1U);
  EXPECT_TRUE(Requests().empty());
  slots.pop_back();
  Open();
  ExpectReads();
  EXPECT_EQ(in_->counts().decoded_bytes, kLength);
  // The stream gives its slot back.
  in_.reset();
  slots.clear();
  EXPECT_EQ(TakeAllSlots().size(), 16U);
}

TEST_F(DegradedReadTest, NoHedgeStartsBeyondTheBoundOfTheProcess) {
  SCOPED_TRACE(Seed());
  const auto slots = TakeAllSlots();
  holder().read_delay_millis = 600;
  Open(100ms);
  ExpectReads();
  EXPECT_EQ(in_->counts().decoded_bytes, 0U);
  EXPECT_TRUE(Requests().empty());
  const auto begin = Clock::now();
  in_.reset();
  EXPECT_LT(Clock::now() - begin, 4s);
}

TEST(DecodingSlotsTest, AReadWaitsForASlotUnlessItIsStopped) {
  DecodingSlots slots(1);
  std::atomic<bool> stopped = false;
  auto only = slots.Take(0ms, stopped);
  ASSERT_TRUE(only);
  {
    const std::jthread other([&] {
      std::this_thread::sleep_for(100ms);
      only.reset();
    });
    EXPECT_TRUE(slots.Take(20s, stopped));
  }
  only = slots.Take(0ms, stopped);
  ASSERT_TRUE(only);
  const auto begin = Clock::now();
  const std::jthread canceller([&] {
    std::this_thread::sleep_for(100ms);
    stopped = true;
    slots.Wake();
  });
  EXPECT_FALSE(slots.Take(20s, stopped));
  EXPECT_LT(Clock::now() - begin, 10s);
}

TEST(DecodingSlotsTest, AfterAWaitInVainNoneWaitsUntilASlotIsFree) {
  DecodingSlots slots(1);
  const std::atomic<bool> stopped = false;
  auto only = slots.Take(0ms, stopped);
  EXPECT_FALSE(slots.Take(10ms, stopped));
  const auto begin = Clock::now();
  EXPECT_FALSE(slots.Take(20s, stopped));
  EXPECT_LT(Clock::now() - begin, 10s);
  only.reset();
  only = slots.Take(0ms, stopped);
  ASSERT_TRUE(only);
  const std::jthread other([&] {
    std::this_thread::sleep_for(100ms);
    only.reset();
  });
  EXPECT_TRUE(slots.Take(20s, stopped));
}

TEST_F(DegradedReadTest, ADegradedReadIsCancelled) {
  SCOPED_TRACE(Seed());
  for (const bool hedged : {false, true}) {
    SCOPED_TRACE(hedged);
    holder().refuses_reads = !hedged;
    holder().stalls_reads = hedged;
    HolderOfSource(10).stalls_reads = true;
    Open(50ms);
    const auto requests = Requests().size();
    const auto begin = Clock::now();
    std::jthread canceller([&] {
      while (Requests().size() == requests && Clock::now() - begin < 5s) {
        std::this_thread::sleep_for(10ms);
      }
      std::this_thread::sleep_for(100ms);
      in_->Cancel();
    });
    const auto bytes = in_->Next(10);
    ASSERT_FALSE(bytes);
    EXPECT_EQ(bytes.error().code, ErrorCode::kShutdown);
    canceller.join();
    in_.reset();
    EXPECT_LT(Clock::now() - begin, 4s);
  }
}

}  // namespace
}  // namespace ebb::client
