#include "disk/block_store.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace ebb {

namespace {

// Each attempt to open a replica fails only if another client has appended meanwhile.
constexpr int kMaxOpenAttempts = 16;

// So many replicas are visited under the mutex, and then others may take it.
constexpr std::size_t kVisitsPerLock = 1024;
constexpr std::chrono::microseconds kPauseOfVisits{50};

}  // namespace

std::unexpected<Error> BlockStore::NoReplica(std::uint64_t block_id) {
  return Fail(ErrorCode::kNotFound, fmt::format("block {} is not on this server", block_id));
}

std::unexpected<Error> BlockStore::JustChanged(std::uint64_t block_id) {
  return Fail(ErrorCode::kBusy, fmt::format("block {} has just changed; try again", block_id));
}

bool BlockStore::AnyDiskUnknown() const {
  return !unopened_.empty() || std::ranges::any_of(disks_, [](const auto& disk) {
    return disk->failed() || !disk->scanned();
  });
}

std::unexpected<Error> BlockStore::Absent(std::uint64_t block_id) const {
  if (!AnyDiskUnknown()) return NoReplica(block_id);
  return Fail(ErrorCode::kCannotTell,
              fmt::format("block {} is on no working disk of this server, and a disk that may hold "
                          "it has failed or does not answer; replace the disk and restart this "
                          "server",
                          block_id));
}

Status BlockStore::CheckReady() const {
  const std::lock_guard lock(mutex_);
  if (ready_) return {};
  return Fail(ErrorCode::kNotReady,
              "this chunk server is not ready: it scans its disks; try again");
}

Status BlockStore::AwaitReady(std::chrono::milliseconds patience,
                              const std::stop_token& stop) const {
  {
    std::unique_lock lock(mutex_);
    became_ready_.wait_for(lock, stop, patience, [this] { return ready_; });
  }
  return CheckReady();
}

std::vector<DiskStatus> BlockStore::Disks() const {
  std::vector<DiskStatus> all;
  for (const auto& disk : disks_) all.push_back(disk->GetStatus());
  all.insert(all.end(), unopened_.begin(), unopened_.end());
  return all;
}

StorageType BlockStore::TypeOf(const std::string& storage_uuid) const {
  const auto it = std::ranges::find_if(
      disks_, [&](const auto& disk) { return disk->identity().storage_uuid == storage_uuid; });
  return it == disks_.end() ? StorageType::kDisk : (*it)->type();
}

ReplicaInfo BlockStore::Describe(std::uint64_t block_id, const Replica& replica) const {
  const std::uint64_t length =
      replica.in_pipeline ? replica.in_pipeline->on_disk.load() : replica.length;
  const auto state = replica.recovery_id != 0 ? ReplicaState::kUnderRecovery : replica.state;
  return {block_id, replica.generation_stamp, length, state, replica.disk->identity().storage_uuid};
}

std::optional<BlockStore::Replica> BlockStore::Get(std::uint64_t block_id) const {
  const std::lock_guard lock(mutex_);
  const auto it = replicas_.find(block_id);
  if (it == replicas_.end()) return std::nullopt;
  return it->second;
}

Result<BlockStore::Replica> BlockStore::Require(std::uint64_t block_id) const {
  EBB_TRY(CheckReady());
  if (auto replica = Get(block_id)) return *std::move(replica);
  return Absent(block_id);
}

Result<ReplicaInfo> BlockStore::Locate(std::uint64_t block_id) const {
  EBB_ASSIGN(const auto replica, Require(block_id));
  return Describe(block_id, replica);
}

std::optional<ReplicaInfo> BlockStore::Find(std::uint64_t block_id) const {
  const auto replica = Get(block_id);
  if (!replica) return std::nullopt;
  return Describe(block_id, *replica);
}

void BlockStore::VisitAfter(
    std::uint64_t after,
    const std::function<bool(std::uint64_t block_id, const Replica& replica)>& visit) const {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      auto it = replicas_.upper_bound(after);
      for (std::size_t visited = 0; visited < kVisitsPerLock; ++visited, ++it) {
        if (it == replicas_.end() || !visit(it->first, it->second)) return;
        after = it->first;
      }
    }
    // A thread that waits for the mutex would not get it from a thread that takes it again at once.
    std::this_thread::sleep_for(kPauseOfVisits);
  }
}

