#include "disk/disk.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace ebb {

namespace {

std::uint64_t NowMillis() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

std::int64_t SteadyMillis() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

SpaceShare ShareOfSpace(const Space& space, std::uint64_t reserved_bytes, std::uint64_t used_bytes,
                        std::uint32_t sharers) {
  const std::uint64_t writable =
      space.free_bytes > reserved_bytes ? space.free_bytes - reserved_bytes : 0;
  const std::uint64_t remaining = writable / sharers;
  return {.capacity_bytes = std::max(space.capacity_bytes / sharers, used_bytes + remaining),
          .remaining_bytes = remaining};
}

Result<std::unique_ptr<Disk>> Disk::Open(FileSystem& files, std::string directory,
                                         std::uint64_t reserved_bytes) {
  std::unique_ptr<Disk> disk(new Disk(files, std::move(directory), reserved_bytes));
  for (const auto name : {format::kFinalized, format::kBeingWritten, format::kTemporary}) {
    EBB_TRY(files.MakeDirectories(disk->Folder(name)));
  }
  const std::string lock = disk->Folder(format::kLockFile);
  disk->lock_ = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (disk->lock_ < 0 || flock(disk->lock_, LOCK_EX | LOCK_NB) != 0) {
    return Fail(ErrorCode::kBusy,
                fmt::format("data directory {} is in use by another chunk server; stop that server "
                            "or give another --data",
                            disk->directory_));
  }
  const std::string path = disk->Folder(format::kVersionFile);
  auto file = files.OpenForReading(path);
  if (!file && file.error().code == ErrorCode::kNotFound) {
    disk->ReadSpace();
    return disk;
  }
  if (!file) return std::unexpected(std::move(file).error());
  std::string text(4096, '\0');
  EBB_ASSIGN(const auto size, (*file)->Read(0, std::as_writable_bytes(std::span(text))));
  text.resize(size);
  auto identity = format::DecodeIdentity(text);
  if (!identity) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}; restore the file or empty the directory",
                                                 path, identity.error().message));
  }
  disk->identity_ = *identity;
  disk->ReadSpace();
  return disk;
}

Disk::~Disk() {
  if (lock_ >= 0) close(lock_);
}

Status Disk::Claim(const format::Identity& identity) {
  const std::string path = Folder(format::kVersionFile);
  const std::string text = format::EncodeIdentity(identity);
  {
    EBB_ASSIGN(const auto file, files_.Create(path + ".new"));
    EBB_TRY(file->Write(0, std::as_bytes(std::span(text))));
    EBB_TRY(file->Sync());
  }
  EBB_TRY(files_.Rename(path + ".new", path));
  EBB_TRY(files_.SyncDirectory(directory_));
  identity_ = identity;
  return {};
}

std::string Disk::Folder(std::string_view name) const {
  return fmt::format("{}/{}", directory_, name);
}

std::string Disk::BlockPath(std::string_view folder, std::uint64_t block_id) const {
  if (folder == format::kFinalized) {
    return fmt::format("{}/{}/{}/{}", directory_, folder, format::SubdirectoryName(block_id),
                       format::BlockFileName(block_id));
  }
  return fmt::format("{}/{}/{}", directory_, folder, format::BlockFileName(block_id));
}

std::string Disk::MetaPath(std::string_view folder, std::uint64_t block_id,
                           std::uint64_t generation_stamp) const {
  if (folder == format::kFinalized) {
    return fmt::format("{}/{}/{}/{}", directory_, folder, format::SubdirectoryName(block_id),
                       format::MetaFileName(block_id, generation_stamp));
  }
  return fmt::format("{}/{}/{}", directory_, folder,
                     format::MetaFileName(block_id, generation_stamp));
}

Result<std::string> Disk::FinalizedFolder(std::uint64_t block_id) {
  const std::string parent = Folder(format::kFinalized);
  std::string folder = parent + "/" + format::SubdirectoryName(block_id);
  auto& exists = folders_[block_id & 0xff];
  if (!exists) {
    EBB_TRY(queued_.MakeDirectories(folder));
    EBB_TRY(queued_.SyncDirectory(parent));
    exists = true;
  }
  return folder;
}

