// How a replica comes into being: created or opened for append by a writer, then finalized.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "disk/block_store.h"

namespace ebb {

namespace {

// An attempt fails if the replica moves to another disk of this server meanwhile.
constexpr int kMaxReopenAttempts = 3;

// The emptiest other disk of the same type, if it has room for the replica; else null.
Disk* OtherWithSpace(const std::vector<std::unique_ptr<Disk>>& disks, const Disk& full,
                     std::uint64_t bytes) {
  Disk* emptiest = nullptr;
  std::uint64_t most = 0;
  for (const auto& disk : disks) {
    const bool usable = disk.get() != &full && !disk->failed() && !disk->slow();
    if (!usable || disk->type() != full.type()) continue;
    const std::uint64_t remaining = disk->GetStatus().remaining_bytes;
    if (emptiest != nullptr && remaining <= most) continue;
    emptiest = disk.get();
    most = remaining;
  }
  return emptiest != nullptr && emptiest->CheckSpace(bytes) ? emptiest : nullptr;
}

}  // namespace

Result<Disk*> BlockStore::ChooseDisk(const WriteRequest& request) {
  const auto live = [](const auto& disk) { return !disk->failed(); };
  if (!request.storage_uuid.empty()) {
    const auto it = std::find_if(disks_.begin(), disks_.end(), [&](const auto& disk) {
      return live(disk) && disk->identity().storage_uuid == request.storage_uuid;
    });
    const bool found = it != disks_.end();
    if (found && !(*it)->slow()) return it->get();
    if (found && request.exact_storage) {
      return Fail(ErrorCode::kBusy,
                  fmt::format("storage {} does not answer; choose another storage, or try again",
                              request.storage_uuid));
    }
    if (request.exact_storage) {
      return Fail(ErrorCode::kIo, fmt::format("storage {} is not on this server or has failed; "
                                              "choose another storage",
                                              request.storage_uuid));
    }
  }
  if (Disk* const disk = NextDisk(request.storage_type)) return disk;
  if (request.exact_type && request.storage_type) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("this server has no working storage of type {}; choose another server "
                            "or another type",
                            NameOf(*request.storage_type)));
  }
  if (Disk* const disk = NextDisk(std::nullopt)) return disk;
  if (std::any_of(disks_.begin(), disks_.end(), live)) {
    return Fail(ErrorCode::kBusy, "no disk of this server answers in time; try another server");
  }
  return Fail(ErrorCode::kIo, "every disk of this server has failed");
}

Disk* BlockStore::NextDisk(std::optional<StorageType> type) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < disks_.size(); ++i) {
    const auto& disk = disks_[next_disk_++ % disks_.size()];
    if (!disk->failed() && !disk->slow() && (!type || disk->type() == *type)) return disk.get();
  }
  return nullptr;
}

Status BlockStore::MakeRoomFor(const WriteRequest& request) {
  const auto existing = Get(request.block_id);
  if (!existing) return {};
  const bool older = existing->generation_stamp < request.generation_stamp;
  const bool replaceable = existing->state == ReplicaState::kTemporary ||
                           (older && (existing->in_pipeline || request.replaces_older));
  if (!replaceable || existing->recovery_id != 0) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} exists with generation stamp {} ({}) and cannot be created "
                            "again",
                            request.block_id, existing->generation_stamp, NameOf(existing->state)));
  }
  if (existing->in_pipeline) {
    EBB_ASSIGN(const auto lock, existing->in_pipeline->Lock());
    Discard(*existing->in_pipeline);
  } else {
    (void)Delete(request.block_id, existing->generation_stamp);
  }
  return {};
}

