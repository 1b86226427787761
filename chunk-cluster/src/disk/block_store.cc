#include "disk/block_store.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace ebb {

namespace {

std::string_view NameOf(ReplicaState state) {
  switch (state) {
    case ReplicaState::kFinalized: return "finalized";
    case ReplicaState::kBeingWritten: return "being written";
    case ReplicaState::kWaiting: return "waiting for recovery";
    case ReplicaState::kUnderRecovery: return "under recovery";
    case ReplicaState::kTemporary: return "temporary";
  }
  return "unknown";
}

std::unexpected<Error> NoReplica(std::uint64_t block_id) {
  return Fail(ErrorCode::kNotFound, fmt::format("block {} is not on this server", block_id));
}

}  // namespace

std::vector<DiskStatus> BlockStore::Disks() const {
  std::vector<DiskStatus> all;
  for (const auto& disk : disks_) all.push_back(disk->GetStatus());
  all.insert(all.end(), unopened_.begin(), unopened_.end());
  return all;
}

ReplicaInfo BlockStore::Describe(std::uint64_t block_id, const Replica& replica) const {
  const std::uint64_t length =
      replica.building ? replica.building->on_disk.load() : replica.length;
  const auto state = replica.recovery_id != 0 ? ReplicaState::kUnderRecovery : replica.state;
  return {block_id, replica.generation_stamp, length, state,
          replica.disk->identity().storage_uuid};
}

std::optional<BlockStore::Replica> BlockStore::Get(std::uint64_t block_id) const {
  const std::lock_guard lock(mutex_);
  const auto it = replicas_.find(block_id);
  if (it == replicas_.end()) return std::nullopt;
  return it->second;
}

std::optional<ReplicaInfo> BlockStore::Find(std::uint64_t block_id) const {
  const auto replica = Get(block_id);
  if (!replica) return std::nullopt;
  return Describe(block_id, *replica);
}

std::vector<ReplicaInfo> BlockStore::Replicas(const std::string& storage_uuid) const {
  std::vector<ReplicaInfo> found;
  const std::lock_guard lock(mutex_);
  for (const auto& [block_id, replica] : replicas_) {
    if (replica.state == ReplicaState::kTemporary) continue;
    if (replica.disk->identity().storage_uuid != storage_uuid) continue;
    found.push_back(Describe(block_id, replica));
  }
  return found;
}

BlockStore::Ahead BlockStore::FinalizedAfter(const std::string& storage_uuid, std::uint64_t after,
                                             std::size_t limit) const {
  // The blocks of the smallest ids so far: a heap with the largest of them on top.
  using Entry = std::pair<std::uint64_t, const Replica*>;
  std::vector<Entry> nearest;
  Ahead ahead;
  const std::lock_guard lock(mutex_);
  for (const auto& [block_id, replica] : replicas_) {
    if (block_id <= after || replica.state != ReplicaState::kFinalized || replica.building ||
        replica.disk->identity().storage_uuid != storage_uuid) {
      continue;
    }
    ++ahead.count;
    ahead.bytes += replica.length;
    if (nearest.size() == limit) {
      if (limit == 0 || nearest.front().first < block_id) continue;
      std::ranges::pop_heap(nearest);
      nearest.pop_back();
    }
    nearest.emplace_back(block_id, &replica);
    std::ranges::push_heap(nearest);
  }
  std::ranges::sort_heap(nearest);
  for (const auto& [block_id, replica] : nearest) {
    ahead.blocks.push_back(Describe(block_id, *replica));
  }
  return ahead;
}

bool BlockStore::Update(const Building& building, const std::function<void(Replica&)>& change) {
  const std::lock_guard lock(mutex_);
  const auto it = replicas_.find(building.block_id);
  if (it == replicas_.end() || it->second.building.get() != &building) return false;
  change(it->second);
  return true;
}

// ---- reading --------------------------------------------------------------------------------