void BlockStore::VisitFinalizedAfter(
    const std::string& storage_uuid, std::uint64_t after,
    const std::function<bool(std::uint64_t block_id, const Replica& replica)>& visit) const {
  VisitAfter(after, [&](std::uint64_t block_id, const Replica& replica) {
    const bool finalized = replica.state == ReplicaState::kFinalized && !replica.in_pipeline;
    return !finalized || replica.disk->identity().storage_uuid != storage_uuid ||
           visit(block_id, replica);
  });
}

std::vector<ReplicaInfo> BlockStore::Replicas(const std::string& storage_uuid) const {
  std::vector<ReplicaInfo> found;
  VisitAfter(0, [&](std::uint64_t block_id, const Replica& replica) {
    if (replica.state != ReplicaState::kTemporary &&
        replica.disk->identity().storage_uuid == storage_uuid) {
      found.push_back(Describe(block_id, replica));
    }
    return true;
  });
  return found;
}

std::vector<ReplicaInfo> BlockStore::FinalizedAfter(const std::string& storage_uuid,
                                                    std::uint64_t after, std::size_t limit) const {
  std::vector<ReplicaInfo> found;
  VisitFinalizedAfter(storage_uuid, after, [&](std::uint64_t block_id, const Replica& replica) {
    found.push_back(Describe(block_id, replica));
    return found.size() < limit;
  });
  return found;
}

BlockStore::Amount BlockStore::CountFinalizedAfter(const std::string& storage_uuid,
                                                   std::uint64_t after) const {
  Amount amount;
  VisitFinalizedAfter(storage_uuid, after, [&](std::uint64_t, const Replica& replica) {
    ++amount.blocks;
    amount.bytes += replica.length;
    return true;
  });
  return amount;
}

bool BlockStore::Update(const ReplicaInPipeline& in_pipeline,
                        const std::function<void(Replica&)>& change) {
  const std::lock_guard lock(mutex_);
  const auto it = replicas_.find(in_pipeline.block_id);
  if (it == replicas_.end() || it->second.in_pipeline.get() != &in_pipeline) return false;
  change(it->second);
  return true;
}

// ---- reading --------------------------------------------------------------------------------

Result<std::unique_ptr<ReplicaReader>> BlockStore::OpenReader(std::uint64_t block_id,
                                                              std::uint64_t min_generation_stamp,
                                                              bool* dropped) {
  // A second attempt: the files may be renamed between the look-up and the opening.
  for (int attempt = 0;; ++attempt) {
    const auto replica = Require(block_id);
    if (!replica) return std::unexpected(replica.error());
    if (replica->state == ReplicaState::kTemporary) return NoReplica(block_id);
    if (replica->generation_stamp < min_generation_stamp) {
      return Fail(ErrorCode::kNotFound,
                  fmt::format("block {} on this server has generation stamp {}, older than {}",
                              block_id, replica->generation_stamp, min_generation_stamp));
    }
    auto reader = replica->in_pipeline ? OpenInPipeline(block_id, *replica)
                                       : OpenFinalized(block_id, *replica);
    // A client that appends may have written while the files of the finalized replica were opened:
    // what was read of them may be of two states.
    const bool changed = replica->in_pipeline
                             ? !reader && reader.error().code == ErrorCode::kShutdown
                             : !IsUnchanged(block_id, *replica);
    if (changed) {
      if (attempt < kMaxOpenAttempts) continue;
      return Fail(ErrorCode::kBusy,
                  fmt::format("block {} changes all the time; try again", block_id));
    }
    if (reader || attempt > 0 || IsShortage(reader.error().code)) {
      if (!reader && !IsShortage(reader.error().code)) {
        const bool gone = ReportUnreadable(Describe(block_id, *replica), reader.error().message);
        if (dropped != nullptr) *dropped = gone;
        reader.error().code =
            replica->disk->failed() ? ErrorCode::kCannotTell : ErrorCode::kNotFound;
      }
      return reader;
    }
  }
}

Result<std::unique_ptr<ReplicaReader>> BlockStore::OpenFinalized(std::uint64_t block_id,
                                                                 const Replica& replica) {
  auto& disk = *replica.disk;
  auto reader = std::make_unique<ReplicaReader>();
  reader->info_ = Describe(block_id, replica);
  reader->length_ = replica.length;
  const auto path = disk.BlockPath(format::kFinalized, block_id);
  EBB_ASSIGN(reader->data_, disk.files().OpenForReading(path));
  const auto meta_path = disk.MetaPath(format::kFinalized, block_id, replica.generation_stamp);
  EBB_ASSIGN(reader->meta_, disk.files().OpenForReading(meta_path));
  EBB_ASSIGN(const auto size, reader->data_->Size());
  if (size != replica.length) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{} has {} bytes instead of {}", path, size, replica.length));
  }
  std::array<std::byte, format::kMetaHeaderBytes> header;
  EBB_ASSIGN(const auto got, reader->meta_->Read(0, header));
  auto checksum = format::DecodeMetaHeader(std::span(header).first(got));
  if (!checksum) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}", meta_path, checksum.error().message));
  }
  reader->checksum_ = *checksum;
  EBB_TRY(reader->KeepLastSum());
  return reader;
}

