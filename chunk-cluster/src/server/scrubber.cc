#include "server/scrubber.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "disk/verified_reader.h"
#include "server/scrub_cursor.h"
#include "server/scrub_pace.h"

namespace ebb::server {

namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

// Blocks that are requested from the store at a time.
constexpr std::size_t kBatchBlocks = 256;
constexpr std::uint64_t kStepChunks = 256;
constexpr std::uint64_t kMaxStepBytes = 1 << 20;
// After this time the remaining work is counted again, because blocks come and go.
constexpr milliseconds kLongestNap = std::chrono::minutes(1);
// Counting takes at most one part in so many of the time.
constexpr int kCountShare = 1000;
constexpr milliseconds kMostBetweenReports = std::chrono::minutes(10);

std::uint64_t NowMillis() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

// Gives this thread the lowest priority. If the system refuses, the scrub runs with the normal
// priority.
void LowerPriority() {
  constexpr int kProcess = 1;
  constexpr int kIdleClass = 3 << 13;
  if (syscall(SYS_ioprio_set, kProcess, 0, kIdleClass) != 0 ||
      setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), 19) != 0) {
    spdlog::debug("the block scrub runs with normal priority: lowering it failed");
  }
}

milliseconds Millis(double value) { return milliseconds(static_cast<std::int64_t>(value)); }

// Compares the bytes of [start, end) with their checksums. `start` begins a chunk.
Status CompareRange(const ReplicaReader& replica, std::uint64_t start, std::uint64_t end,
                    std::vector<std::byte>& data, std::vector<std::byte>& sums) {
  data.resize(end - start);
  auto compared = ReadVerified(replica, start, data, sums);
  if (!compared && compared.error().code == ErrorCode::kCorrupt) {
    compared.error().message = "the block scrub: " + compared.error().message;
  }
  return compared;
}

}  // namespace

class Scrubber::DiskScrub {
 public:
  DiskScrub(BlockStore& store, FileSystem& files, const ScrubOptions& options,
            const DiskStatus& disk)
      : store_(store),
        files_(files),
        options_(options),
        pace_{options.period, options.max_bytes_per_second, options.share},
        uuid_(disk.storage_uuid),
        directory_(disk.directory) {
    status_.storage_uuid = uuid_;
    thread_ = std::thread([this] { Run(); });
  }
  ~DiskScrub() { Stop(); }
  DiskScrub(const DiskScrub&) = delete;
  DiskScrub& operator=(const DiskScrub&) = delete;

  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  [[nodiscard]] ScrubStatus GetStatus() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

 private:
  void Run() {
    LowerPriority();
    Load();
    while (!Failed() && AwaitPass()) {
      if (!RunPass()) break;
    }
    if (!Failed()) Save();
  }

  void Load() {
    auto loaded = LoadScrubCursor(files_, directory_);
    if (loaded) {
      cursor_ = std::move(*loaded);
    } else {
      spdlog::warn("the block scrub of {} starts from the beginning: {}", directory_,
                   loaded.error().message);
    }
    Publish();
  }

  [[nodiscard]] bool Failed() const {
    for (const auto& disk : store_.Disks()) {
      if (disk.directory == directory_) return disk.failed;
    }
    return true;
  }

  // Waits until a pass is due. Returns at once if a pass is under way. False if the scrub must
  // stop.
  bool AwaitPass() {
    while (cursor_.pass_over()) {
      const std::uint64_t now = NowMillis();
      // If the clock was set back, the next pass must not wait for the old time.
      cursor_.pass_started_millis = std::min(cursor_.pass_started_millis, now);
      cursor_.pass_ended_millis = std::min(cursor_.pass_ended_millis, now);
      const std::uint64_t due =
          cursor_.pass_started_millis == 0
              ? now
              : cursor_.pass_started_millis + static_cast<std::uint64_t>(options_.period.count());
      if (now >= due) {
        cursor_.pass_started_millis = std::max(now, cursor_.pass_ended_millis + 1);
        cursor_.after_block_id = cursor_.pass_blocks = cursor_.pass_bytes = 0;
        Save();
        return Nap(milliseconds(0));
      }
      if (!Nap(milliseconds(due - now))) return false;
    }
    return Nap(milliseconds(0));
  }

  // Runs the pass to its end. False if the scrub must stop.
  bool RunPass() {
    count_due_ = Steady::now();
    for (;;) {
      const auto blocks = store_.FinalizedAfter(uuid_, cursor_.after_block_id, kBatchBlocks);
      if (Failed()) return false;
      if (blocks.empty()) break;
      for (const auto& block : blocks) {
        CountIfDue(0);
        if (!ScrubBlock(block)) return false;
        SaveIfDue();
      }
    }
    cursor_.pass_ended_millis = std::max(NowMillis(), cursor_.pass_started_millis);
    spdlog::debug("the block scrub of {} has finished a pass: {} blocks, {} bytes", directory_,
                  cursor_.pass_blocks, cursor_.pass_bytes);
    Save();
    return true;
  }