Result<std::unique_ptr<ReplicaReader>> BlockStore::OpenReader(std::uint64_t block_id,
                                                              std::uint64_t min_generation_stamp,
                                                              bool* dropped) {
  // The second look is for a replica that moved or was renamed between the look and the opening.
  for (int attempt = 0;; ++attempt) {
    const auto replica = Get(block_id);
    if (!replica || replica->state == ReplicaState::kTemporary) return NoReplica(block_id);
    if (replica->generation_stamp < min_generation_stamp) {
      return Fail(ErrorCode::kNotFound,
                  fmt::format("block {} is here with generation stamp {}, older than {}", block_id,
                              replica->generation_stamp, min_generation_stamp));
    }
    auto reader = replica->building ? OpenBuilding(block_id, *replica)
                                    : OpenFinalized(block_id, *replica);
    if (reader || attempt > 0) {
      if (!reader && reader.error().code != ErrorCode::kShutdown &&
          !IsShortage(reader.error().code)) {
        const bool gone = ReportUnreadable(block_id, reader.error().message);
        if (dropped != nullptr) *dropped = gone;
        reader.error().code = ErrorCode::kNotFound;
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
    return Fail(ErrorCode::kCorrupt, fmt::format("{} has {} bytes instead of {}", path, size,
                                                 replica.length));
  }
  std::array<std::byte, format::kMetaHeaderBytes> header;
  EBB_ASSIGN(const auto got, reader->meta_->Read(0, header));
  auto checksum = format::DecodeMetaHeader(std::span(header).first(got));
  if (!checksum) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}", meta_path, checksum.error().message));
  }
  reader->checksum_ = *checksum;
  return reader;
}

Result<std::unique_ptr<ReplicaReader>> BlockStore::OpenBuilding(std::uint64_t block_id,
                                                                const Replica& replica) {
  auto& building = *replica.building;
  const std::lock_guard lock(building.mutex);
  if (building.closed) return Fail(ErrorCode::kShutdown, "the block has just changed; try again");
  auto reader = std::make_unique<ReplicaReader>();
  reader->info_ = Describe(block_id, replica);
  reader->info_.length_bytes = building.acknowledged;
  reader->length_ = building.on_disk;
  reader->checksum_ = building.checksum;
  if (reader->length_ % building.checksum.bytes_per_chunk != 0) {
    reader->last_sum_ = building.last_sum;
  }
  EBB_ASSIGN(reader->data_, building.disk.files().OpenForReading(building.DataPath()));
  EBB_ASSIGN(reader->meta_, building.disk.files().OpenForReading(building.MetaPath()));
  return reader;
}

Status ReplicaReader::ReadChecksums(std::uint64_t offset, std::uint64_t end,
                                    std::span<std::byte> out) const {
  if (checksum_.size() == 0 || end <= offset) return {};
  const auto wanted = out.first(checksum_.BytesFor(end - offset));
  EBB_ASSIGN(const auto got, meta_->Read(checksum_.MetaOffset(offset), wanted));
  if (got != wanted.size()) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("the checksum file of block {} ends early: {} of {} bytes at {}",
                            info_.block_id, got, wanted.size(), checksum_.MetaOffset(offset)));
  }
  if (last_sum_ && end == length_) {
    std::copy(last_sum_->begin(), last_sum_->end(), wanted.end() - 4);
  }
  return {};
}

Status ReplicaReader::ReadData(std::uint64_t offset, std::span<std::byte> out) const {
  EBB_ASSIGN(const auto got, data_->Read(offset, out));
  if (got == out.size()) return {};
  return Fail(ErrorCode::kCorrupt,
              fmt::format("the file of block {} ends early: {} of {} bytes at {}", info_.block_id,
                          got, out.size(), offset));
}

void BlockStore::ReportCorrupt(std::uint64_t block_id, const std::string& why) {
  const auto replica = Find(block_id);
  if (!replica) return;
  spdlog::warn("block {} on {} is corrupt: {}", block_id, replica->storage_uuid, why);
  if (listener_ != nullptr) listener_->OnCorrupt(*replica, why);
}

bool BlockStore::ReportUnreadable(std::uint64_t block_id, const std::string& why) {
  const auto replica = Get(block_id);
  if (!replica) return false;
  Suspect(*replica->disk, why);
  if (replica->disk->failed() || replica->building) return false;
  {
    const std::lock_guard lock(mutex_);
    const auto it = replicas_.find(block_id);
    if (it == replicas_.end() || it->second.building) return false;
    replicas_.erase(it);
  }
  replica->disk->SubtractUsed(1, replica->length);
  spdlog::warn("block {} is dropped: {}", block_id, why);
  if (listener_ != nullptr) listener_->OnDeleted(Describe(block_id, *replica));
  return true;
}

