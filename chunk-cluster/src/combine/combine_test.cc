#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "combine/combine_engine.h"
#include "combine/decode_rows.h"
#include "combine/fake_block_io.h"
#include "common/crc32c.h"

namespace ebb {
namespace {

using namespace std::chrono_literals;

class CombineTest : public testing::Test {
 protected:
  CombineTest() : seed_(std::random_device()()), random_(seed_) {
    options_.run.source_timeout = 60s;
    options_.busy_timeout = 60s;
    Restart();
  }
  ~CombineTest() override { io_.Release(); }

  void SetUp() override { RecordProperty("seed", std::to_string(seed_)); }
  [[nodiscard]] std::string Seed() const { return fmt::format("seed {}", seed_); }

  void Restart() {
    engine_.reset();
    engine_ = std::make_unique<CombineEngine>(io_, options_);
  }
  std::size_t Below(std::size_t n) { return random_() % n; }
  Bytes RandomBytes(std::size_t n) {
    Bytes bytes(n);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random_());
    return bytes;
  }

  // Sources 1, 2, ... and targets 101, 102, ... with these lengths. Coefficients are 1, 2, 3, ...
  ebbfs::CombineRequestProto Request(const std::vector<std::size_t>& sources,
                                     const std::vector<std::size_t>& targets) {
    ebbfs::CombineRequestProto request;
    request.set_id("combine");
    data_.clear();
    for (std::size_t s = 0; s < sources.size(); ++s) {
      data_.push_back(RandomBytes(sources[s]));
      io_.Put(s + 1, data_.back());
      *request.add_sources() = MakeSource(s + 1, sources[s]);
    }
    std::string coefficients;
    for (std::size_t t = 0; t < targets.size(); ++t) {
      *request.add_targets() = MakeTarget(101 + t, targets[t]);
      for (std::size_t s = 0; s < sources.size(); ++s) {
        coefficients.push_back(static_cast<char>(1 + (t * sources.size() + s) % 255));
      }
    }
    request.set_coefficients(coefficients);
    request.set_slicebytes(4096);
    return request;
  }

  void ExpectOutputs(const ebbfs::CombineRequestProto& request,
                     const ebbfs::CombineResponseProto& response) {
    ASSERT_EQ(response.status(), ebbfs::COMBINE_OK) << response.message();
    ASSERT_EQ(response.targets_size(), request.targets_size());
    const auto sources = static_cast<std::size_t>(request.sources_size());
    for (int t = 0; t < request.targets_size(); ++t) {
      const auto& block = request.targets(t).block();
      const std::span row(reinterpret_cast<const std::uint8_t*>(request.coefficients().data()) +
                              static_cast<std::size_t>(t) * sources,
                          sources);
      const Bytes expected = ReferenceSum(data_, row, block.numbytes());
      const auto written = io_.Get(block.blockid());
      ASSERT_TRUE(written.has_value());
      ASSERT_TRUE(*written == expected) << "target " << t;
      EXPECT_EQ(response.targets(t).lengthbytes(), block.numbytes());
      EXPECT_EQ(response.targets(t).crc32c(), Crc32c(0, expected));
    }
  }

  void ExpectNoTrace(const ebbfs::CombineRequestProto& request) {
    EXPECT_EQ(io_.unfinished(), 0u);
    for (const auto& target : request.targets()) {
      EXPECT_FALSE(io_.Get(target.block().blockid())) << target.block().blockid();
    }
  }