  [[nodiscard]] double Average() const {
    const std::uint64_t now = std::max(NowMillis(), cursor_.pass_started_millis);
    return pace_.Average(remaining_, milliseconds(now - cursor_.pass_started_millis));
  }

  // Counts what remains of the pass, now and then: blocks come and go. `cost` is that of a block that
  // was read and is still to be subtracted.
  void CountIfDue(std::uint64_t cost) {
    const auto start = Steady::now();
    if (start < count_due_) return;
    const auto ahead = store_.CountFinalizedAfter(uuid_, cursor_.after_block_id);
    remaining_ = ahead.bytes + ahead.blocks * ScrubPace::CostOf(0) + cost;
    const auto end = Steady::now();
    count_due_ = end + std::max<Steady::duration>(kLongestNap, kCountShare * (end - start));
  }

  // Reads the block, then sleeps so long that the average rate is kept. False if the scrub must
  // stop.
  bool ScrubBlock(const ReplicaInfo& block) {
    const auto start = Steady::now();
    const double average = Average();
    const bool read = ReadBlock(block, pace_.InsideBlock(average));
    if (!read) return false;
    cursor_.after_block_id = block.block_id;
    const std::uint64_t cost = ScrubPace::CostOf(block.length_bytes);
    Publish();
    const milliseconds took = std::chrono::duration_cast<milliseconds>(Steady::now() - start);
    double debt = static_cast<double>(cost) - average * static_cast<double>(took.count()) / 1000;
    while (debt > 0) {
      const double rate = Average();
      const milliseconds nap = std::min(kLongestNap, Millis(debt * 1000 / rate));
      if (!Nap(nap)) return false;
      if (nap < kLongestNap) break;
      debt -= rate * static_cast<double>(nap.count()) / 1000;
      CountIfDue(cost);
    }
    remaining_ -= std::min(remaining_, cost);
    return true;
  }

  // Verifies the block. Skips a block that is being written or was removed. False if the scrub must
  // stop.
  bool ReadBlock(const ReplicaInfo& block, double rate) {
    if (!IsStillThere(block)) return true;
    bool dropped = false;
    const auto replica = store_.OpenReader(block.block_id, block.generation_stamp, &dropped);
    if (!replica) {
      if (dropped) Count(&ScrubStatus::missing, 1);
      return true;
    }
    const std::uint64_t chunk = (*replica)->checksum().bytes_per_chunk;
    const std::uint64_t step =
        std::clamp<std::uint64_t>(kMaxStepBytes / chunk, 1, kStepChunks) * chunk;
    std::vector<std::byte> data;
    std::vector<std::byte> sums;
    const auto start = Steady::now();
    const std::uint64_t length = (*replica)->length();
    for (std::uint64_t at = 0; at < length; at += step) {
      const std::uint64_t end = std::min(length, at + step);
      const auto compared = CompareRange(**replica, at, end, data, sums);
      if (!compared) {
        Found(block, compared.error(), at, end);
        return true;
      }
      Count(&ScrubStatus::bytes, end - at);
      cursor_.pass_bytes += end - at;
      const milliseconds due = Millis(static_cast<double>(end) * 1000 / rate);
      const auto took = std::chrono::duration_cast<milliseconds>(Steady::now() - start);
      if (!Nap(due - took)) return false;
    }
    std::erase(cursor_.findings, ScrubFinding{block.block_id, block.generation_stamp});
    Count(&ScrubStatus::blocks, 1);
    ++cursor_.pass_blocks;
    return true;
  }

  [[nodiscard]] bool IsStillThere(const ReplicaInfo& block) const {
    const auto found = store_.Find(block.block_id);
    return found && found->state == ReplicaState::kFinalized &&
           found->generation_stamp == block.generation_stamp &&
           found->length_bytes == block.length_bytes && found->storage_uuid == uuid_;
  }