// ---- writing --------------------------------------------------------------------------------

Result<Disk*> BlockStore::ChooseDisk(const WriteRequest& request) {
  const auto live = [](const auto& disk) { return !disk->failed(); };
  if (!request.storage_uuid.empty()) {
    const auto it = std::find_if(disks_.begin(), disks_.end(), [&](const auto& disk) {
      return live(disk) && disk->identity().storage_uuid == request.storage_uuid;
    });
    if (it != disks_.end()) return it->get();
    if (request.exact_storage) {
      return Fail(ErrorCode::kIo, fmt::format("storage {} is not on this server or has failed; "
                                              "choose another",
                                              request.storage_uuid));
    }
  }
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < disks_.size(); ++i) {
    const auto& disk = disks_[next_disk_++ % disks_.size()];
    if (live(disk)) return disk.get();
  }
  return Fail(ErrorCode::kIo, "every disk of this server has failed");
}

Status BlockStore::MakeRoomFor(const WriteRequest& request) {
  const auto existing = Get(request.block_id);
  if (!existing) return {};
  const bool replaceable =
      existing->state == ReplicaState::kTemporary ||
      (existing->building && existing->generation_stamp < request.generation_stamp);
  if (!replaceable || existing->recovery_id != 0) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} exists with generation stamp {} ({}) and cannot be created "
                            "again",
                            request.block_id, existing->generation_stamp, NameOf(existing->state)));
  }
  Discard(existing->building);
  return {};
}

void BlockStore::Discard(const std::shared_ptr<Building>& building) {
  const std::lock_guard lock(building->mutex);
  if (building->closed) return;
  building->TakeOver();
  building->closed = true;
  building->RemoveFiles();
  const std::lock_guard store_lock(mutex_);
  const auto it = replicas_.find(building->block_id);
  if (it != replicas_.end() && it->second.building == building) replicas_.erase(it);
}

Result<std::unique_ptr<ReplicaWriter>> BlockStore::Create(const WriteRequest& request) {
  EBB_TRY(MakeRoomFor(request));
  EBB_ASSIGN(Disk* const disk, ChooseDisk(request));
  if (auto space = disk->CheckSpace(request.expected_bytes); !space) {
    if (!IsShortage(space.error().code)) Suspect(*disk, space.error().message);
    return std::unexpected(std::move(space).error());
  }
  const auto folder =
      request.state == ReplicaState::kTemporary ? format::kTemporary : format::kBeingWritten;
  auto building =
      std::make_shared<Building>(*disk, folder, request.block_id, request.generation_stamp);
  const std::lock_guard lock(building->mutex);
  {
    const std::lock_guard store_lock(mutex_);
    Replica replica{request.generation_stamp, 0, disk, request.state, 0, building};
    if (!replicas_.try_emplace(request.block_id, std::move(replica)).second) {
      return Fail(ErrorCode::kBusy,
                  fmt::format("block {} is being created by another writer", request.block_id));
    }
  }
  if (auto created = building->Create(request.checksum); !created) {
    building->closed = true;
    building->RemoveFiles();
    {
      const std::lock_guard store_lock(mutex_);
      replicas_.erase(request.block_id);
    }
    Suspect(*disk, created.error().message);
    return std::unexpected(std::move(created).error());
  }
  return std::unique_ptr<ReplicaWriter>(new ReplicaWriter(*this, std::move(building)));
}

Result<std::shared_ptr<Building>> BlockStore::Reopen(std::uint64_t block_id,
                                                     const Replica& replica) {
  auto& disk = *replica.disk;
  auto building = std::make_shared<Building>(disk, format::kFinalized, block_id,
                                             replica.generation_stamp);
  const std::lock_guard lock(building->mutex);
  EBB_TRY(building->OpenExisting(replica.length));
  const std::lock_guard store_lock(mutex_);
  const auto it = replicas_.find(block_id);
  if (it == replicas_.end() || it->second.building ||
      it->second.generation_stamp != replica.generation_stamp) {
    return Fail(ErrorCode::kBusy, fmt::format("block {} has just changed; try again", block_id));
  }
  it->second.building = building;
  it->second.state = ReplicaState::kBeingWritten;
  disk.SubtractUsed(1, replica.length);
  return building;
}

