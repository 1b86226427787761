// How a finalized replica moves from one disk of this server to another one.
#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "disk/block_store.h"
#include "disk/verified_reader.h"

namespace ebb {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

}  // namespace

Result<Disk*> BlockStore::DiskForRelocation(const ReplicaInfo& replica,
                                            const RelocationTarget& target) {
  EBB_ASSIGN(Disk* const disk, ChooseDisk({.block_id = replica.block_id,
                                           .storage_uuid = target.storage_uuid,
                                           .exact_storage = !target.storage_uuid.empty(),
                                           .storage_type = target.type,
                                           .exact_type = target.storage_uuid.empty()}));
  if (disk->identity().storage_uuid == replica.storage_uuid) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} is on storage {} already, which is of type {}; move it to "
                            "another storage, or ask for another type",
                            replica.block_id, replica.storage_uuid, NameOf(disk->type())));
  }
  EBB_TRY(disk->CheckSpace(replica.length_bytes));
  return disk;
}

Status BlockStore::CopyForRelocation(const ReplicaReader& from, ReplicaInPipeline& to,
                                     const RelocationPace& pace) {
  EBB_TRY(to.Create(from.checksum(), from.length()));
  std::vector<std::byte> bytes(std::min<std::uint64_t>(kPieceBytes, from.length()));
  std::vector<std::byte> sums;
  for (std::uint64_t offset = 0; offset < from.length();) {
    const auto size = std::min<std::uint64_t>(bytes.size(), from.length() - offset);
    const std::span piece(bytes.data(), size);
    sums.resize(from.checksum().BytesFor(size));
    EBB_TRY(from.ReadData(offset, piece));
    EBB_TRY(from.ReadChecksums(offset, offset + size, sums));
    EBB_TRY(to.Write(offset, piece, sums, true));
    if (pace) EBB_TRY(pace(size));
    offset += size;
  }
  EBB_TRY(to.Sync());
  EBB_ASSIGN(const auto folder, to.disk.FinalizedFolder(to.block_id));
  EBB_TRY(to.MoveTo(format::kFinalized));
  return to.disk.files().SyncDirectory(folder);
}

Disk* BlockStore::TakeRelocated(const ReplicaInfo& seen, Disk& disk) {
  const std::lock_guard lock(mutex_);
  const auto it = FindSeen(seen);
  if (it == replicas_.end() || it->second.recovery_id != 0 || disk.failed()) return nullptr;
  Withdraw(seen.block_id);
  return std::exchange(it->second.disk, &disk);
}

Status BlockStore::Relocate(std::uint64_t block_id, std::uint64_t generation_stamp,
                            const RelocationTarget& target, const RelocationPace& pace) {
  {
    const std::lock_guard lock(mutex_);
    if (!relocating_.insert(block_id).second) {
      return Fail(ErrorCode::kBusy, fmt::format("block {} is being moved already", block_id));
    }
  }
  const auto moved = RelocateAlone(block_id, generation_stamp, target, pace);
  const std::lock_guard lock(mutex_);
  relocating_.erase(block_id);
  return moved;
}

Status BlockStore::RelocateAlone(std::uint64_t block_id, std::uint64_t generation_stamp,
                                 const RelocationTarget& target, const RelocationPace& pace) {
  EBB_ASSIGN(const auto reader, OpenReader(block_id, generation_stamp));
  const ReplicaInfo seen = reader->info();
  if (seen.state != ReplicaState::kFinalized) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} is {}; only a finalized replica moves to another disk",
                            block_id, NameOf(seen.state)));
  }
  EBB_ASSIGN(Disk* const disk, DiskForRelocation(seen, target));
  ReplicaInPipeline copy(*disk, format::kTemporary, block_id, seen.generation_stamp);
  if (auto copied = CopyForRelocation(*reader, copy, pace); !copied) {
    copy.RemoveFiles();
    if (copied.error().code == ErrorCode::kIo) Suspect(*disk, copied.error().message);
    return copied;
  }
  Disk* const from = TakeRelocated(seen, *disk);
  if (from == nullptr) {
    copy.RemoveFiles();
    return Fail(ErrorCode::kBusy, fmt::format("block {} has changed while it was moved to another "
                                              "disk; try again",
                                              block_id));
  }
  disk->AddUsed(1, seen.length_bytes);
  ReplicaInfo moved = seen;
  moved.storage_uuid = disk->identity().storage_uuid;
  if (listener_ != nullptr) listener_->OnStored(moved);
  RemoveRelocated(*from, seen);
  return {};
}

void BlockStore::RemoveRelocated(Disk& disk, const ReplicaInfo& seen) {
  disk.SubtractUsed(1, seen.length_bytes);
  auto removed = disk.files().Remove(disk.BlockPath(format::kFinalized, seen.block_id));
  if (removed) {
    removed = disk.files().Remove(
        disk.MetaPath(format::kFinalized, seen.block_id, seen.generation_stamp));
  }
  if (!removed) Suspect(disk, removed.error().message);
  if (listener_ != nullptr) listener_->OnDeleted(seen);
}

}  // namespace ebb