Result<std::unique_ptr<ReplicaWriter>> BlockStore::Create(const WriteRequest& request) {
  EBB_TRY(CheckReady());
  EBB_TRY(MakeRoomFor(request));
  EBB_ASSIGN(Disk* disk, ChooseDisk(request));
  if (auto space = disk->CheckSpace(request.expected_bytes); !space) {
    if (!IsShortage(space.error().code)) Suspect(*disk, space.error().message);
    const bool movable = space.error().code == ErrorCode::kNoSpace && !request.exact_storage;
    disk = movable ? OtherWithSpace(disks_, *disk, request.expected_bytes) : nullptr;
    if (disk == nullptr) return std::unexpected(std::move(space).error());
  }
  const auto folder =
      request.state == ReplicaState::kTemporary ? format::kTemporary : format::kBeingWritten;
  auto in_pipeline = std::make_shared<ReplicaInPipeline>(*disk, folder, request.block_id,
                                                         request.generation_stamp);
  const std::lock_guard lock(in_pipeline->mutex);
  in_pipeline->replaces = request.replaces;
  {
    const std::lock_guard store_lock(mutex_);
    if (removing_.contains(request.block_id) || relocating_.contains(request.block_id)) {
      return Fail(ErrorCode::kBusy, fmt::format("an earlier replica of block {} is being removed "
                                                "from this server; try again",
                                                request.block_id));
    }
    Replica replica{request.generation_stamp, 0, disk, request.state, 0, in_pipeline};
    if (!replicas_.try_emplace(request.block_id, std::move(replica)).second) {
      return Fail(ErrorCode::kBusy,
                  fmt::format("block {} is being created by another writer", request.block_id));
    }
  }
  if (auto created = in_pipeline->Create(request.checksum, request.expected_bytes); !created) {
    in_pipeline->closed = true;
    in_pipeline->RemoveFiles();
    EraseEntry(*in_pipeline);
    if (!IsShortage(created.error().code)) Suspect(*disk, created.error().message);
    return std::unexpected(std::move(created).error());
  }
  return std::unique_ptr<ReplicaWriter>(new ReplicaWriter(*this, std::move(in_pipeline)));
}

Result<BlockStore::LockedReplica> BlockStore::Reopen(std::uint64_t block_id, Replica replica) {
  for (int attempt = 1;; ++attempt) {
    auto opened = ReopenAsSeen(block_id, replica);
    if (opened || attempt == kMaxReopenAttempts) return opened;
    const auto now = Get(block_id);
    const bool only_moved = now && !now->in_pipeline && now->state == replica.state &&
                            now->generation_stamp == replica.generation_stamp &&
                            now->length == replica.length &&
                            now->recovery_id == replica.recovery_id && now->disk != replica.disk;
    if (!only_moved) return opened;
    replica.disk = now->disk;
  }
}

Result<BlockStore::LockedReplica> BlockStore::ReopenAsSeen(std::uint64_t block_id,
                                                           const Replica& replica) {
  auto& disk = *replica.disk;
  EBB_TRY(disk.CheckAnswers());
  auto in_pipeline = std::make_shared<ReplicaInPipeline>(disk, format::kFinalized, block_id,
                                                         replica.generation_stamp);
  std::unique_lock lock(in_pipeline->mutex);
  EBB_TRY(in_pipeline->OpenExisting(replica.length));
  const std::lock_guard store_lock(mutex_);
  const auto it = replicas_.find(block_id);
  if (it == replicas_.end() || it->second.in_pipeline ||
      it->second.generation_stamp != replica.generation_stamp || it->second.disk != &disk) {
    return JustChanged(block_id);
  }
  it->second.in_pipeline = in_pipeline;
  it->second.state = ReplicaState::kBeingWritten;
  Withdraw(block_id);
  disk.SubtractUsed(1, replica.length);
  return LockedReplica{std::move(in_pipeline), std::move(lock)};
}

Result<BlockStore::LockedReplica> BlockStore::LockOrReopen(std::uint64_t block_id,
                                                           const Replica& replica) {
  if (!replica.in_pipeline) return Reopen(block_id, replica);
  EBB_ASSIGN(auto lock, replica.in_pipeline->Lock());
  return LockedReplica{replica.in_pipeline, std::move(lock)};
}