Result<std::unique_ptr<ReplicaWriter>> BlockStore::RecoverWriter(std::uint64_t block_id,
                                                                 std::uint64_t generation_stamp,
                                                                 std::uint64_t new_stamp,
                                                                 std::uint64_t min_bytes,
                                                                 std::uint64_t max_bytes) {
  const auto replica = Get(block_id);
  if (!replica) return NoReplica(block_id);
  if (replica->state != ReplicaState::kBeingWritten || !replica->building ||
      replica->recovery_id != 0) {
    return Fail(ErrorCode::kInvalid, fmt::format("block {} is {}: no pipeline can be rebuilt on it",
                                                 block_id, NameOf(replica->state)));
  }
  const auto building = replica->building;
  const std::lock_guard lock(building->mutex);
  if (building->closed || building->generation_stamp < generation_stamp ||
      building->generation_stamp > new_stamp) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} has generation stamp {}, not one from {} to {}", block_id,
                            building->generation_stamp, generation_stamp, new_stamp));
  }
  building->TakeOver();
  if (building->acknowledged < min_bytes || building->on_disk > max_bytes) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} has {} bytes, {} of them acknowledged; the client expects "
                            "{} to {}",
                            block_id, building->on_disk.load(), building->acknowledged.load(),
                            min_bytes, max_bytes));
  }
  EBB_TRY(building->Truncate(building->acknowledged));
  EBB_TRY(building->SetGenerationStamp(new_stamp));
  Update(*building, [&](Replica& entry) { entry.generation_stamp = new_stamp; });
  return std::unique_ptr<ReplicaWriter>(new ReplicaWriter(*this, building));
}

Result<std::unique_ptr<ReplicaWriter>> BlockStore::Append(std::uint64_t block_id,
                                                          std::uint64_t generation_stamp,
                                                          std::uint64_t new_stamp,
                                                          std::uint64_t length) {
  const auto replica = Get(block_id);
  if (!replica) return NoReplica(block_id);
  if (replica->state == ReplicaState::kBeingWritten && replica->building) {
    return RecoverWriter(block_id, generation_stamp, new_stamp, length, length);
  }
  if (replica->state != ReplicaState::kFinalized || replica->recovery_id != 0 ||
      replica->length != length || replica->generation_stamp < generation_stamp ||
      replica->generation_stamp >= new_stamp) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} ({}, {} bytes, generation stamp {}) cannot be appended to at "
                            "{} bytes with stamp {}",
                            block_id, NameOf(replica->state), replica->length,
                            replica->generation_stamp, length, new_stamp));
  }
  EBB_ASSIGN(const auto building, Reopen(block_id, *replica));
  const std::lock_guard lock(building->mutex);
  EBB_TRY(building->SetGenerationStamp(new_stamp));
  EBB_TRY(building->MoveTo(format::kBeingWritten));
  Update(*building, [&](Replica& entry) { entry.generation_stamp = new_stamp; });
  return std::unique_ptr<ReplicaWriter>(new ReplicaWriter(*this, building));
}

Result<ReplicaInfo> BlockStore::RecoverClose(std::uint64_t block_id,
                                             std::uint64_t generation_stamp,
                                             std::uint64_t new_stamp, std::uint64_t length) {
  const auto replica = Get(block_id);
  if (!replica) return NoReplica(block_id);
  if (replica->recovery_id != 0 || replica->state == ReplicaState::kTemporary ||
      replica->generation_stamp < generation_stamp || replica->generation_stamp > new_stamp) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} ({}, generation stamp {}) cannot be closed with stamp {}",
                            block_id, NameOf(replica->state), replica->generation_stamp,
                            new_stamp));
  }
  auto building = replica->building;
  if (!building) {
    EBB_ASSIGN(building, Reopen(block_id, *replica));
  }
  Result<ReplicaInfo> info = NoReplica(block_id);
  {
    const std::lock_guard lock(building->mutex);
    building->TakeOver();
    if (building->on_disk != length) {
      return Fail(ErrorCode::kInvalid, fmt::format("block {} has {} bytes, the client expects {}",
                                                   block_id, building->on_disk.load(), length));
    }
    EBB_TRY(building->SetGenerationStamp(new_stamp));
    info = Finalize(*building, false);
  }
  if (info && listener_ != nullptr) listener_->OnStored(*info);
  return info;
}

