#include "server/scrubber.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

#include "disk/faulty_file_system.h"
#include "disk/test_support.h"
#include "server/scrub_cursor.h"
#include "server/scrub_pace.h"

namespace ebb::server {
namespace {

using namespace ebb::testing;
using namespace std::chrono_literals;

// ---- the cursor ----

TEST(ScrubCursorTest, ComesBackAsItWas) {
  ScrubCursor cursor{.pass_started_millis = 1'800'000'000'000,
                     .after_block_id = 0xffff'ffff'ffff'fff0,
                     .pass_blocks = 3,
                     .pass_bytes = 1 << 30,
                     .pass_ended_millis = 1'700'000'000'000,
                     .findings = {{7, 1001}, {1073741887, 1063}}};
  EXPECT_EQ(DecodeScrubCursor(EncodeScrubCursor(cursor)).value(), cursor);
  EXPECT_FALSE(cursor.pass_over());
  EXPECT_TRUE(ScrubCursor{}.pass_over());
}

TEST(ScrubCursorTest, AFullOneFitsIntoTheFile) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "a");
  ScrubCursor cursor;
  for (std::uint64_t i = 0; i < ScrubCursor::kMaxFindings; ++i) {
    cursor.findings.push_back({UINT64_MAX - i, UINT64_MAX - i});
  }
  ASSERT_TRUE(SaveScrubCursor(RealFileSystem(), directory / "a", cursor));
  EXPECT_EQ(LoadScrubCursor(RealFileSystem(), directory / "a").value(), cursor);
}

TEST(ScrubCursorTest, EveryCutAndEveryFlippedByteIsNoticed) {
  const std::string text = EncodeScrubCursor({.pass_started_millis = 5, .findings = {{7, 1001}}});
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(DecodeScrubCursor(text.substr(0, i))) << i;
    std::string flipped = text;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    EXPECT_FALSE(DecodeScrubCursor(flipped)) << i;
  }
}

// ---- the pace ----