Status Disk::CheckSpace(std::uint64_t bytes) {
  EBB_ASSIGN(const Space space, queued_.GetSpace(directory_));
  {
    // The next heartbeat tells it: a disk that has become full gets no further blocks.
    const std::lock_guard lock(mutex_);
    space_ = space;
  }
  if (space.free_bytes >= reserved_bytes_ && space.free_bytes - reserved_bytes_ >= bytes) return {};
  return Fail(
      ErrorCode::kNoSpace,
      fmt::format("disk {} has {} bytes free, of which {} are reserved: {} bytes do not fit; "
                  "free space or lower --reserved-bytes",
                  directory_, space.free_bytes, reserved_bytes_, bytes));
}

Status Disk::Probe() const {
  auto probed = TryReadAndWrite();
  // A full disk still serves its blocks, and a lack of descriptors is no fault of the disk.
  if (!probed && IsShortage(probed.error().code)) return {};
  return probed;
}

Status Disk::WatchedProbe() {
  probe_started_millis_ = SteadyMillis();
  auto probed = Probe();
  if (probed) ReadSpace();
  probe_started_millis_ = 0;
  return probed;
}

std::chrono::milliseconds Disk::ProbeTime() const {
  const std::int64_t started = probe_started_millis_;
  return std::chrono::milliseconds(started == 0 ? 0 : SteadyMillis() - started);
}

Status Disk::CheckAnswers() const {
  if (!slow()) return {};
  return Fail(ErrorCode::kBusy,
              fmt::format("disk {} does not answer; use another replica, and look at the disk if "
                          "this lasts",
                          directory_));
}

void Disk::NoteScanStep() { scan_step_millis_ = SteadyMillis(); }

void Disk::EndScan() {
  scan_step_millis_ = 0;
  scanned_ = true;
}

std::chrono::milliseconds Disk::ScanStepTime() const {
  const std::int64_t begun = scan_step_millis_;
  return std::chrono::milliseconds(begun == 0 ? 0 : SteadyMillis() - begun);
}

void Disk::ReadSpace() {
  const auto space = files_.GetSpace(directory_);
  if (!space) return;
  const std::lock_guard lock(mutex_);
  space_ = *space;
}

Status Disk::TryReadAndWrite() const {
  EBB_TRY(files_.FileSize(Folder(format::kVersionFile)));
  EBB_TRY(files_.List(Folder(format::kFinalized)));
  const std::string path = Folder("probe");
  EBB_ASSIGN(const auto file, files_.Create(path));
  const std::byte byte = {};
  EBB_TRY(file->Write(0, std::span(&byte, 1)));
  EBB_TRY(file->Sync());
  return files_.Remove(path);
}

bool Disk::MarkFailed(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (failed_) return false;
  failure_ = why;
  failed_at_millis_ = NowMillis();
  failed_ = true;
  blocks_ = 0;
  used_bytes_ = 0;
  return true;
}

void Disk::AddUsed(std::uint64_t blocks, std::uint64_t bytes) {
  blocks_ += blocks;
  used_bytes_ += bytes;
}

void Disk::SubtractUsed(std::uint64_t blocks, std::uint64_t bytes) {
  if (failed_) return;
  blocks_ -= blocks;
  used_bytes_ -= bytes;
}

DiskStatus Disk::GetStatus() {
  DiskStatus status;
  status.storage_uuid = identity_.storage_uuid;
  status.type = type_;
  status.directory = directory_;
  status.failed = failed_;
  status.load = queue_.GetLoad();
  status.recent_errors = errors_.Count();
  if (failed_) {
    const std::lock_guard lock(mutex_);
    status.failure = failure_;
    status.failed_at_millis = failed_at_millis_;
    return status;
  }
  status.blocks = blocks_;
  status.used_bytes = used_bytes_;
  status.probe_millis = static_cast<std::uint64_t>(std::max(ProbeTime(), ScanStepTime()).count());
  status.scanned = scanned_;
  status.slow = slow();
  const std::lock_guard lock(mutex_);
  if (const auto& space = space_) {
    const auto share = ShareOfSpace(*space, reserved_bytes_, status.used_bytes, sharers_);
    status.capacity_bytes = share.capacity_bytes;
    status.remaining_bytes = share.remaining_bytes;
  }
  return status;
}

}  // namespace ebb
