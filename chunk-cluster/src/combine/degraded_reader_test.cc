#include "combine/degraded_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "combine/fake_block_io.h"

namespace ebb {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kLost = 100;

// A small code for the tests: several equations make the lost block, each out of two other blocks.
// Every equation is a plan. The answer is the first plan without an excluded server or block.
class FakeReadPlanSource final : public ReadPlanSource {
 public:
  struct Equation {
    std::vector<std::pair<std::uint64_t, std::uint8_t>> terms;
  };

  Result<ebbfs::GetReadPlanResponseProto> GetReadPlan(
      const ebbfs::GetReadPlanRequestProto& request) override {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    for (const auto& equation : equations_) {
      if (Allows(request, equation)) return Plan(equation);
    }
    return std::unexpected(Error{ErrorCode::kRemote, "no equation is left", "java.io.IOException"});
  }

  static std::string ServerOf(std::uint64_t id) { return fmt::format("server-{}", id); }

  std::vector<ebbfs::GetReadPlanRequestProto> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  std::vector<Equation> equations_;
  std::map<std::uint64_t, std::uint64_t> lengths_;
  std::uint64_t length_ = 0;

 private:
  static bool Allows(const ebbfs::GetReadPlanRequestProto& request, const Equation& equation) {
    return std::all_of(equation.terms.begin(), equation.terms.end(), [&](const auto& term) {
      const auto& servers = request.excludedserveruuids();
      const auto& blocks = request.excludedblockids();
      return std::find(servers.begin(), servers.end(), ServerOf(term.first)) == servers.end() &&
             std::find(blocks.begin(), blocks.end(), term.first) == blocks.end();
    });
  }

  ebbfs::GetReadPlanResponseProto Plan(const Equation& equation) {
    ebbfs::GetReadPlanResponseProto plan;
    std::string coefficients;
    for (const auto& [id, coefficient] : equation.terms) {
      *plan.add_sources() = MakeSource(id, lengths_[id], ServerOf(id));
      coefficients.push_back(static_cast<char>(coefficient));
    }
    plan.set_coefficients(coefficients);
    plan.set_lengthbytes(length_);
    return plan;
  }

  std::mutex mutex_;
  std::vector<ebbfs::GetReadPlanRequestProto> requests_;
};

class DegradedReaderTest : public testing::Test {
 protected:
  DegradedReaderTest() : seed_(std::random_device()()), random_(seed_) {
    options_.server_uuid = "me";
    Restart();
  }
  ~DegradedReaderTest() override { io_.Release(); }

  void Restart() {
    reads_.reset();
    reads_ = std::make_unique<DegradedReader>(io_, plan_source_, options_);
  }

  Bytes RandomBytes(std::size_t n) {
    Bytes bytes(n);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random_());
    return bytes;
  }

  // Puts the lost block's sources in place: `equations` plans, each a + c * b with its own blocks
  // a, b.
  void Prepare(std::size_t length, int equations) {
    lost_ = RandomBytes(length);
    plan_source_.length_ = length;
    for (int e = 0; e < equations; ++e) {
      const auto a = static_cast<std::uint64_t>(2 * e + 1);
      const auto coefficient = static_cast<std::uint8_t>(3 + e);
      // Block b may be shorter than a: zeros follow its end.
      const Bytes b = RandomBytes(length - random_() % (length / 2 + 1));
      const std::vector<Bytes> both = {lost_, b};
      const std::vector<std::uint8_t> row = {1, coefficient};
      Put(a, ReferenceSum(both, row, length));
      Put(a + 1, b);
      plan_source_.equations_.push_back({{{a, 1}, {a + 1, coefficient}}});
    }
  }

  void Put(std::uint64_t id, Bytes bytes) {
    plan_source_.lengths_[id] = bytes.size();
    io_.Put(id, std::move(bytes));
  }

  Result<MissingBlock> Open(std::uint64_t offset, std::uint64_t length) {
    hadoop::hdfs::ExtendedBlockProto block;
    FillBlock(block, kLost, lost_.size());
    return reads_->Open(block, offset, length);
  }

  // Reads in pieces of random length and compares them with the lost block.
  void ExpectReads(std::uint64_t offset, std::uint64_t length) {
    auto block = Open(offset, length);
    ASSERT_TRUE(block) << block.error().message;
    EXPECT_EQ(block->length_bytes, lost_.size());
    ExpectRest(*block, offset, std::min<std::uint64_t>(offset + length, lost_.size()));
  }