Result<ReplicaInfo> BlockStore::Finalize(Building& building, bool sync) {
  auto& disk = building.disk;
  if (sync) EBB_TRY(building.Sync());
  EBB_ASSIGN(const auto folder, disk.FinalizedFolder(building.block_id));
  EBB_TRY(building.MoveTo(format::kFinalized));
  if (sync) EBB_TRY(disk.files().SyncDirectory(folder));
  const std::uint64_t length = building.on_disk;
  ReplicaInfo info;
  const bool held = Update(building, [&](Replica& entry) {
    entry.state = ReplicaState::kFinalized;
    entry.length = length;
    entry.generation_stamp = building.generation_stamp;
    entry.recovery_id = 0;
    entry.building.reset();
    info = Describe(building.block_id, entry);
  });
  building.closed = true;
  building.data.reset();
  building.meta.reset();
  if (!held) {
    return Fail(ErrorCode::kIo, fmt::format("the disk of block {} has failed", building.block_id));
  }
  disk.AddUsed(1, length);
  return info;
}

ReplicaWriter::ReplicaWriter(BlockStore& store, std::shared_ptr<Building> building)
    : store_(store),
      building_(std::move(building)),
      ticket_(++building_->ticket),
      checksum_(building_->checksum) {}

ReplicaWriter::~ReplicaWriter() {
  {
    const std::lock_guard lock(building_->mutex);
    if (building_->closed || building_->ticket != ticket_) return;
    building_->wake_writer = nullptr;
    if (building_->folder != format::kTemporary) return;
  }
  store_.Discard(building_);
}

Status ReplicaWriter::CheckTicket() const {
  if (!building_->closed && building_->ticket == ticket_) return {};
  return Fail(ErrorCode::kShutdown,
              fmt::format("another writer took block {} over", building_->block_id));
}

Status ReplicaWriter::Report(Status status) const {
  if (!status && status.error().code == ErrorCode::kIo) {
    store_.Suspect(building_->disk, status.error().message);
  }
  return status;
}

Status ReplicaWriter::Write(std::uint64_t offset, std::span<const std::byte> data,
                            std::span<const std::byte> sums, bool verify) {
  Status status;
  {
    const std::lock_guard lock(building_->mutex);
    EBB_TRY(CheckTicket());
    status = building_->Write(offset, data, sums, verify);
  }
  return Report(std::move(status));
}

Status ReplicaWriter::Sync() {
  Status status;
  {
    const std::lock_guard lock(building_->mutex);
    EBB_TRY(CheckTicket());
    status = building_->Sync();
    if (status) status = building_->disk.files().SyncDirectory(
        building_->disk.Folder(building_->folder));
  }
  return Report(std::move(status));
}

void ReplicaWriter::Acknowledge(std::uint64_t length) {
  const std::lock_guard lock(building_->mutex);
  if (building_->ticket != ticket_ || building_->closed) return;
  building_->acknowledged = std::min<std::uint64_t>(std::max<std::uint64_t>(
      length, building_->acknowledged), building_->on_disk);
}

Status ReplicaWriter::Finish(bool sync) {
  Result<ReplicaInfo> info;
  {
    const std::lock_guard lock(building_->mutex);
    EBB_TRY(CheckTicket());
    info = store_.Finalize(*building_, sync);
  }
  if (!info) return Report(std::unexpected(std::move(info).error()));
  if (store_.listener_ != nullptr) store_.listener_->OnStored(*info);
  return {};
}

Status ReplicaWriter::MakeVisible() {
  const std::lock_guard lock(building_->mutex);
  EBB_TRY(CheckTicket());
  EBB_TRY(building_->MoveTo(format::kBeingWritten));
  building_->acknowledged = building_->on_disk.load();
  store_.Update(*building_,
                [](BlockStore::Replica& entry) { entry.state = ReplicaState::kBeingWritten; });
  return {};
}