TEST(ScrubPaceTest, SpreadsThePassOverNineTenthsOfThePeriod) {
  const ScrubPace pace{.period = 1000s, .max_bytes_per_second = 1000};
  EXPECT_DOUBLE_EQ(pace.Average(90'000, 0ms), 100);
  EXPECT_DOUBLE_EQ(pace.Average(45'000, 450s), 100);
  EXPECT_DOUBLE_EQ(pace.Average(9'000'000, 0ms), 1000) << "never more than the cap";
  EXPECT_DOUBLE_EQ(pace.Average(1, 900s), 1000) << "late";
  EXPECT_DOUBLE_EQ(pace.Average(0, 0ms), 1);
  EXPECT_DOUBLE_EQ(pace.InsideBlock(100), 1000) << "the cap holds inside a block too";
}

TEST(ScrubPaceTest, NoBlockIsOpenForLong) {
  const ScrubPace pace{.period = 21 * 24h, .max_bytes_per_second = 16 << 20};
  const double average = pace.Average(128 << 20, 0ms);
  EXPECT_LT(average, 100);
  EXPECT_DOUBLE_EQ(pace.InsideBlock(average), 4 << 20);
}

// ---- the scrub ----

// Keeps the events of the store, and lets a test wait for them.
class Heard final : public StoreListener {
 public:
  void OnStored(const ReplicaInfo&) override {}
  void OnDeleted(const ReplicaInfo& replica) override { Add("deleted", replica.block_id); }
  void OnCorrupt(const ReplicaInfo& replica, const std::string&) override {
    Add("corrupt", replica.block_id);
  }
  void OnDiskFailed(const DiskStatus&) override {}

  [[nodiscard]] bool Await(const std::string& event, std::size_t times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 60s, [&] {
      return static_cast<std::size_t>(std::ranges::count(events_, event)) >= times;
    });
  }
  [[nodiscard]] std::vector<std::string> events() {
    const std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  void Add(const std::string& what, std::uint64_t block_id) {
    const std::lock_guard lock(mutex_);
    events_.push_back(what + " " + std::to_string(block_id));
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> events_;
};

class ScrubberTest : public ::testing::Test {
 protected:
  ScrubberTest() { Open(); }

  void Open() {
    store_ = OpenStore(files_, {directory_ / "a", directory_ / "b"});
    store_->SetListener(&heard_);
    uuids_.clear();
    for (const auto& disk : store_->Disks()) uuids_.push_back(disk.storage_uuid);
  }
  void Start(std::chrono::milliseconds period, std::uint64_t rate = std::uint64_t{1} << 40) {
    scrubber_ = std::make_unique<Scrubber>(
        *store_, files_, ScrubOptions{period, rate, 0, std::chrono::milliseconds(0)});
    scrubber_->Start();
  }
  void Stop() { scrubber_.reset(); }
  void Restart() {
    Stop();
    store_.reset();
    Open();
  }

  void Store(std::uint64_t id, std::size_t size, std::size_t disk = 0) {
    StoreBlock(*store_, id, RandomBytes(size, id), 1001, uuids_[disk]);
  }
  // Flips a byte in the data file or in the meta file.
  [[nodiscard]] std::string FileOf(std::uint64_t id, bool meta = false) const {
    for (const auto& path : directory_.Find("blk_" + std::to_string(id))) {
      if (path.ends_with(".meta") == meta) return path;
    }
    return {};
  }
  [[nodiscard]] ScrubStatus Sum() const {
    ScrubStatus sum;
    for (const auto& disk : scrubber_->Status()) {
      sum.blocks += disk.blocks;
      sum.bytes += disk.bytes;
      sum.corrupt += disk.corrupt;
      sum.missing += disk.missing;
    }
    return sum;
  }
  // Waits until both disks have finished a pass that began now or later.
  void AwaitWholePass() {
    const auto now =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                       std::chrono::system_clock::now().time_since_epoch())
                                       .count());
    AwaitTrue([&] {
      const auto disks = scrubber_->Status();
      return std::ranges::all_of(disks, [&](const auto& disk) {
        return disk.pass_started_millis > now && disk.pass_ended_millis >= disk.pass_started_millis;
      });
    });
  }
  static void AwaitTrue(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "nothing happens";
      std::this_thread::sleep_for(2ms);
    }
  }

  TemporaryDirectory directory_;
  FaultyFileSystem files_;
  Heard heard_;
  std::unique_ptr<BlockStore> store_;
  std::vector<std::string> uuids_;
  std::unique_ptr<Scrubber> scrubber_;
};

TEST_F(ScrubberTest, ReadsEveryBlockOfEveryDiskInAPass) {
  std::uint64_t bytes = 0;
  for (std::uint64_t id = 1; id <= 600; ++id) {
    const std::size_t size = kBoundarySizes[id % (std::size(kBoundarySizes) - 1)];
    Store(id, size, id % 2);
    bytes += size;
  }
  // A block with another type of checksum is fine, too.
  auto writer = store_->Create(
      {.block_id = 700, .generation_stamp = 1001, .checksum = {format::ChecksumType::kNull, 700}});
  ASSERT_TRUE(WriteBytes(**writer, 0, RandomBytes(5000, 1)));
  ASSERT_TRUE((*writer)->Finish(false));
  writer->reset();
  Start(1h);
  AwaitTrue([&] { return Sum().blocks == 601; });
  EXPECT_EQ(Sum().bytes, bytes + 5000);
  EXPECT_EQ(heard_.events(), std::vector<std::string>());
}

TEST_F(ScrubberTest, FindsCorruptAndMissingBlocks) {
  for (std::uint64_t id = 1; id <= 5; ++id) Store(id, 300'000, id % 2);
  FlipByte(FileOf(1), 299'999);
  FlipByte(FileOf(2, true), format::kMetaHeaderBytes + 1);
  std::filesystem::remove(FileOf(3));
  std::filesystem::resize_file(FileOf(4), 299'999);
  Start(50ms);
  EXPECT_TRUE(heard_.Await("corrupt 1"));
  EXPECT_TRUE(heard_.Await("corrupt 2"));
  EXPECT_TRUE(heard_.Await("deleted 3"));
  EXPECT_TRUE(heard_.Await("deleted 4"));
  // The scrub counts a finding after it has reported it.
  AwaitTrue([&] { return Sum().blocks >= 1 && Sum().corrupt >= 2 && Sum().missing >= 2; });
  EXPECT_GE(Sum().corrupt, 2u);
  EXPECT_EQ(Sum().missing, 2u);
  // After the bad replicas are removed and good ones stored, the scrub finds nothing more.
  for (const std::uint64_t id : {1, 2}) {
    EXPECT_TRUE(store_->Delete(id, 1001));
    Store(id, 300'000);
  }
  AwaitWholePass();
  const auto before = Sum();
  AwaitWholePass();
  EXPECT_EQ(Sum().corrupt, before.corrupt);
  EXPECT_GE(Sum().blocks, before.blocks + 3);
}

TEST_F(ScrubberTest, BadSectorsCostTheBlock) {
  for (std::uint64_t id = 1; id <= 3; ++id) Store(id, 1000);
  files_.Set(FaultyFileSystem::Fault::kFailReads, "blk_2");
  Start(1h);
  EXPECT_TRUE(heard_.Await("deleted 2"));
  AwaitTrue([&] { return Sum().blocks == 2 && Sum().corrupt + Sum().missing >= 1; });
  EXPECT_EQ(Sum().corrupt + Sum().missing, 1u);
}

TEST_F(ScrubberTest, TellsAgainUntilTheReplicaIsGoneAlsoAfterARestart) {
  Store(1, 1000);
  FlipByte(FileOf(1), 10);
  Start(1h);
  ASSERT_TRUE(heard_.Await("corrupt 1"));
  Restart();
  // The findings come from the cursor, because the next pass is an hour away.
  FlipByte(FileOf(1), 10);
  Start(1h);
  EXPECT_TRUE(heard_.Await("corrupt 1", 2));
}

TEST_F(ScrubberTest, GoesOnAfterARestartWhereItStood) {
  for (std::uint64_t id = 1; id <= 40; ++id) Store(id, 100'000);
  // A block takes 100 ms, so that the pass does not end during the test.
  Start(1h, 1'000'000);
  AwaitTrue([&] { return Sum().blocks >= 3; });
  Restart();
  const auto cursor = LoadScrubCursor(files_, directory_ / "a").value();
  EXPECT_FALSE(cursor.pass_over());
  EXPECT_GE(cursor.after_block_id, 3u);
  ASSERT_LT(cursor.after_block_id, 40u);
  EXPECT_EQ(cursor.pass_blocks, cursor.after_block_id);
  Start(1h);
  AwaitTrue([&] { return scrubber_->Status()[0].pass_ended_millis != 0; });
  EXPECT_EQ(Sum().blocks, 40 - cursor.after_block_id);
  EXPECT_EQ(scrubber_->Status()[0].pass_started_millis, cursor.pass_started_millis);
}

TEST_F(ScrubberTest, ADamagedCursorMeansToBeginAnew) {
  for (std::uint64_t id = 1; id <= 4; ++id) Store(id, 1000);
  Start(1h);
  AwaitTrue([&] { return Sum().blocks == 4; });
  Stop();
  FlipByte(directory_ / "a/scrub.cursor", 5);
  Start(1h);
  AwaitTrue([&] { return Sum().blocks == 4; });
  EXPECT_EQ(LoadScrubCursor(files_, directory_ / "a").value().findings.size(), 0u);
}

TEST_F(ScrubberTest, PassesOverBlocksThatAreWritten) {
  Store(1, 100'000);
  auto writer = store_->Append(1, 1001, 1002, 100'000);
  ASSERT_TRUE(writer) << writer.error().message;
  Store(2, 1000);
  Start(50ms);
  AwaitWholePass();
  EXPECT_EQ(heard_.events(), std::vector<std::string>());
  const auto data = RandomBytes(101'000, 1);
  ASSERT_TRUE(
      WriteBytes(**writer, 100'000 / 512 * 512, std::span(data).subspan(100'000 / 512 * 512)));
  ASSERT_TRUE((*writer)->Finish(false));
  AwaitWholePass();
  EXPECT_EQ(heard_.events(), std::vector<std::string>());
}

// Blocks are appended to, deleted and created all the time. No good block may be reported as bad.
TEST_F(ScrubberTest, NeverBlamesABlockThatChangesMeanwhile) {
  for (std::uint64_t id = 1; id <= 8; ++id) Store(id, 40'000, id % 2);
  Start(1ms);
  const unsigned seed = std::random_device()();
  RecordProperty("seed", static_cast<int>(seed));
  std::mt19937 random(seed);
  std::uint64_t stamp = 1001;
  std::vector<std::uint64_t> stamps(9, stamp);
  std::vector<std::uint64_t> lengths(9, 40'000);
  for (int i = 0; i < 400; ++i) {
    const std::uint64_t id = 1 + random() % 8;
    auto& length = lengths[id];
    if (random() % 4 == 0) {
      ASSERT_TRUE(store_->Delete(id, stamps[id]));
      length = 1 + random() % 40'000;
      stamps[id] = ++stamp;
      StoreBlock(*store_, id, RandomBytes(length, random()), stamp);
      continue;
    }
    auto writer = store_->Append(id, stamps[id], stamp + 1, length);
    ASSERT_TRUE(writer) << writer.error().message << " seed " << seed;
    stamps[id] = ++stamp;
    const std::uint64_t chunk_start = length / 512 * 512;
    // A client that appends sends the last chunk again from its beginning.
    std::vector<std::byte> bytes(length - chunk_start + 1 + random() % 2000);
    {
      const auto reader = store_->OpenReader(id, 0);
      ASSERT_TRUE(reader) << reader.error().message;
      ASSERT_TRUE((*reader)->ReadData(chunk_start, std::span(bytes).first(length - chunk_start)));
    }
    ASSERT_TRUE(WriteBytes(**writer, chunk_start, bytes)) << "seed " << seed;
    ASSERT_TRUE((*writer)->Finish(false));
    length = chunk_start + bytes.size();
  }
  AwaitWholePass();
  EXPECT_EQ(Sum().corrupt + Sum().missing, 0u) << "seed " << seed;
  const auto events = heard_.events();
  EXPECT_EQ(std::ranges::count_if(events, [](auto& e) { return e.starts_with("corrupt"); }), 0)
      << "seed " << seed;
}

TEST_F(ScrubberTest, NoPeriodMeansNoScrub) {
  Store(1, 1000);
  Start(0ms);
  EXPECT_TRUE(scrubber_->Status().empty());
}

}  // namespace
}  // namespace ebb::server
