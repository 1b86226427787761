// What happens to a replica whose write broke off. Pipeline recovery: the client comes back with a
// new generation stamp (RecoverWriter, RecoverClose). Block recovery: the client is gone, and the
// servers agree on a length (StartRecovery, FinishRecovery); server/block_recovery.cc leads that. A
// replica whose server stopped is cut to its valid prefix at the next start: disk_scan.cc.
#include <fmt/core.h>

#include <utility>

#include "disk/block_store.h"

namespace ebb {

Result<std::unique_ptr<ReplicaWriter>> BlockStore::RecoverWriter(std::uint64_t block_id,
                                                                 std::uint64_t generation_stamp,
                                                                 std::uint64_t new_stamp,
                                                                 std::uint64_t min_bytes,
                                                                 std::uint64_t max_bytes) {
  const auto replica = Require(block_id);
  if (!replica) return std::unexpected(replica.error());
  if (replica->state != ReplicaState::kBeingWritten || !replica->in_pipeline ||
      replica->recovery_id != 0) {
    return Fail(ErrorCode::kInvalid, fmt::format("block {} is {}: no pipeline can be rebuilt on it",
                                                 block_id, NameOf(replica->state)));
  }
  const auto in_pipeline = replica->in_pipeline;
  EBB_ASSIGN(const auto lock, in_pipeline->Lock());
  if (in_pipeline->closed || in_pipeline->generation_stamp < generation_stamp ||
      in_pipeline->generation_stamp > new_stamp) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} has generation stamp {}, not one from {} to {}", block_id,
                            in_pipeline->generation_stamp, generation_stamp, new_stamp));
  }
  in_pipeline->TakeOver();
  if (in_pipeline->acknowledged < min_bytes || in_pipeline->on_disk > max_bytes) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} has {} bytes, {} of them acknowledged; the client expects "
                            "{} to {}",
                            block_id, in_pipeline->on_disk.load(), in_pipeline->acknowledged.load(),
                            min_bytes, max_bytes));
  }
  EBB_TRY(in_pipeline->Truncate(in_pipeline->acknowledged));
  EBB_TRY(in_pipeline->SetGenerationStamp(new_stamp));
  if (!Update(*in_pipeline, [&](Replica& entry) { entry.generation_stamp = new_stamp; })) {
    return JustChanged(block_id);
  }
  return std::unique_ptr<ReplicaWriter>(new ReplicaWriter(*this, in_pipeline));
}

Result<ReplicaInfo> BlockStore::RecoverClose(std::uint64_t block_id, std::uint64_t generation_stamp,
                                             std::uint64_t new_stamp, std::uint64_t length) {
  const auto replica = Require(block_id);
  if (!replica) return std::unexpected(replica.error());
  if (replica->recovery_id != 0 || replica->state == ReplicaState::kTemporary ||
      replica->generation_stamp < generation_stamp || replica->generation_stamp > new_stamp) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("block {} ({}, generation stamp {}) cannot be closed with stamp {}", block_id,
                    NameOf(replica->state), replica->generation_stamp, new_stamp));
  }
  const auto wrong_length = [&](std::uint64_t actual) {
    return Fail(ErrorCode::kInvalid, fmt::format("block {} has {} bytes, the client expects {}",
                                                 block_id, actual, length));
  };
  // Before it is opened again: a refusal leaves a finalized replica as it is.
  if (!replica->in_pipeline && replica->length != length) return wrong_length(replica->length);
  Result<ReplicaInfo> info = NoReplica(block_id);
  {
    EBB_ASSIGN(const auto locked, LockOrReopen(block_id, *replica));
    const auto& in_pipeline = locked.in_pipeline;
    if (in_pipeline->closed) return JustChanged(block_id);
    in_pipeline->TakeOver();
    if (in_pipeline->on_disk != length) return wrong_length(in_pipeline->on_disk);
    EBB_TRY(in_pipeline->Truncate(length));
    EBB_TRY(in_pipeline->SetGenerationStamp(new_stamp));
    info = Finalize(*in_pipeline, false);
  }
  if (info && listener_ != nullptr) listener_->OnStored(*info);
  return info;
}