void ReplicaWriter::OnTakeOver(std::function<void()> wake) {
  const std::lock_guard lock(building_->mutex);
  if (building_->ticket == ticket_) building_->wake_writer = std::move(wake);
}

std::uint64_t ReplicaWriter::length() const { return building_->on_disk; }

const std::string& ReplicaWriter::storage_uuid() const {
  return building_->disk.identity().storage_uuid;
}

// ---- recovery, removal, failure ---------------------------------------------------------------

Result<std::optional<ReplicaInfo>> BlockStore::StartRecovery(std::uint64_t block_id,
                                                             std::uint64_t generation_stamp,
                                                             std::uint64_t recovery_id) {
  const auto replica = Get(block_id);
  if (!replica || replica->state == ReplicaState::kTemporary) return std::nullopt;
  if (replica->building) {
    const std::lock_guard lock(replica->building->mutex);
    replica->building->TakeOver();
  }
  const std::lock_guard lock(mutex_);
  const auto it = replicas_.find(block_id);
  if (it == replicas_.end()) return std::nullopt;
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
  const auto replica = Get(block_id);
  if (!replica) return NoReplica(block_id);
  if (replica->recovery_id != recovery_id) {
    return Fail(ErrorCode::kInvalid, fmt::format("block {} is held by recovery {}, not by {}",
                                                 block_id, replica->recovery_id, recovery_id));
  }
  auto building = replica->building;
  if (!building) {
    EBB_ASSIGN(building, Reopen(block_id, *replica));
  }
  Result<ReplicaInfo> info = NoReplica(block_id);
  {
    const std::lock_guard lock(building->mutex);
    if (building->on_disk < new_length) {
      return Fail(ErrorCode::kInvalid, fmt::format("block {} has {} bytes, the recovery wants {}",
                                                   block_id, building->on_disk.load(), new_length));
    }
    EBB_TRY(building->Truncate(new_length));
    EBB_TRY(building->SetGenerationStamp(recovery_id));
    info = Finalize(*building, true);
  }
  if (info && listener_ != nullptr) listener_->OnStored(*info);
  return info;
}

bool BlockStore::Delete(std::uint64_t block_id, std::uint64_t max_generation_stamp) {
  const auto replica = Get(block_id);
  if (!replica || replica->generation_stamp > max_generation_stamp) return false;
  const auto info = Describe(block_id, *replica);
  if (replica->building) {
    Discard(replica->building);
  } else {
    {
      const std::lock_guard lock(mutex_);
      const auto it = replicas_.find(block_id);
      if (it == replicas_.end() || it->second.building) return false;
      replicas_.erase(it);
    }
    auto& disk = *replica->disk;
    disk.SubtractUsed(1, replica->length);
    auto removed = disk.files().Remove(disk.BlockPath(format::kFinalized, block_id));
    if (removed) {
      removed = disk.files().Remove(
          disk.MetaPath(format::kFinalized, block_id, replica->generation_stamp));
    }
    if (!removed) Suspect(disk, removed.error().message);
  }
  if (listener_ != nullptr && info.state != ReplicaState::kTemporary) listener_->OnDeleted(info);
  return true;
}

void BlockStore::Suspect(Disk& disk, const std::string& why) {
  if (disk.failed()) return;
  const auto probe = disk.Probe();
  if (!probe) FailDisk(disk, fmt::format("{}; then {}", why, probe.error().message));
}

void BlockStore::ProbeDisks() {
  for (const auto& disk : disks_) {
    if (disk->failed()) continue;
    if (auto probe = disk->Probe(); !probe) FailDisk(*disk, probe.error().message);
  }
}

void BlockStore::FailDisk(Disk& disk, const std::string& why) {
  if (!disk.MarkFailed(why)) return;
  std::size_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
    lost = std::erase_if(replicas_, [&](const auto& item) { return item.second.disk == &disk; });
  }
  spdlog::error("disk {} has failed and is dropped with {} blocks: {}; replace it and restart",
                disk.directory(), lost, why);
  if (listener_ != nullptr) listener_->OnDiskFailed(disk.GetStatus());
}

}  // namespace ebb