  void ExpectRest(MissingBlock& block, std::uint64_t offset, std::uint64_t end) {
    while (offset < end) {
      Bytes piece(std::min<std::uint64_t>(end - offset, 1 + random_() % 9000));
      const auto status = block.source->Read(piece);
      ASSERT_TRUE(status) << status.error().message;
      ASSERT_TRUE(std::equal(piece.begin(), piece.end(),
                             lost_.begin() + static_cast<std::ptrdiff_t>(offset)))
          << "at " << offset;
      offset += piece.size();
    }
  }

  [[nodiscard]] std::string Seed() const { return fmt::format("seed {}", seed_); }

  unsigned seed_;
  std::mt19937 random_;
  DegradedReadOptions options_;
  FakeBlockIo io_;
  FakeReadPlanSource plan_source_;
  Bytes lost_;
  std::unique_ptr<DegradedReader> reads_;
};

TEST_F(DegradedReaderTest, DecodesTheBlock) {
  SCOPED_TRACE(Seed());
  Prepare(300'000, 1);
  ExpectReads(0, lost_.size());
  const auto counters = reads_->counters();
  EXPECT_EQ(counters.reads, 1u);
  EXPECT_EQ(counters.bytes, 300'000u);
  EXPECT_EQ(counters.sources, 2u);
  EXPECT_EQ(plan_source_.requests().at(0).requesteruuid(), "me");
  EXPECT_EQ(plan_source_.requests().at(0).block().blockid(), kLost);
}

TEST_F(DegradedReaderTest, DecodesFromAnyOffset) {
  SCOPED_TRACE(Seed());
  Prepare(300'000, 1);
  for (int i = 0; i < 50 && !HasFatalFailure(); ++i) {
    ExpectReads(random_() % (lost_.size() + 1), random_() % 350'000);
  }
}

TEST_F(DegradedReaderTest, ReadsNoMoreThanIsAskedFor) {
  SCOPED_TRACE(Seed());
  Prepare(300'000, 1);
  ExpectReads(1024, 512);
  EXPECT_EQ(io_.bytes_read(1), 512u);
  EXPECT_EQ(io_.end_of_read(1), 1536u);
}

TEST_F(DegradedReaderTest, AnEmptyRangeReadsNothing) {
  SCOPED_TRACE(Seed());
  Prepare(1000, 1);
  ExpectReads(1000, 10);
  EXPECT_EQ(io_.opens(1), 0);
}

TEST_F(DegradedReaderTest, AMissingSourceIsExcludedByItsBlock) {
  SCOPED_TRACE(Seed());
  Prepare(100'000, 2);
  io_.Remove(1);
  ExpectReads(0, lost_.size());
  const auto requests = plan_source_.requests();
  ASSERT_EQ(requests.size(), 2u);
  ASSERT_EQ(requests[1].excludedblockids_size(), 1);
  EXPECT_EQ(requests[1].excludedblockids(0), 1u);
  EXPECT_EQ(requests[1].excludedserveruuids_size(), 0);
}

TEST_F(DegradedReaderTest, AnUnreachableServerIsExcluded) {
  SCOPED_TRACE(Seed());
  Prepare(100'000, 2);
  io_.SetFault(2, {.open = Error{ErrorCode::kNetwork, "connection refused"}});
  ExpectReads(0, lost_.size());
  const auto requests = plan_source_.requests();
  ASSERT_EQ(requests.size(), 2u);
  ASSERT_EQ(requests[1].excludedserveruuids_size(), 1);
  EXPECT_EQ(requests[1].excludedserveruuids(0), FakeReadPlanSource::ServerOf(2));
}

TEST_F(DegradedReaderTest, GoesOnWhereItWasWhenSourcesFailMidway) {
  SCOPED_TRACE(Seed());
  Prepare(600'000, 4);
  io_.SetFault(1, {.at = 100'000});
  io_.SetFault(3, {.at = 250'000, .error = {ErrorCode::kCorrupt, "checksum"}});
  io_.SetFault(5, {.at = 400'000});
  ExpectReads(0, lost_.size());
  EXPECT_EQ(plan_source_.requests().size(), 4u);
  EXPECT_EQ(reads_->counters().bytes, 600'000u);
  EXPECT_EQ(reads_->counters().reads, 1u);
  // Each plan reads two sources, except sources that end before the offset of the plan's first
  // byte.
  EXPECT_GE(reads_->counters().sources, 5u);
  EXPECT_LE(reads_->counters().sources, 8u);
}

TEST_F(DegradedReaderTest, AStalledSourceIsReplaced) {
  SCOPED_TRACE(Seed());
  options_.source_timeout = 100ms;
  Restart();
  Prepare(300'000, 2);
  io_.SetFault(1, {.at = 150'000, .stall = true});
  ExpectReads(0, lost_.size());
  EXPECT_EQ(plan_source_.requests().at(1).excludedserveruuids(0), FakeReadPlanSource::ServerOf(1));
}

TEST_F(DegradedReaderTest, FailsWhenThereIsNoPlan) {
  SCOPED_TRACE(Seed());
  Prepare(100'000, 1);
  io_.Remove(1);
  auto block = Open(0, lost_.size());
  ASSERT_FALSE(block);
  EXPECT_EQ(block.error().code, ErrorCode::kRemote);
  EXPECT_EQ(reads_->counters().reads, 0u);
}

TEST_F(DegradedReaderTest, MemoryIsGivenBack) {
  SCOPED_TRACE(Seed());
  options_.slice_bytes = options_.min_slice_bytes;
  options_.max_process_bytes = 5 * options_.slice_bytes;  // the memory of one read
  options_.busy_timeout = 60s;
  Restart();
  Prepare(100'000, 2);
  io_.SetFault(1, {.at = 50'000});
  for (int i = 0; i < 5 && !HasFatalFailure(); ++i) ExpectReads(0, lost_.size());
}

TEST_F(DegradedReaderTest, TriesABoundedNumberOfPlans) {
  SCOPED_TRACE(Seed());
  options_.max_plans = 3;
  Restart();
  Prepare(100'000, 5);
  for (std::uint64_t id = 1; id <= 10; ++id) io_.Remove(id);
  auto block = Open(0, lost_.size());
  ASSERT_FALSE(block);
  EXPECT_EQ(plan_source_.requests().size(), 3u);
}

TEST_F(DegradedReaderTest, ManyReadsAtOnceAreBounded) {
  SCOPED_TRACE(Seed());
  options_.max_concurrent = 2;
  Restart();
  Prepare(100'000, 1);
  auto one = Open(0, lost_.size());
  auto two = Open(0, lost_.size());
  ASSERT_TRUE(one && two);
  auto three = Open(0, lost_.size());
  ASSERT_FALSE(three);
  EXPECT_EQ(three.error().code, ErrorCode::kBusy);
  one->source.reset();
  ExpectReads(0, lost_.size());
}

TEST_F(DegradedReaderTest, MemoryThatDoesNotBecomeFreeMeansBusy) {
  SCOPED_TRACE(Seed());
  options_.slice_bytes = options_.min_slice_bytes;
  options_.max_process_bytes = 6 * options_.slice_bytes;  // one read holds five slices
  options_.busy_timeout = 50ms;
  Restart();
  Prepare(100'000, 1);
  auto one = Open(0, lost_.size());
  ASSERT_TRUE(one);
  auto two = Open(0, lost_.size());
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code, ErrorCode::kBusy);
  ExpectRest(*one, 0, lost_.size());
}

TEST_F(DegradedReaderTest, APlanThatContradictsItselfIsRefused) {
  SCOPED_TRACE(Seed());
  class Liar final : public ReadPlanSource {
   public:
    Result<ebbfs::GetReadPlanResponseProto> GetReadPlan(
        const ebbfs::GetReadPlanRequestProto&) override {
      ebbfs::GetReadPlanResponseProto plan;
      *plan.add_sources() = MakeSource(1, 10);
      plan.set_coefficients("\1\2");
      plan.set_lengthbytes(10);
      return plan;
    }
  } liar;
  DegradedReader reads(io_, liar, options_);
  hadoop::hdfs::ExtendedBlockProto block;
  FillBlock(block, kLost, 10);
  auto opened = reads.Open(block, 0, 10);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace ebb