  // Reading [start, end) failed: either the block is bad, or a writer has changed it meanwhile.
  void Found(const ReplicaInfo& block, const Error& error, std::uint64_t start, std::uint64_t end) {
    if (!IsStillThere(block)) return;
    if (error.code == ErrorCode::kIo) {
      // Bad sectors or a failed disk: the store probes the disk.
      if (store_.ReportUnreadable(block, error.message)) Count(&ScrubStatus::corrupt, 1);
      return;
    }
    if (error.code != ErrorCode::kCorrupt) {
      spdlog::warn("the block scrub could not read block {}: {}", block.block_id, error.message);
      return;
    }
    // A writer may have changed the block during the read: a second read decides.
    bool dropped = false;
    const auto replica = store_.OpenReader(block.block_id, block.generation_stamp, &dropped);
    if (!replica) {
      if (dropped) Count(&ScrubStatus::missing, 1);
      return;
    }
    std::vector<std::byte> data;
    std::vector<std::byte> sums;
    const auto again = CompareRange(**replica, start, end, data, sums);
    if (again || again.error().code != ErrorCode::kCorrupt || !IsStillThere(block)) return;
    Count(&ScrubStatus::corrupt, 1);
    const ScrubFinding finding{block.block_id, block.generation_stamp};
    if (std::ranges::find(cursor_.findings, finding) == cursor_.findings.end() &&
        cursor_.findings.size() < ScrubCursor::kMaxFindings) {
      cursor_.findings.push_back(finding);
      Save();
    }
    store_.ReportCorrupt(block, again.error().message);
  }

  // Reports the findings again that the namenode has not removed: it may have missed the first
  // report.
  void RepeatFindings() {
    const milliseconds interval =
        std::clamp(options_.period / 4, milliseconds(1000), milliseconds(kMostBetweenReports));
    if (Steady::now() - last_report_ < interval) return;
    last_report_ = Steady::now();
    std::erase_if(cursor_.findings, [&](const ScrubFinding& finding) {
      const auto found = store_.Find(finding.block_id);
      return !found || found->state != ReplicaState::kFinalized || found->storage_uuid != uuid_ ||
             found->generation_stamp != finding.generation_stamp;
    });
    for (const auto& finding : cursor_.findings) {
      const auto found = store_.Find(finding.block_id);
      if (!found || found->generation_stamp != finding.generation_stamp) continue;
      store_.ReportCorrupt(*found, "an earlier pass of the block scrub found it corrupt");
    }
  }

  // Sleeps. False if the scrub must stop.
  bool Nap(milliseconds time) {
    const auto end = Steady::now() + time;
    for (;;) {
      RepeatFindings();
      std::unique_lock lock(mutex_);
      const auto now = Steady::now();
      if (stopping_ || now >= end) return !stopping_;
      wake_.wait_until(lock, std::min(end, now + milliseconds(1000)), [&] { return stopping_; });
    }
  }

  void SaveIfDue() {
    if (Steady::now() - last_save_ >= options_.save_interval) Save();
  }

  void Save() {
    last_save_ = Steady::now();
    Publish();
    if (auto saved = SaveScrubCursor(files_, directory_, cursor_); !saved) {
      spdlog::warn(
          "the progress of the block scrub of {} could not be saved, and a restart would "
          "repeat a part of it: {}",
          directory_, saved.error().message);
    }
  }

  void Count(std::uint64_t ScrubStatus::*counter, std::uint64_t amount) {
    const std::lock_guard lock(mutex_);
    status_.*counter += amount;
  }

  void Publish() {
    const std::lock_guard lock(mutex_);
    status_.pass_started_millis = cursor_.pass_started_millis;
    status_.pass_ended_millis = cursor_.pass_ended_millis;
    status_.pass_bytes = cursor_.pass_bytes;
    status_.remaining_bytes = cursor_.pass_over() ? 0 : remaining_;
  }

  BlockStore& store_;
  FileSystem& files_;
  const ScrubOptions options_;
  const ScrubPace pace_;
  const std::string uuid_;
  const std::string directory_;

  // Used by the thread only.
  ScrubCursor cursor_;
  std::uint64_t remaining_ = 0;
  Steady::time_point count_due_;
  Steady::time_point last_save_ = Steady::now();
  // The findings of an earlier process are reported at once.
  Steady::time_point last_report_ = Steady::now() - kMostBetweenReports;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  ScrubStatus status_;
  std::thread thread_;
};

Scrubber::Scrubber(BlockStore& store, FileSystem& files, ScrubOptions options)
    : store_(store), files_(files), options_(options) {}

Scrubber::~Scrubber() { Stop(); }

void Scrubber::Start() {
  const std::lock_guard lock(mutex_);
  if (stopped_ || options_.period.count() == 0 || !disks_.empty()) return;
  for (const auto& disk : store_.Disks()) {
    if (!disk.failed) {
      disks_.push_back(std::make_unique<DiskScrub>(store_, files_, options_, disk));
    }
  }
}

void Scrubber::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const auto& disk : disks_) disk->Stop();
}

std::vector<ScrubStatus> Scrubber::Status() const {
  std::vector<ScrubStatus> all;
  const std::lock_guard lock(mutex_);
  for (const auto& disk : disks_) all.push_back(disk->GetStatus());
  return all;
}

}  // namespace ebb::server