bool BlockStore::IsUnchanged(std::uint64_t block_id, const Replica& replica) const {
  const auto now = Get(block_id);
  return now && !now->in_pipeline && now->generation_stamp == replica.generation_stamp &&
         now->length == replica.length;
}

Result<std::unique_ptr<ReplicaReader>> BlockStore::OpenInPipeline(std::uint64_t block_id,
                                                                  const Replica& replica) {
  auto& in_pipeline = *replica.in_pipeline;
  EBB_ASSIGN(const auto lock, in_pipeline.Lock());
  if (in_pipeline.closed)
    return Fail(ErrorCode::kShutdown, "the block has just changed; try again");
  if (in_pipeline.unfinished_cut) {
    return Fail(ErrorCode::kBusy,
                fmt::format("a cut of block {} broke off, and its recovery has to finish it; read "
                            "another replica",
                            block_id));
  }
  auto reader = std::make_unique<ReplicaReader>();
  reader->info_ = Describe(block_id, replica);
  reader->info_.length_bytes = in_pipeline.acknowledged;
  reader->length_ = in_pipeline.on_disk;
  reader->checksum_ = in_pipeline.checksum;
  if (reader->length_ % in_pipeline.checksum.bytes_per_chunk != 0) {
    reader->last_sum_ = in_pipeline.last_sum;
  }
  EBB_ASSIGN(reader->data_, in_pipeline.disk.files().OpenForReading(in_pipeline.DataPath()));
  EBB_ASSIGN(reader->meta_, in_pipeline.disk.files().OpenForReading(in_pipeline.MetaPath()));
  return reader;
}

Status BlockStore::Sync(std::uint64_t block_id, std::uint64_t generation_stamp) {
  EBB_ASSIGN(const auto replica, Require(block_id));
  EBB_ASSIGN(const auto reader, OpenReader(block_id, generation_stamp));
  auto synced = reader->Sync();
  if (synced) {
    auto& disk = *replica.disk;
    EBB_ASSIGN(const auto folder, disk.FinalizedFolder(block_id));
    synced = disk.files().SyncDirectory(folder);
  }
  if (!synced && synced.error().code == ErrorCode::kIo &&
      !ReportUnreadable(reader->info(), synced.error().message)) {
    synced.error().code = ErrorCode::kCannotTell;
  }
  return synced;
}

std::map<std::uint64_t, BlockStore::Replica>::iterator BlockStore::FindSeen(
    const ReplicaInfo& seen) {
  // A replica that was open when it was seen may have been cut under the same generation stamp.
  const bool was_finalized =
      seen.state == ReplicaState::kFinalized || seen.state == ReplicaState::kUnderRecovery;
  const auto it = replicas_.find(seen.block_id);
  if (!was_finalized || it == replicas_.end()) return replicas_.end();
  const auto& now = it->second;
  const bool same = !now.in_pipeline && now.generation_stamp == seen.generation_stamp &&
                    now.length == seen.length_bytes &&
                    now.disk->identity().storage_uuid == seen.storage_uuid;
  return same ? it : replicas_.end();
}

bool BlockStore::ReportCorrupt(const ReplicaInfo& seen, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (FindSeen(seen) == replicas_.end()) return false;
    Withdraw(seen.block_id);
  }
  spdlog::warn("block {} on {} is corrupt: {}", seen.block_id, seen.storage_uuid, why);
  if (listener_ != nullptr) listener_->OnCorrupt(seen, why);
  return true;
}

bool BlockStore::ReportUnreadable(const ReplicaInfo& seen, const std::string& why) {
  const auto replica = Get(seen.block_id);
  if (!replica) return false;
  Suspect(*replica->disk, why);
  if (replica->disk->failed()) return false;
  {
    const std::lock_guard lock(mutex_);
    const auto it = FindSeen(seen);
    if (it == replicas_.end()) return false;
    replicas_.erase(it);
    Withdraw(seen.block_id);
  }
  replica->disk->SubtractUsed(1, seen.length_bytes);
  spdlog::warn("dropped the replica of block {}: {}", seen.block_id, why);
  if (listener_ != nullptr) listener_->OnDeleted(seen);
  return true;
}