  unsigned seed_;
  std::mt19937 random_;
  CombineEngineOptions options_;
  FakeBlockIo io_;
  std::vector<Bytes> data_;
  std::unique_ptr<CombineEngine> engine_;
};

TEST_F(CombineTest, WritesTheLinearCombination) {
  const auto request = Request({10'000, 10'000, 10'000}, {10'000, 10'000});
  const auto response = engine_->Combine(request);
  ExpectOutputs(request, response);
  EXPECT_EQ(response.blocksread(), 3u);
  EXPECT_EQ(response.bytesreadlocal(), 10'000u);   // block 2
  EXPECT_EQ(response.bytesreadremote(), 20'000u);  // blocks 1 and 3
  EXPECT_EQ(response.byteswrittenlocal(), 10'000u);
  EXPECT_EQ(response.byteswrittenremote(), 10'000u);
}

// The data blocks of a block group, of which each output is a part of the data.
class GatherTest : public CombineTest {
 protected:
  void MakeGroup(std::size_t units, std::size_t cell, std::size_t bytes) {
    units_ = units;
    cell_ = cell;
    group_ = RandomBytes(bytes);
    blocks_.assign(units, {});
    for (std::size_t at = 0; at < bytes; at += cell) {
      const auto from = group_.begin() + static_cast<std::ptrdiff_t>(at);
      Bytes& block = blocks_[at / cell % units];
      block.insert(block.end(), from,
                   from + static_cast<std::ptrdiff_t>(std::min(cell, bytes - at)));
    }
    for (std::size_t i = 0; i < units; ++i) io_.Put(i + 1, blocks_[i]);
  }

  ebbfs::SourceProto Unit(std::size_t block, std::size_t unit, std::size_t start) {
    auto source = MakeSource(block + 1, blocks_[block].size());
    auto& cells = *source.mutable_cells();
    cells.set_cellbytes(static_cast<std::uint32_t>(cell_));
    cells.set_units(static_cast<std::uint32_t>(units_));
    cells.set_unit(static_cast<std::uint32_t>(unit));
    cells.set_startbytes(start);
    return source;
  }

  ebbfs::CombineRequestProto Gather(std::size_t start, std::size_t length) {
    ebbfs::CombineRequestProto request;
    request.set_id(fmt::format("gather {}", ++requests_));
    for (std::size_t i = 0; i < units_; ++i) *request.add_sources() = Unit(i, i, start);
    *request.add_targets() = MakeTarget(1'000 + requests_, length);
    request.set_coefficients(std::string(units_, '\1'));
    request.set_slicebytes(4096);
    return request;
  }

  Bytes Part(std::size_t start, std::size_t length) {
    const auto from = group_.begin() + static_cast<std::ptrdiff_t>(start);
    return {from, from + static_cast<std::ptrdiff_t>(length)};
  }

  std::size_t units_ = 0;
  std::size_t cell_ = 0;
  std::size_t requests_ = 0;
  Bytes group_;
  std::vector<Bytes> blocks_;
};

TEST_F(GatherTest, GivesThePartsOfABlockGroup) {
  for (int round = 0; round < 200; ++round) {
    // Cells that are shorter and longer than a slice, and that end within slices.
    const std::size_t cell = round % 2 == 0 ? 1 + Below(6000) : 4096 * (1 + Below(3));
    MakeGroup(1 + Below(6), cell, 1 + Below(60'000));
    const std::size_t start = Below(group_.size());
    const std::size_t length = 1 + Below(group_.size() - start);
    const auto response = engine_->Combine(Gather(start, length));
    ASSERT_EQ(response.status(), ebbfs::COMBINE_OK) << response.message();
    ASSERT_TRUE(*io_.Get(1'000 + requests_) == Part(start, length))
        << units_ << " blocks, cells of " << cell_ << ", bytes " << start << " + " << length
        << " of " << group_.size() << ", " << Seed();
    EXPECT_EQ(response.bytesreadlocal() + response.bytesreadremote(), length) << "each byte once";
  }
}

// A lost block is the sum of the others and a parity. Each of these enters in the cells of the lost
// block, too.
TEST_F(GatherTest, DecodesALostBlock) {
  MakeGroup(3, 5000, 40'000);
  Bytes parity = blocks_[0];
  for (const std::size_t i : {1U, 2U}) {
    for (std::size_t at = 0; at < blocks_[i].size(); ++at) parity[at] ^= blocks_[i][at];
  }
  auto request = Gather(7000, 30'000);
  io_.Remove(2);
  io_.Put(9, parity);
  *request.mutable_sources(1) = Unit(0, 1, 7000);
  *request.add_sources() = Unit(2, 1, 7000);
  *request.add_sources() = Unit(0, 1, 7000);
  FillBlock(*request.mutable_sources(4)->mutable_block(), 9, parity.size());
  request.set_coefficients(std::string(5, '\1'));
  const auto response = engine_->Combine(request);
  ASSERT_EQ(response.status(), ebbfs::COMBINE_OK) << response.message();
  EXPECT_TRUE(*io_.Get(1'001) == Part(7000, 30'000));
}

TEST_F(GatherTest, NamesABlockThatCannotBeRead) {
  MakeGroup(3, 4096, 50'000);
  io_.SetFault(2, {.at = 9000});
  const auto response = engine_->Combine(Gather(0, 50'000));
  EXPECT_EQ(response.status(), ebbfs::COMBINE_SOURCE_FAILED);
  ASSERT_EQ(response.failedsources_size(), 1);
  EXPECT_EQ(response.failedsources(0).index(), 1u);
  EXPECT_FALSE(io_.Get(1'001));
}

TEST_F(GatherTest, RefusesCellsOfNoGroup) {
  MakeGroup(3, 4096, 50'000);
  const auto refused = [&](auto change) {
    auto request = Gather(0, 50'000);
    change(*request.mutable_sources(1)->mutable_cells());
    return engine_->Combine(request).status() == ebbfs::COMBINE_REFUSED;
  };
  EXPECT_TRUE(refused([](auto& cells) { cells.set_cellbytes(0); }));
  EXPECT_TRUE(refused([](auto& cells) { cells.set_unit(3); }));
  EXPECT_TRUE(refused([](auto& cells) { cells.set_units(17); }));
  EXPECT_TRUE(refused([](auto& cells) { cells.set_startbytes(std::uint64_t{1} << 60); }));
}

TEST_F(CombineTest, ACheckWritesNothing) {
  auto request = Request({10'000, 4'000, 10'001}, {10'000, 0, 10'001});
  request.set_check(true);
  const auto response = engine_->Combine(request);
  ASSERT_EQ(response.status(), ebbfs::COMBINE_OK) << response.message();
  ASSERT_EQ(response.targets_size(), 3);
  for (int t = 0; t < 3; ++t) {
    const std::size_t length = request.targets(t).block().numbytes();
    const std::span row(reinterpret_cast<const std::uint8_t*>(request.coefficients().data()) +
                            static_cast<std::size_t>(t) * 3,
                        3);
    EXPECT_EQ(response.targets(t).lengthbytes(), length);
    EXPECT_EQ(response.targets(t).crc32c(), Crc32c(0, ReferenceSum(data_, row, length))) << Seed();
  }
  EXPECT_EQ(response.bytesreadlocal() + response.bytesreadremote(), 24'001u);
  EXPECT_EQ(response.byteswrittenlocal() + response.byteswrittenremote(), 0u);
  EXPECT_EQ(io_.sinks_opened(), 0);
  ExpectNoTrace(request);
}

// The caller of a check compares the answer with an existing block, which may be one of the
// sources.
TEST_F(CombineTest, ACheckMayNameBlocksThatExist) {
  auto request = Request({5'000, 5'000}, {5'000});
  request.mutable_targets(0)->mutable_block()->set_blockid(1);
  request.set_coefficients(std::string("\1\0", 2));
  request.set_check(true);
  const auto response = engine_->Combine(request);
  ASSERT_EQ(response.status(), ebbfs::COMBINE_OK) << response.message();
  EXPECT_EQ(response.targets(0).crc32c(), Crc32c(0, data_[0]));
  EXPECT_EQ(*io_.Get(1), data_[0]);
}

TEST_F(CombineTest, ACheckIsDoneAnewEachTime) {
  auto request = Request({5'000}, {5'000});
  request.set_check(true);
  const auto before = engine_->Combine(request);
  ASSERT_EQ(before.status(), ebbfs::COMBINE_OK) << before.message();
  io_.Put(1, Bytes(5'000, std::byte{9}));
  const auto after = engine_->Combine(request);
  ASSERT_EQ(after.status(), ebbfs::COMBINE_OK) << after.message();
  EXPECT_EQ(after.targets(0).crc32c(), Crc32c(0, Bytes(5'000, std::byte{9})));
  io_.SetFault(1, {.at = 4'500, .error = {ErrorCode::kCorrupt, "chunk 8"}});
  const auto failed = engine_->Combine(request);
  EXPECT_EQ(failed.status(), ebbfs::COMBINE_SOURCE_FAILED);
  EXPECT_EQ(failed.failedsources(0).message(), "CORRUPT: chunk 8");
}

// ---- the check of the outputs in memory ----

// Decodes as many sources as there are targets. The coefficients of the request become a Cauchy
// matrix, so that any sources can be decoded.
void AddOutputCheck(ebbfs::CombineRequestProto& request) {
  const auto sources = static_cast<std::size_t>(request.sources_size());
  const auto targets = static_cast<std::size_t>(request.targets_size());
  std::vector<std::uint8_t> coefficients;
  for (std::size_t t = 0; t < targets; ++t) {
    for (std::size_t s = 0; s < sources; ++s) {
      coefficients.push_back(gf::Inv(static_cast<std::uint8_t>(t ^ (targets + s))));
    }
  }
  request.set_coefficients(std::string(coefficients.begin(), coefficients.end()));
  std::vector<std::size_t> decoded;
  auto& check = *request.mutable_outputcheck();
  for (std::size_t t = 0; t < targets; ++t) {
    decoded.push_back(t);
    check.add_decodedsources(static_cast<std::uint32_t>(t));
    check.add_targets(static_cast<std::uint32_t>(t));
  }
  const auto rows = DecodeRows(coefficients, sources, decoded);
  check.set_coefficients(std::string(rows.begin(), rows.end()));
}

TEST_F(CombineTest, CheckedOutputsAreWrittenAndTheSourcesReported) {
  SCOPED_TRACE(Seed());
  for (int i = 0; i < 40 && !HasFatalFailure(); ++i) {
    std::vector<std::size_t> sources(1 + Below(12));
    for (auto& length : sources) length = Below(5) == 0 ? 0 : Below(40'000);
    std::vector<std::size_t> targets(1 + Below(std::min<std::size_t>(sources.size(), 8)),
                                     *std::ranges::max_element(sources));
    auto request = Request(sources, targets);
    AddOutputCheck(request);
    request.set_id(fmt::format("checked {}", i));
    const auto response = engine_->Combine(request);
    ExpectOutputs(request, response);
    ASSERT_EQ(response.checkedsources_size(), request.sources_size());
    for (std::size_t s = 0; s < sources.size(); ++s) {
      EXPECT_EQ(response.checkedsources(static_cast<int>(s)).lengthbytes(), sources[s]);
      EXPECT_EQ(response.checkedsources(static_cast<int>(s)).crc32c(), Crc32c(0, data_[s]));
    }
    for (const auto& target : request.targets()) io_.Remove(target.block().blockid());
  }
}

// A parity of short blocks is shorter than its siblings: what was not written counts as zeros.
TEST_F(CombineTest, AShortOutputIsChecked) {
  auto request = Request({10'000, 4'000}, {10'000, 4'000});
  AddOutputCheck(request);
  std::string coefficients = request.coefficients();
  coefficients[2] = 0;  // target 1 covers the short source alone
  request.set_coefficients(coefficients);
  const std::vector<std::uint8_t> matrix(coefficients.begin(), coefficients.end());
  auto rows = DecodeRows(matrix, 2, {0, 1});
  request.mutable_outputcheck()->set_coefficients(std::string(rows.begin(), rows.end()));
  ExpectOutputs(request, engine_->Combine(request));
  for (std::uint64_t id : {101, 102}) io_.Remove(id);
  // One byte is missing.
  request.mutable_targets(1)->mutable_block()->set_numbytes(3'999);
  request.set_id("too short");
  EXPECT_EQ(engine_->Combine(request).status(), ebbfs::COMBINE_OUTPUTS_WRONG);
  ExpectNoTrace(request);
}

TEST_F(CombineTest, AWrongCoefficientLeavesNoTrace) {
  SCOPED_TRACE(Seed());
  for (int i = 0; i < 30 && !HasFatalFailure(); ++i) {
    auto request = Request({20'000, 20'000, 20'000, 15'000}, {20'000, 20'000});
    AddOutputCheck(request);
    std::string wrong = request.coefficients();
    wrong[Below(wrong.size())] ^= static_cast<char>(1 + Below(255));
    request.set_coefficients(wrong);
    const auto response = engine_->Combine(request);
    // A coefficient that became 0 may leave a source without use.
    if (response.status() == ebbfs::COMBINE_REFUSED) continue;
    ASSERT_EQ(response.status(), ebbfs::COMBINE_OUTPUTS_WRONG) << response.message();
    EXPECT_NE(response.message().find("decoded back from the outputs"), std::string::npos);
    EXPECT_EQ(response.targets_size() + response.checkedsources_size(), 0);
    ExpectNoTrace(request);
  }
}

// The request is right, and the kernel computes something else.
TEST_F(CombineTest, AWrongKernelLeavesNoTrace) {
  auto request = Request({20'000, 20'000, 20'000}, {20'000, 20'000});
  AddOutputCheck(request);
  auto plan = CheckCombine(request, options_.limits);
  ASSERT_TRUE(plan) << plan.error().message;
  std::vector<std::uint8_t> wrong(request.coefficients().begin(), request.coefficients().end());
  wrong[4] ^= 1;
  plan->map = gf::LinearMap(wrong, 3, 2);
  MemoryBudget budget(plan->memory_bytes);
  auto lease = budget.Acquire(plan->memory_bytes, 1s);
  ASSERT_TRUE(lease);
  ThreadGroup group;
  const std::atomic<bool> stopping = false;
  const auto response =
      ExecuteCombine({io_, group, stopping, {}}, request, *plan, std::move(*lease));
  EXPECT_EQ(response.status(), ebbfs::COMBINE_OUTPUTS_WRONG) << response.message();
  ExpectNoTrace(request);
}

TEST_F(CombineTest, ARepeatedCheckedCombineReportsTheSourcesAgain) {
  auto request = Request({20'000, 300}, {20'000});
  AddOutputCheck(request);
  const auto first = engine_->Combine(request);
  ExpectOutputs(request, first);
  EXPECT_EQ(first.SerializeAsString(), engine_->Combine(request).SerializeAsString());
  Restart();
  const auto again = engine_->Combine(request);
  ExpectOutputs(request, again);
  EXPECT_EQ(again.checkedsources_size(), 2);
}

TEST_F(CombineTest, RefusesChecksThatSayNothing) {
  auto good = Request({1000, 1000}, {1000});
  AddOutputCheck(good);
  const auto refused = [&](std::string_view why, auto change) {
    auto request = good;
    change(request, *request.mutable_outputcheck());
    const auto response = engine_->Combine(request);
    EXPECT_EQ(response.status(), ebbfs::COMBINE_REFUSED) << why;
    EXPECT_NE(response.message().find(why), std::string::npos) << response.message();
  };
  refused("decodes 0 sources", [](auto&, auto& c) { c.clear_decodedsources(); });
  refused("send 3", [](auto&, auto& c) { c.set_coefficients("\1\1"); });
  refused("decodes source 2", [](auto&, auto& c) { c.set_decodedsources(0, 2); });
  refused("names target 1", [](auto&, auto& c) { c.set_targets(0, 1); });
  refused("from this source", [](auto&, auto& c) { c.set_coefficients("\1\1\1"); });
  refused("reads no output", [](auto&, auto& c) { c.set_coefficients(std::string("\0\0\1", 3)); });
  refused("1 of its 2 sources",
          [](auto& r, auto&) { r.set_coefficients(std::string("\1\0", 2)); });
  refused("block 1 as a whole",
          [](auto& r, auto&) { r.mutable_targets(0)->mutable_block()->set_numbytes(999); });
  EXPECT_EQ(io_.sinks_opened(), 0);
}

// The scratch memory of the check counts.
TEST_F(CombineTest, ACheckedCombineStaysWithinItsMemory) {
  auto request = Request({100'000, 100'000}, {100'000});
  AddOutputCheck(request);
  options_.limits.max_combine_bytes = 64 << 10;
  const auto plan = CheckCombine(request, options_.limits);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_LE(plan->memory_bytes, options_.limits.max_combine_bytes);
  EXPECT_GE(plan->memory_bytes, 5 * plan->slice_bytes + plan->check->ScratchBytes());
  options_.max_process_bytes = 64 << 10;
  Restart();
  ExpectOutputs(request, engine_->Combine(request));
}

TEST_F(CombineTest, MemoryIsGivenBack) {
  options_.max_process_bytes = 3 * 4096;  // the memory of one combine
  Restart();
  auto request = Request({20'000}, {20'000});
  for (int i = 0; i < 5; ++i) {
    request.set_id(fmt::format("attempt {}", i));
    ExpectOutputs(request, engine_->Combine(request));
    io_.Remove(101);
    io_.SetFault(1, {.at = 10'000});
    request.set_id(fmt::format("failing attempt {}", i));
    EXPECT_EQ(engine_->Combine(request).status(), ebbfs::COMBINE_SOURCE_FAILED);
    io_.ClearFaults();
  }
}

TEST_F(CombineTest, RandomSystems) {
  SCOPED_TRACE(Seed());
  for (int i = 0; i < 150 && !HasFatalFailure(); ++i) {
    std::vector<std::size_t> sources(1 + Below(14));
    for (auto& length : sources) length = Below(4) == 0 ? Below(3) * 4096 : Below(40'000);
    std::vector<std::size_t> targets(1 + Below(6));
    for (auto& length : targets) length = Below(5) == 0 ? Below(3) * 4096 : Below(40'000);
    auto request = Request(sources, targets);
    request.set_id(fmt::format("random {}", i));
    std::string coefficients(sources.size() * targets.size(), '\0');
    for (char& c : coefficients) c = static_cast<char>(Below(3) == 0 ? Below(256) : Below(2));
    request.set_coefficients(coefficients);
    request.set_slicebytes(static_cast<std::uint32_t>(1 + Below(20'000)));
    ExpectOutputs(request, engine_->Combine(request));
    for (const auto& target : request.targets()) io_.Remove(target.block().blockid());
  }
}

TEST_F(CombineTest, NothingBeyondASourceIsRead) {
  auto request = Request({100, 9000, 0, 5000}, {5000});
  request.set_coefficients(std::string("\1\2\3\0", 4));
  const auto response = engine_->Combine(request);
  ExpectOutputs(request, response);
  EXPECT_EQ(io_.bytes_read(1), 100u);
  EXPECT_EQ(io_.bytes_read(2), 5000u);
  EXPECT_EQ(io_.opens(3), 0);  // empty
  EXPECT_EQ(io_.opens(4), 0);  // coefficient 0
  EXPECT_EQ(response.blocksread(), 2u);
}

TEST_F(CombineTest, RefusesRequestsThatContradictThemselves) {
  const auto good = Request({1000, 1000}, {1000});
  int calls = 0;
  const auto refused = [&](auto change) {
    ++calls;
    auto request = good;
    change(request);
    const auto response = engine_->Combine(request);
    EXPECT_EQ(response.status(), ebbfs::COMBINE_REFUSED) << "request " << calls;
    EXPECT_FALSE(response.message().empty());
  };
  refused([](auto& r) { r.set_coefficients("\1"); });
  refused([](auto& r) { r.set_coefficients("\1\1\1"); });
  refused([](auto& r) { r.set_id(""); });
  refused([](auto& r) { r.clear_targets(), r.set_coefficients(""); });
  refused([](auto& r) { r.clear_sources(), r.set_coefficients(""); });
  refused([](auto& r) { r.mutable_sources(0)->clear_locations(); });
  refused([](auto& r) {
    // A copy has the id of its source, so that it must be on another server.
    r.mutable_targets(0)->mutable_block()->set_blockid(2);
    *r.mutable_targets(0)->mutable_location() = r.sources(1).locations(0);
  });
  refused([](auto& r) { r.mutable_targets(0)->mutable_block()->set_numbytes(~0ull); });
  refused([](auto& r) {
    *r.add_targets() = r.targets(0);
    r.set_coefficients("\1\1\1\1");
  });
  refused([](auto& r) {
    for (int i = 0; i < 300; ++i) *r.add_sources() = MakeSource(500 + i, 10);
    r.set_coefficients(std::string(302, '\1'));
  });
  EXPECT_EQ(io_.sinks_opened(), 0);
}

TEST_F(CombineTest, EverySourceThatCannotBeOpenedIsNamed) {
  const auto request = Request({20'000, 20'000, 20'000, 20'000}, {20'000});
  io_.Remove(2);
  io_.SetFault(4, {.open = Error{ErrorCode::kNetwork, "connection refused"}});
  const auto response = engine_->Combine(request);
  EXPECT_EQ(response.status(), ebbfs::COMBINE_SOURCE_FAILED);
  ASSERT_EQ(response.failedsources_size(), 2);
  EXPECT_EQ(response.failedsources(0).index(), 1u);
  EXPECT_EQ(response.failedsources(0).message(), "MISSING: no block 2");
  EXPECT_EQ(response.failedsources(1).index(), 3u);
  EXPECT_EQ(response.failedsources(1).message(), "NETWORK: connection refused");
  ExpectNoTrace(request);
}

TEST_F(CombineTest, ASourceThatFailsMidwayLeavesNoTrace) {
  auto request = Request({50'000, 50'000, 50'000}, {50'000, 40'000});
  request.set_coefficients(
      std::string("\0\1\1\0\2\1", 6));  // failures use the index in the request
  io_.SetFault(3, {.at = 33'000, .error = {ErrorCode::kCorrupt, "checksum of chunk 64"}});
  const auto response = engine_->Combine(request);
  EXPECT_EQ(response.status(), ebbfs::COMBINE_SOURCE_FAILED);
  ASSERT_EQ(response.failedsources_size(), 1);
  EXPECT_EQ(response.failedsources(0).index(), 2u);
  EXPECT_EQ(response.failedsources(0).message(), "CORRUPT: checksum of chunk 64");
  ExpectNoTrace(request);
}

TEST_F(CombineTest, ASourceShorterThanItIsSaidToBeFails) {
  const auto request = Request({20'000, 20'000}, {20'000});
  io_.Put(2, RandomBytes(19'999));
  const auto response = engine_->Combine(request);
  EXPECT_EQ(response.status(), ebbfs::COMBINE_SOURCE_FAILED);
  ASSERT_EQ(response.failedsources_size(), 1);
  EXPECT_EQ(response.failedsources(0).index(), 1u);
  ExpectNoTrace(request);
}

TEST_F(CombineTest, AStalledSourceTimesOut) {
  options_.run.source_timeout = 100ms;
  Restart();
  const auto request = Request({50'000, 50'000, 50'000}, {50'000});
  io_.SetFault(2, {.at = 20'000, .stall = true});
  const auto response = engine_->Combine(request);
  EXPECT_EQ(response.status(), ebbfs::COMBINE_SOURCE_FAILED);
  ASSERT_EQ(response.failedsources_size(), 1);
  EXPECT_EQ(response.failedsources(0).index(), 1u);
  EXPECT_EQ(response.failedsources(0).message().substr(0, 8), "TIMEOUT:");
  ExpectNoTrace(request);
  // The stuck thread still has its buffers.
  EXPECT_GT(engine_->bytes_held(), 0u);
}

TEST_F(CombineTest, TargetsThatFailAreNamed) {
  const auto request = Request({20'000}, {20'000, 20'000, 20'000});
  io_.SetFault(102, {.open = Error{ErrorCode::kIo, "disk full"}});
  auto response = engine_->Combine(request);
  EXPECT_EQ(response.status(), ebbfs::COMBINE_TARGET_FAILED);
  ASSERT_EQ(response.failedtargets_size(), 1);
  EXPECT_EQ(response.failedtargets(0).index(), 1u);
  EXPECT_EQ(response.failedtargets(0).message(), "IO: disk full");
  ExpectNoTrace(request);

  io_.ClearFaults();
  io_.SetFault(103, {.at = 9'000});
  response = engine_->Combine(request);
  EXPECT_EQ(response.status(), ebbfs::COMBINE_TARGET_FAILED);
  ASSERT_EQ(response.failedtargets_size(), 1);
  EXPECT_EQ(response.failedtargets(0).index(), 2u);
  ExpectNoTrace(request);
}

TEST_F(CombineTest, AnAttemptAfterAFailedFinishSucceeds) {
  const auto request = Request({20'000}, {20'000, 20'000});
  io_.SetFault(102, {.finish = Error{ErrorCode::kIo, "sync failed"}});
  EXPECT_EQ(engine_->Combine(request).status(), ebbfs::COMBINE_TARGET_FAILED);
  io_.ClearFaults();
  // The first attempt has finished block 101: the second compares it and does not write it.
  const auto response = engine_->Combine(request);
  ExpectOutputs(request, response);
  EXPECT_EQ(response.byteswrittenlocal() + response.byteswrittenremote(), 20'000u);
}

TEST_F(CombineTest, AnExistingTargetWithOtherBytesIsAFailure) {
  const auto request = Request({20'000}, {20'000});
  io_.Put(101, RandomBytes(20'000));
  const auto response = engine_->Combine(request);
  EXPECT_EQ(response.status(), ebbfs::COMBINE_TARGET_FAILED);
  ASSERT_EQ(response.failedtargets_size(), 1);
  EXPECT_NE(response.failedtargets(0).message().find("other bytes"), std::string::npos);
}

TEST_F(CombineTest, ARepeatedRequestGetsTheSameAnswerWithoutWork) {
  const auto request = Request({20'000, 300}, {20'000});
  const auto first = engine_->Combine(request);
  ExpectOutputs(request, first);
  const auto again = engine_->Combine(request);
  EXPECT_EQ(first.SerializeAsString(), again.SerializeAsString());
  EXPECT_EQ(io_.bytes_read(1), 20'000u);
  // After a restart of the process the output is compared with the existing blocks.
  Restart();
  ExpectOutputs(request, engine_->Combine(request));
}

TEST_F(CombineTest, ARepeatedRequestWhoseOutputIsGoneRunsAgain) {
  const auto request = Request({20'000}, {20'000});
  ExpectOutputs(request, engine_->Combine(request));
  io_.Remove(101);
  ExpectOutputs(request, engine_->Combine(request));
}

TEST_F(CombineTest, TheSameIdForOtherWorkIsRefused) {
  auto request = Request({20'000}, {20'000});
  ASSERT_EQ(engine_->Combine(request).status(), ebbfs::COMBINE_OK);
  request.set_coefficients("\x07");
  EXPECT_EQ(engine_->Combine(request).status(), ebbfs::COMBINE_REFUSED);
}

TEST_F(CombineTest, ASecondCallerJoinsTheRunningOne) {
  const auto request = Request({20'000}, {20'000});
  io_.SetFault(1, {.at = 10'000, .stall = true});
  auto first = std::async(std::launch::async, [&] { return engine_->Combine(request); });
  io_.AwaitStall();
  EXPECT_EQ(engine_->running(), 1u);
  auto second = std::async(std::launch::async, [&] { return engine_->Combine(request); });
  io_.Release();
  const auto response = first.get();
  ExpectOutputs(request, response);
  EXPECT_EQ(second.get().SerializeAsString(), response.SerializeAsString());
  EXPECT_EQ(io_.sinks_opened(), 1);
}

TEST_F(CombineTest, MemoryThatDoesNotBecomeFreeMeansBusy) {
  options_.max_process_bytes = 3 * 4096;  // two slices of one source and one slice of one target
  options_.busy_timeout = 50ms;
  Restart();
  const auto request = Request({20'000}, {20'000});
  io_.SetFault(1, {.at = 10'000, .stall = true});
  auto first = std::async(std::launch::async, [&] { return engine_->Combine(request); });
  io_.AwaitStall();
  EXPECT_EQ(engine_->bytes_held(), 3u * 4096);
  auto other = request;
  other.set_id("other");
  const auto response = engine_->Combine(other);
  EXPECT_EQ(response.status(), ebbfs::COMBINE_BUSY) << response.message();
  io_.Release();
  EXPECT_EQ(first.get().status(), ebbfs::COMBINE_OK);
}

TEST_F(CombineTest, TooManyRequestsAreBusyAtOnce) {
  options_.max_requests = 1;
  Restart();
  const auto request = Request({20'000}, {20'000});
  io_.SetFault(1, {.at = 10'000, .stall = true});
  auto first = std::async(std::launch::async, [&] { return engine_->Combine(request); });
  io_.AwaitStall();
  auto other = request;
  other.set_id("other");
  EXPECT_EQ(engine_->Combine(other).status(), ebbfs::COMBINE_BUSY);
  EXPECT_EQ(engine_->Combine(request).status(), ebbfs::COMBINE_BUSY);
  io_.Release();
  EXPECT_EQ(first.get().status(), ebbfs::COMBINE_OK);
}

TEST_F(CombineTest, LongSlicesAreCutToTheLimitOfACombine) {
  options_.max_process_bytes = 64 << 10;
  Restart();
  auto request = Request({100'000, 100'000}, {100'000});
  request.set_slicebytes(1 << 20);
  ExpectOutputs(request, engine_->Combine(request));
}

TEST_F(CombineTest, StoppingEndsARunningCombineWithoutATrace) {
  const auto request = Request({50'000}, {50'000});
  io_.SetFault(1, {.at = 20'000, .stall = true});
  auto running = std::async(std::launch::async, [&] { return engine_->Combine(request); });
  io_.AwaitStall();
  engine_->Stop();
  io_.Release();
  EXPECT_EQ(running.get().status(), ebbfs::COMBINE_BUSY);
  ExpectNoTrace(request);
}

TEST_F(CombineTest, ManyAtOnceStayWithinTheMemory) {
  SCOPED_TRACE(Seed());
  options_.max_process_bytes = 128 << 10;
  Restart();
  const auto base = Request({30'000, 30'000, 30'000}, {30'000});
  std::vector<std::future<ebbfs::CombineResponseProto>> running;
  for (int i = 0; i < 12; ++i) {
    auto request = base;
    request.set_id(fmt::format("many {}", i));
    request.mutable_targets(0)->mutable_block()->set_blockid(1000 + static_cast<unsigned>(i));
    running.push_back(
        std::async(std::launch::async, [this, request] { return engine_->Combine(request); }));
  }
  for (auto& response : running) EXPECT_EQ(response.get().status(), ebbfs::COMBINE_OK);
  for (std::uint64_t id = 1001; id < 1012; ++id) EXPECT_EQ(io_.Get(id), io_.Get(1000));
}

TEST(MemoryBudgetTest, ServesInOrderOfArrival) {
  MemoryBudget budget(10);
  auto first = budget.Acquire(6, 1s);
  ASSERT_TRUE(first);
  std::promise<void> waiting;
  auto large = std::async(std::launch::async, [&] {
    waiting.set_value();
    return budget.Acquire(10, 60s).has_value();
  });
  waiting.get_future().wait();
  // The large claim may or may not wait by now: either this claim or the large one gets memory.
  auto small = budget.Acquire(4, 10ms);
  first = Fail(ErrorCode::kBusy, "given back");
  small = Fail(ErrorCode::kBusy, "given back");
  EXPECT_TRUE(large.get());
  EXPECT_EQ(budget.held(), 0u);
  EXPECT_EQ(budget.Acquire(11, 1s).error().code, ErrorCode::kInvalid);
  budget.Close();
  EXPECT_EQ(budget.Acquire(1, 1s).error().code, ErrorCode::kShutdown);
}

}  // namespace
}  // namespace ebb