Result<std::optional<ReplicaInfo>> BlockStore::StartRecovery(std::uint64_t block_id,
                                                             std::uint64_t generation_stamp,
                                                             std::uint64_t recovery_id) {
  const auto replica = Require(block_id);
  if (!replica && replica.error().code != ErrorCode::kNotFound) {
    return std::unexpected(replica.error());
  }
  if (!replica || replica->state == ReplicaState::kTemporary) return std::nullopt;
  if (replica->in_pipeline) {
    auto& in_pipeline = *replica->in_pipeline;
    EBB_ASSIGN(const auto lock, in_pipeline.Lock());
    in_pipeline.TakeOver();
    // Only bytes that have their checksums may be told of.
    const auto cut = in_pipeline.unfinished_cut;
    if (cut && !in_pipeline.closed) EBB_TRY(in_pipeline.Truncate(*cut));
  }
  const std::lock_guard lock(mutex_);
  const auto it = replicas_.find(block_id);
  if (it == replicas_.end()) return JustChanged(block_id);
  auto& entry = it->second;
  if (entry.generation_stamp < generation_stamp || entry.generation_stamp >= recovery_id ||
      entry.recovery_id > recovery_id) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} with generation stamp {} (recovery {}) cannot be recovered "
                            "from stamp {} by recovery {}",
                            block_id, entry.generation_stamp, entry.recovery_id, generation_stamp,
                            recovery_id));
  }
  entry.recovery_id = 0;
  auto info = Describe(block_id, entry);
  entry.recovery_id = recovery_id;
  return info;
}

Result<ReplicaInfo> BlockStore::FinishRecovery(std::uint64_t block_id, std::uint64_t recovery_id,
                                               std::uint64_t new_length) {
  const auto replica = Require(block_id);
  if (!replica) return std::unexpected(replica.error());
  if (replica->recovery_id != recovery_id) {
    return Fail(ErrorCode::kInvalid, fmt::format("block {} is held by recovery {}, not by {}",
                                                 block_id, replica->recovery_id, recovery_id));
  }
  const auto too_short = [&](std::uint64_t actual) {
    return Fail(ErrorCode::kInvalid, fmt::format("block {} has {} bytes, the recovery wants {}",
                                                 block_id, actual, new_length));
  };
  // Before it is opened again: a refusal leaves a finalized replica as it is.
  if (!replica->in_pipeline && replica->length < new_length) return too_short(replica->length);
  Result<ReplicaInfo> info = NoReplica(block_id);
  Status good;
  {
    EBB_ASSIGN(const auto locked, LockOrReopen(block_id, *replica));
    const auto& in_pipeline = locked.in_pipeline;
    if (in_pipeline->closed) return JustChanged(block_id);
    if (in_pipeline->on_disk < new_length) return too_short(in_pipeline->on_disk);
    // Also if an earlier attempt broke off after it had opened the finalized replica again.
    const bool was_finalized = in_pipeline->folder == format::kFinalized;
    const bool cuts = was_finalized && new_length < in_pipeline->on_disk;
    // Bytes that lie for long may be damaged: no new checksum must hide that.
    if (cuts) good = in_pipeline->VerifyChunkOf(new_length);
    if (good) {
      // A crash in the middle of the cut leaves a replica that the next start repairs.
      if (cuts) EBB_TRY(in_pipeline->MoveTo(format::kBeingWritten));
      good = in_pipeline->Truncate(new_length);
      if (good) EBB_TRY(in_pipeline->SetGenerationStamp(recovery_id));
      // A cut that was refused has changed nothing: the finalized replica is finalized again.
      const bool unchanged = was_finalized && !in_pipeline->unfinished_cut;
      if (!good && !(unchanged && good.error().code == ErrorCode::kBusy)) {
        return std::unexpected(good.error());
      }
    }
    info = Finalize(*in_pipeline, good.has_value());
  }
  if (!good) {
    // The namenode has to know, or it would have this replica cut again and again.
    if (info && good.error().code == ErrorCode::kCorrupt) {
      ReportCorrupt(*info, good.error().message);
    } else if (info && good.error().code == ErrorCode::kIo) {
      ReportUnreadable(*info, good.error().message);
    }
    return std::unexpected(good.error());
  }
  if (info && listener_ != nullptr) listener_->OnStored(*info);
  return info;
}

}  // namespace ebb