Result<std::unique_ptr<ReplicaWriter>> BlockStore::Append(std::uint64_t block_id,
                                                          std::uint64_t generation_stamp,
                                                          std::uint64_t new_stamp,
                                                          std::uint64_t length) {
  const auto replica = Require(block_id);
  if (!replica) return std::unexpected(replica.error());
  if (replica->state != ReplicaState::kFinalized || replica->generation_stamp != generation_stamp) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("block {} is {} with generation stamp {}; only a finalized replica with "
                    "stamp {} can be appended to",
                    block_id, NameOf(replica->state), replica->generation_stamp, generation_stamp));
  }
  return RecoverAppend(block_id, generation_stamp, new_stamp, length);
}

Result<std::unique_ptr<ReplicaWriter>> BlockStore::RecoverAppend(std::uint64_t block_id,
                                                                 std::uint64_t generation_stamp,
                                                                 std::uint64_t new_stamp,
                                                                 std::uint64_t length) {
  const auto replica = Require(block_id);
  if (!replica) return std::unexpected(replica.error());
  if (replica->state == ReplicaState::kBeingWritten && replica->in_pipeline) {
    return RecoverWriter(block_id, generation_stamp, new_stamp, length, length);
  }
  if (replica->state != ReplicaState::kFinalized || replica->recovery_id != 0 ||
      replica->length != length || replica->generation_stamp < generation_stamp ||
      replica->generation_stamp > new_stamp) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} ({}, {} bytes, generation stamp {}) cannot be appended to at "
                            "{} bytes with stamp {}",
                            block_id, NameOf(replica->state), replica->length,
                            replica->generation_stamp, length, new_stamp));
  }
  EBB_ASSIGN(const auto opened, Reopen(block_id, *replica));
  const auto& in_pipeline = opened.in_pipeline;
  EBB_TRY(in_pipeline->SetGenerationStamp(new_stamp));
  EBB_TRY(in_pipeline->MoveTo(format::kBeingWritten));
  if (!Update(*in_pipeline, [&](Replica& entry) { entry.generation_stamp = new_stamp; })) {
    return JustChanged(block_id);
  }
  return std::unique_ptr<ReplicaWriter>(new ReplicaWriter(*this, in_pipeline));
}

Result<ReplicaInfo> BlockStore::Finalize(ReplicaInPipeline& in_pipeline, bool sync) {
  auto& disk = in_pipeline.disk;
  EBB_TRY(in_pipeline.ReleaseRoom());
  if (sync) EBB_TRY(in_pipeline.Sync());
  EBB_ASSIGN(const auto folder, disk.FinalizedFolder(in_pipeline.block_id));
  EBB_TRY(in_pipeline.MoveTo(format::kFinalized));
  if (sync) EBB_TRY(disk.files().SyncDirectory(folder));
  const std::uint64_t length = in_pipeline.on_disk;
  ReplicaInfo info;
  const bool held = Update(in_pipeline, [&](Replica& entry) {
    entry.state = ReplicaState::kFinalized;
    entry.length = length;
    entry.generation_stamp = in_pipeline.generation_stamp;
    entry.recovery_id = 0;
    entry.in_pipeline.reset();
    info = Describe(in_pipeline.block_id, entry);
    info.replaces = in_pipeline.replaces;
  });
  in_pipeline.closed = true;
  in_pipeline.data.reset();
  in_pipeline.meta.reset();
  if (!held) {
    return Fail(ErrorCode::kIo, fmt::format("block {} was removed, or its disk has failed",
                                            in_pipeline.block_id));
  }
  disk.AddUsed(1, length);
  return info;
}

void BlockStore::Discard(ReplicaInPipeline& in_pipeline) {
  if (in_pipeline.closed) return;
  in_pipeline.TakeOver();
  in_pipeline.closed = true;
  in_pipeline.RemoveFiles();
  EraseEntry(in_pipeline);
}

void BlockStore::EraseEntry(const ReplicaInPipeline& in_pipeline) {
  const std::lock_guard lock(mutex_);
  const auto it = replicas_.find(in_pipeline.block_id);
  if (it == replicas_.end() || it->second.in_pipeline.get() != &in_pipeline) return;
  replicas_.erase(it);
  Withdraw(in_pipeline.block_id);
}

}  // namespace ebb