// ---- removal and failure ------------------------------------------------------------------------

std::shared_ptr<BlockStore::Forgotten> BlockStore::Forget(std::uint64_t block_id,
                                                          std::uint64_t max_generation_stamp) {
  const std::lock_guard lock(mutex_);
  const auto it = replicas_.find(block_id);
  if (it == replicas_.end() || it->second.generation_stamp > max_generation_stamp) return nullptr;
  std::shared_ptr<Forgotten> forgotten(
      new Forgotten(Describe(block_id, it->second), std::move(it->second)));
  replicas_.erase(it);
  Withdraw(block_id);
  removing_.insert(block_id);
  return forgotten;
}

void BlockStore::RemoveFiles(const Forgotten& forgotten) {
  if (const auto& in_pipeline = forgotten.replica_.in_pipeline) {
    const std::lock_guard lock(in_pipeline->mutex);
    in_pipeline->TakeOver();
    in_pipeline->closed = true;
    in_pipeline->RemoveFiles();
  } else if (!forgotten.replica_.disk->failed()) {
    RemoveFinalized(forgotten);
  }
  {
    const std::lock_guard lock(mutex_);
    removing_.erase(forgotten.info_.block_id);
  }
  if (listener_ != nullptr && forgotten.info_.state != ReplicaState::kTemporary) {
    listener_->OnDeleted(forgotten.info_);
  }
}

void BlockStore::RemoveFinalized(const Forgotten& forgotten) {
  auto& disk = *forgotten.replica_.disk;
  const std::uint64_t block_id = forgotten.info_.block_id;
  auto removed = disk.files().Remove(disk.BlockPath(format::kFinalized, block_id));
  if (removed) {
    removed = disk.files().Remove(
        disk.MetaPath(format::kFinalized, block_id, forgotten.info_.generation_stamp));
  }
  disk.SubtractUsed(1, forgotten.replica_.length);
  if (!removed) Suspect(disk, removed.error().message);
}

bool BlockStore::Delete(std::uint64_t block_id, std::uint64_t max_generation_stamp) {
  const auto forgotten = Forget(block_id, max_generation_stamp);
  if (forgotten) RemoveFiles(*forgotten);
  return forgotten != nullptr;
}

void BlockStore::Suspect(Disk& disk, const std::string& why) {
  if (disk.failed()) return;
  const auto probe = disk.Probe();
  if (!probe)
    FailDisk(disk,
             fmt::format("{}; a probe of the disk failed, too: {}", why, probe.error().message));
}

void BlockStore::ProbeDisks() {
  for (std::size_t i = 0; i < disks_.size(); ++i) (void)ProbeDisk(i);
}

bool BlockStore::ProbeDisk(std::size_t disk) {
  auto& probed = *disks_[disk];
  if (probed.failed()) return false;
  auto probe = probed.WatchedProbe();
  if (!probe) FailDisk(probed, probe.error().message);
  return !probed.failed();
}

void BlockStore::DropHungDisks() {
  for (const auto& disk : disks_) {
    const auto time = std::max(disk->ProbeTime(), disk->ScanStepTime());
    if (disk->failed() || time <= hung_disk_after_) continue;
    FailDisk(*disk, fmt::format("reading and writing a little has not ended for {} s",
                                std::chrono::duration_cast<std::chrono::seconds>(time).count()));
  }
}

void BlockStore::FailDisk(Disk& disk, const std::string& why) {
  if (!disk.MarkFailed(why)) return;
  // Nobody adds replicas of a failed disk.
  std::vector<std::uint64_t> on_disk;
  VisitAfter(0, [&](std::uint64_t block_id, const Replica& replica) {
    if (replica.disk == &disk) on_disk.push_back(block_id);
    return true;
  });
  std::size_t lost = 0;
  for (const std::uint64_t block_id : on_disk) {
    const std::lock_guard lock(mutex_);
    const auto it = replicas_.find(block_id);
    if (it == replicas_.end() || it->second.disk != &disk) continue;
    replicas_.erase(it);
    Withdraw(block_id);
    ++lost;
  }
  spdlog::error(
      "disk {} has failed and is dropped with its {} blocks: {}; replace the disk and "
      "restart this server",
      disk.directory(), lost, why);
  if (listener_ != nullptr) listener_->OnDiskFailed(disk.GetStatus());
}

}  // namespace ebb
