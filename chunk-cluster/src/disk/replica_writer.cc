#include "disk/replica_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "disk/block_store.h"

namespace ebb {

ReplicaWriter::ReplicaWriter(BlockStore& store, std::shared_ptr<ReplicaInPipeline> in_pipeline)
    : store_(store),
      in_pipeline_(std::move(in_pipeline)),
      ticket_(++in_pipeline_->ticket),
      checksum_(in_pipeline_->checksum) {}

ReplicaWriter::~ReplicaWriter() {
  const std::lock_guard lock(in_pipeline_->mutex);
  if (in_pipeline_->closed || in_pipeline_->ticket != ticket_) return;
  in_pipeline_->wake_writer = nullptr;
  if (in_pipeline_->folder == format::kTemporary) store_.Discard(*in_pipeline_);
}

Status ReplicaWriter::CheckTicket() const {
  EBB_TRY(CheckDisk());
  if (!in_pipeline_->closed && in_pipeline_->ticket == ticket_) return {};
  return Fail(ErrorCode::kShutdown,
              fmt::format("another writer has taken over block {}", in_pipeline_->block_id));
}

Status ReplicaWriter::CheckDisk() const {
  const auto& disk = in_pipeline_->disk;
  if (!disk.failed()) return {};
  return Fail(ErrorCode::kIo, fmt::format("disk {} has failed, and block {} was dropped with it",
                                          disk.directory(), in_pipeline_->block_id));
}

Status ReplicaWriter::Report(Status status) const {
  // The call may have hung until the disk was dropped.
  if (status) return CheckDisk();
  if (status.error().code == ErrorCode::kIo) {
    store_.Suspect(in_pipeline_->disk, status.error().message);
  }
  return status;
}

Status ReplicaWriter::Write(std::uint64_t offset, std::span<const std::byte> data,
                            std::span<const std::byte> sums, bool verify) {
  Status status;
  {
    const std::lock_guard lock(in_pipeline_->mutex);
    EBB_TRY(CheckTicket());
    status = in_pipeline_->Write(offset, data, sums, verify);
  }
  return Report(std::move(status));
}

Status ReplicaWriter::Sync() {
  Status status;
  {
    const std::lock_guard lock(in_pipeline_->mutex);
    EBB_TRY(CheckTicket());
    status = in_pipeline_->Sync();
    if (status)
      status =
          in_pipeline_->disk.files().SyncDirectory(in_pipeline_->disk.Folder(in_pipeline_->folder));
  }
  return Report(std::move(status));
}

void ReplicaWriter::Acknowledge(std::uint64_t length) {
  const std::lock_guard lock(in_pipeline_->mutex);
  if (in_pipeline_->ticket != ticket_ || in_pipeline_->closed) return;
  in_pipeline_->acknowledged = std::min<std::uint64_t>(
      std::max<std::uint64_t>(length, in_pipeline_->acknowledged), in_pipeline_->on_disk);
}

Status ReplicaWriter::Finish(bool sync) {
  Result<ReplicaInfo> info;
  {
    const std::lock_guard lock(in_pipeline_->mutex);
    EBB_TRY(CheckTicket());
    info = store_.Finalize(*in_pipeline_, sync);
  }
  if (!info) return Report(std::unexpected(std::move(info).error()));
  if (store_.listener_ != nullptr) store_.listener_->OnStored(*info);
  return {};
}

Status ReplicaWriter::MakeVisible() {
  const std::lock_guard lock(in_pipeline_->mutex);
  EBB_TRY(CheckTicket());
  EBB_TRY(in_pipeline_->MoveTo(format::kBeingWritten));
  in_pipeline_->acknowledged = in_pipeline_->on_disk.load();
  store_.Update(*in_pipeline_,
                [](BlockStore::Replica& entry) { entry.state = ReplicaState::kBeingWritten; });
  return CheckDisk();
}

void ReplicaWriter::OnTakeOver(std::function<void()> wake) {
  const std::lock_guard lock(in_pipeline_->mutex);
  if (in_pipeline_->ticket == ticket_) in_pipeline_->wake_writer = std::move(wake);
}

std::uint64_t ReplicaWriter::length() const { return in_pipeline_->on_disk; }

const std::string& ReplicaWriter::storage_uuid() const {
  return in_pipeline_->disk.identity().storage_uuid;
}

}  // namespace ebb
