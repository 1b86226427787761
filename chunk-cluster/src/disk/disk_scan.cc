// What the store does with its disks at the start, before it is ready: it checks identities, counts
// disks that share a file system, finds the blocks, and repairs replicas that a crash left torn.
#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>

#include "common/bytes.h"
#include "disk/block_store.h"

namespace ebb {

namespace {

constexpr auto kScanPollInterval = std::chrono::milliseconds(50);
// The scan reads a torn replica in steps of this size, or of one chunk if a chunk is longer.
constexpr std::size_t kScanStepBytes = 32 << 10;

std::string NewUuid() {
  std::random_device random;
  const auto part = [&] { return random(); };
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:08x}{:04x}", part(), part() & 0xffff,
                     part() & 0xfff, 0x8000 | (part() & 0x3fff), part(), part() & 0xffff);
}

struct Pieces {
  std::optional<std::uint64_t> length;
  // Generation stamp and size of each meta file. Normally there is one.
  std::map<std::uint64_t, std::uint64_t> metas;
};

// The files of one folder, grouped by block. A file with a foreign name is logged and left alone.
Result<std::map<std::uint64_t, Pieces>> CollectPieces(Disk& disk, const std::string& folder) {
  auto& files = disk.files();
  std::map<std::uint64_t, Pieces> pieces;
  EBB_ASSIGN(const auto entries, files.List(folder));
  for (const auto& entry : entries) {
    const std::string path = folder + "/" + entry.name;
    const auto name = format::ParseName(entry.name);
    if (!name || entry.directory) {
      spdlog::warn("{} is no file of a chunk server and is ignored; remove it", path);
      continue;
    }
    EBB_ASSIGN(const auto size, files.FileSize(path));
    disk.NoteScanStep();
    auto& piece = pieces[name->block_id];
    if (name->generation_stamp) {
      piece.metas[*name->generation_stamp] = size;
    } else {
      piece.length = size;
    }
  }
  return pieces;
}

// A block may lie on two disks if one of them was away while the block was copied to the other. If
// the files cannot be removed, the next start tries again.
void RemoveDuplicate(Disk& disk, std::string_view folder, std::uint64_t block_id,
                     std::uint64_t stamp) {
  for (const auto& path :
       {disk.BlockPath(folder, block_id), disk.MetaPath(folder, block_id, stamp)}) {
    if (auto removed = disk.files().Remove(path); !removed) {
      spdlog::warn("{} could not be removed: {}", path, removed.error().message);
    }
  }
}

// Moves the files of a replica that is not served out of the way: the block may be written anew
// here, and the space shows. Nothing is deleted, since it may be the last copy of some bytes. `why`
// follows the path of the replica in the log.
void SetAside(Disk& disk, const std::string& folder, std::uint64_t block_id, const Pieces& piece,
              const std::string& why) {
  auto& files = disk.files();
  const std::string aside = disk.Folder(format::kCorrupt);
  std::vector<std::string> names;
  if (piece.length) names.push_back(format::BlockFileName(block_id));
  for (const auto& [stamp, size] : piece.metas) {
    names.push_back(format::MetaFileName(block_id, stamp));
  }
  Status moved = files.MakeDirectories(aside);
  for (const auto& name : names) {
    if (moved) moved = files.Rename(folder + "/" + name, aside + "/" + name);
  }
  spdlog::warn("{}/{} {}. {}", folder, names.front(), why,
               moved ? fmt::format("It was moved to {}; remove it there once it is not needed", aside)
                     : fmt::format("It could not be moved: {}", moved.error().message));
}

void SetCorruptAside(Disk& disk, const std::string& folder, std::uint64_t block_id,
                     const Pieces& piece, const std::string& problem) {
  SetAside(disk, folder, block_id, piece,
           fmt::format("is corrupt: {}; the namenode will repair the block", problem));
}

void SetDuplicateAside(Disk& disk, const std::string& folder, std::uint64_t block_id,
                       std::uint64_t stamp, const std::string& known_directory,
                       std::uint64_t known_stamp) {
  SetAside(disk, folder, block_id, {.length = 0, .metas = {{stamp, 0}}},
           fmt::format("with generation stamp {} is not used: {} holds the block with {}", stamp,
                       known_directory, known_stamp));
}

Result<format::Checksum> ReadMetaHeader(FileSystem& files, const std::string& path) {
  EBB_ASSIGN(const auto file, files.OpenForReading(path));
  std::array<std::byte, format::kMetaHeaderBytes> header;
  EBB_ASSIGN(const auto size, file->Read(0, header));
  return format::DecodeMetaHeader(std::span(header).first(size));
}

// The last chunk has more bytes than its checksum covers if a crash came between the two writes of
// an append. The number of its bytes from the start that have this checksum; 0 if there is none.
std::size_t BytesCovered(const format::Checksum& checksum, std::span<const std::byte> chunk,
                         std::span<const std::byte, 4> sum) {
  const std::uint32_t wanted = LoadBig32(sum.data());
  std::uint32_t crc = 0;
  for (std::size_t n = 1; n <= chunk.size(); ++n) {
    crc = checksum.Compute(crc, chunk.subspan(n - 1, 1));
    if (crc == wanted) return n;
  }
  return 0;
}

// The number of bytes from the start that agree with their checksums. The rest is a torn write.
Result<std::uint64_t> ValidPrefix(Disk& disk, const std::string& data_path,
                                  const std::string& meta_path) {
  auto& files = disk.files();
  EBB_ASSIGN(const auto checksum, ReadMetaHeader(files, meta_path));
  EBB_ASSIGN(const auto data, files.OpenForReading(data_path));
  EBB_ASSIGN(const auto meta, files.OpenForReading(meta_path));
  const std::size_t chunks = std::max<std::size_t>(1, kScanStepBytes / checksum.bytes_per_chunk);
  std::vector<std::byte> bytes(chunks * checksum.bytes_per_chunk);
  std::vector<std::byte> sums(chunks * 4);
  for (std::uint64_t offset = 0;;) {
    EBB_ASSIGN(std::size_t got, data->Read(offset, bytes));
    disk.NoteScanStep();
    if (checksum.size() != 0) {
      EBB_ASSIGN(const auto sums_got, meta->Read(checksum.MetaOffset(offset), sums));
      got = std::min<std::size_t>(got, sums_got / 4 * checksum.bytes_per_chunk);
      if (const auto bad = checksum.FirstMismatch(std::span(bytes).first(got), sums)) {
        const std::size_t start = *bad * checksum.bytes_per_chunk;
        const auto chunk = std::span(bytes).first(got).subspan(start);
        const bool last = sums_got / 4 == *bad + 1;
        if (!last) return offset + start;
        return offset + start +
               BytesCovered(checksum, chunk, std::span(sums).subspan(*bad * 4).first<4>());
      }
    }
    offset += got;
    if (got < bytes.size()) return offset;
  }
}

}  // namespace

Result<std::unique_ptr<BlockStore>> BlockStore::Open(FileSystem& files, const Options& options) {
  std::unique_ptr<BlockStore> store(new BlockStore());
  store->hung_disk_after_ = options.hung_disk_after;
  for (std::size_t i = 0; i < options.directories.size(); ++i) {
    const auto& directory = options.directories[i];
    const auto type = i < options.types.size() ? options.types[i] : StorageType::kDisk;
    auto disk = Disk::Open(files, directory, options.reserved_bytes);
    if (disk) {
      (*disk)->SetSlowAfter(options.slow_disk_after);
      (*disk)->LimitCalls(options.calls);
      (*disk)->SetType(type);
      store->disks_.push_back(std::move(disk).value());
      continue;
    }
    // An I/O error means a failed disk. Any other error is a mistake of the operator.
    const auto code = disk.error().code;
    if (code == ErrorCode::kCorrupt || IsShortage(code)) {
      return std::unexpected(std::move(disk).error());
    }
    spdlog::error("disk {} has failed: {}", directory, disk.error().message);
    DiskStatus status;
    status.directory = directory;
    status.type = type;
    status.failed = true;
    status.failure = disk.error().message;
    status.failed_at_millis =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                       std::chrono::system_clock::now().time_since_epoch())
                                       .count());
    store->unopened_.push_back(std::move(status));
  }
  if (store->disks_.empty()) {
    return Fail(
        ErrorCode::kIo,
        fmt::format("none of the {} data directories can be used ({}); give a directory that "
                    "can be read and written",
                    options.directories.size(),
                    store->unopened_.empty() ? "none given" : store->unopened_.front().failure));
  }
  EBB_TRY(store->AgreeOnServerUuid());
  store->CountSharers(files, options.disks_per_file_system);
  return store;
}

void BlockStore::CountSharers(FileSystem& files, std::uint32_t disks_per_file_system) {
  std::map<std::uint64_t, std::vector<Disk*>> by_file_system;
  for (const auto& disk : disks_) {
    disk->SetSharers(std::max<std::uint32_t>(disks_per_file_system, 1));
    if (const auto id = files.FileSystemId(disk->directory())) {
      by_file_system[*id].push_back(disk.get());
    }
  }
  for (const auto& [id, disks] : by_file_system) {
    const auto own = static_cast<std::uint32_t>(disks.size());
    for (Disk* disk : disks) disk->SetSharers(std::max(disks_per_file_system, own));
  }
}

Status BlockStore::AgreeOnServerUuid() {
  const Disk* first = nullptr;
  std::map<std::string, std::string> seen;
  for (const auto& disk : disks_) {
    const auto& identity = disk->identity();
    if (identity.server_uuid.empty()) continue;
    if (first == nullptr) first = disk.get();
    if (identity.server_uuid != first->identity().server_uuid) {
      return Fail(
          ErrorCode::kInvalid,
          fmt::format("{} belongs to server {} and {} to server {}; give directories of one "
                      "server only",
                      first->directory(), first->identity().server_uuid, disk->directory(),
                      identity.server_uuid));
    }
    const auto [it, fresh] = seen.try_emplace(identity.storage_uuid, disk->directory());
    if (!fresh) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("{} and {} are both storage {}; one is a copy: remove it", it->second,
                              disk->directory(), identity.storage_uuid));
    }
  }
  server_uuid_ = first != nullptr ? first->identity().server_uuid : NewUuid();
  return {};
}

Status BlockStore::Attach(const std::string& cluster_id, const std::string& block_pool_id,
                          std::uint32_t namespace_id) {
  for (const auto& disk : disks_) {
    const auto& identity = disk->identity();
    if (identity.cluster_id.empty()) continue;
    if (identity.cluster_id != cluster_id || identity.namespace_id != namespace_id ||
        identity.block_pool_id != block_pool_id) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("{} belongs to cluster {} (namespace {}, pool {}) and the namenode "
                              "to cluster {} (namespace {}, pool {}); give another --data or "
                              "--namenode",
                              disk->directory(), identity.cluster_id, identity.namespace_id,
                              identity.block_pool_id, cluster_id, namespace_id, block_pool_id));
    }
  }
  cluster_id_ = cluster_id;
  block_pool_id_ = block_pool_id;
  for (const auto& disk : disks_) {
    if (!disk->identity().cluster_id.empty()) continue;
    const auto claimed =
        disk->Claim({"DS-" + NewUuid(), server_uuid_, cluster_id, block_pool_id, namespace_id});
    if (!claimed) FailDisk(*disk, claimed.error().message);
  }
  for (const auto& disk : disks_) StartScan(*disk);
  AwaitFirstScans();
  if (std::ranges::all_of(disks_, [](const auto& disk) { return disk->failed(); })) {
    return Fail(ErrorCode::kIo, fmt::format("all {} disks have failed ({}); replace them",
                                            disks_.size(), disks_.front()->GetStatus().failure));
  }
  {
    const std::lock_guard lock(mutex_);
    ready_ = true;
  }
  became_ready_.notify_all();
  return {};
}

void BlockStore::StartScan(Disk& disk) {
  if (disk.failed()) return;
  disk.NoteScanStep();
  scans_.emplace_back([this, &disk] {
    if (auto scanned = ScanDisk(disk); !scanned) FailDisk(disk, scanned.error().message);
    bool late;
    {
      const std::lock_guard lock(mutex_);
      disk.EndScan();
      late = ready_;
    }
    scan_ended_.notify_all();
    if (!late || disk.failed()) return;
    spdlog::info("disk {} answers again and is scanned", disk.directory());
    if (listener_ != nullptr) listener_->OnDiskScanned(disk.GetStatus());
  });
}

void BlockStore::AwaitFirstScans() {
  std::unique_lock lock(mutex_);
  for (;;) {
    bool one = false;
    bool all = true;
    for (const auto& disk : disks_) {
      if (disk->failed()) continue;
      one = one || disk->scanned();
      all = all && (disk->scanned() || disk->scan_stalls());
    }
    const bool none = std::ranges::all_of(disks_, [](const auto& disk) { return disk->failed(); });
    if (none || (one && all)) break;
    scan_ended_.wait_for(lock, kScanPollInterval);
    lock.unlock();
    DropHungDisks();
    lock.lock();
  }
  for (const auto& disk : disks_) {
    if (disk->failed() || disk->scanned()) continue;
    spdlog::error("disk {} does not answer; this server starts without its blocks for now",
                  disk->directory());
  }
}

void BlockStore::AwaitScans() { scans_.clear(); }

Status BlockStore::ScanDisk(Disk& disk) {
  auto& files = disk.files();
  const std::string temporary = disk.Folder(format::kTemporary);
  EBB_ASSIGN(const auto leftovers, files.List(temporary));
  for (const auto& entry : leftovers) EBB_TRY(files.Remove(temporary + "/" + entry.name));
  // Before the finalized blocks: this may finalize a block, if a crash came between two renames.
  EBB_TRY(ScanBeingWritten(disk));
  const std::string root = disk.Folder(format::kFinalized);
  EBB_ASSIGN(const auto folders, files.List(root));
  for (const auto& folder : folders) {
    if (folder.directory) {
      EBB_TRY(ScanFinalized(disk, root + "/" + folder.name));
    } else {
      spdlog::warn("{}/{} is no file of a chunk server and is ignored; remove it", root,
                   folder.name);
    }
  }
  return {};
}

Status BlockStore::ScanFinalized(Disk& disk, const std::string& folder) {
  EBB_ASSIGN(const auto pieces, CollectPieces(disk, folder));
  for (const auto& [block_id, piece] : pieces) {
    const std::string path = folder + "/" + format::BlockFileName(block_id);
    if (!folder.ends_with("/" + format::SubdirectoryName(block_id))) {
      spdlog::warn("{} lies in the wrong folder and is ignored; remove it", path);
      continue;
    }
    if (!piece.length || piece.metas.empty()) {
      SetCorruptAside(
          disk, folder, block_id, piece,
          piece.length ? "it has no checksum file" : "it has a checksum file but no data");
      continue;
    }
    const auto& [stamp, meta_size] = *piece.metas.rbegin();
    format::Checksum checksum;
    std::string problem;
    if (meta_size != format::kMetaHeaderBytes + checksum.BytesFor(*piece.length)) {
      const auto header =
          ReadMetaHeader(disk.files(), folder + "/" + format::MetaFileName(block_id, stamp));
      if (!header) {
        problem = header.error().message;
      } else if (meta_size != format::kMetaHeaderBytes + header->BytesFor(*piece.length)) {
        problem = fmt::format("{} bytes of data do not match {} bytes of checksums", *piece.length,
                              meta_size);
      }
    }
    if (problem.empty()) {
      AddScanned(disk, block_id, stamp, *piece.length);
    } else {
      SetCorruptAside(disk, folder, block_id, piece, problem);
    }
  }
  return {};
}

void BlockStore::AddScanned(Disk& disk, std::uint64_t block_id, std::uint64_t stamp,
                            std::uint64_t length) {
  std::unique_lock lock(mutex_);
  if (disk.failed()) return;
  Replica replica{stamp, length, &disk, ReplicaState::kFinalized, 0, nullptr};
  const auto [it, fresh] = replicas_.try_emplace(block_id, replica);
  if (fresh) {
    disk.AddUsed(1, length);
    return;
  }
  const Replica known = it->second;
  // A writer came while this disk hung: what it writes is newer.
  if (known.in_pipeline && known.state != ReplicaState::kWaiting) return;
  const bool newer = std::pair(stamp, length) > std::pair(known.generation_stamp, known.length);
  // The namenode trusts a finalized replica that it knows; perhaps the newer stamp was never
  // committed. And no finalized replica is removed in favour of an unfinished one.
  if (newer ? !known.in_pipeline && ready_ : known.in_pipeline != nullptr) {
    lock.unlock();
    const std::string path = disk.BlockPath(format::kFinalized, block_id);
    SetDuplicateAside(disk, path.substr(0, path.rfind('/')), block_id, stamp,
                      known.disk->directory(), known.generation_stamp);
    return;
  }
  spdlog::warn(
      "block {} lies on {} with generation stamp {} and on {} with {}; the replica with the "
      "higher stamp, or else the longer one, is used and the other one is removed",
      block_id, known.disk->directory(), known.generation_stamp, disk.directory(), stamp);
  if (newer) {
    if (!known.in_pipeline) known.disk->SubtractUsed(1, known.length);
    it->second = replica;
    disk.AddUsed(1, length);
  }
  lock.unlock();
  if (newer) {
    RemoveDuplicate(*known.disk, known.in_pipeline ? format::kBeingWritten : format::kFinalized,
                    block_id, known.generation_stamp);
  } else {
    RemoveDuplicate(disk, format::kFinalized, block_id, stamp);
  }
}

Status BlockStore::ScanBeingWritten(Disk& disk) {
  auto& files = disk.files();
  const std::string folder = disk.Folder(format::kBeingWritten);
  EBB_ASSIGN(const auto pieces, CollectPieces(disk, folder));
  for (const auto& [block_id, piece] : pieces) {
    const std::string path = folder + "/" + format::BlockFileName(block_id);
    if (piece.length && piece.metas.empty()) {
      // A crash while the replica was finalized: the meta file was moved, the data file was not.
      const std::string target = disk.BlockPath(format::kFinalized, block_id);
      const auto parent = target.substr(0, target.rfind('/'));
      const auto there = CollectPieces(disk, parent);
      if (there && there->contains(block_id) && !there->at(block_id).metas.empty()) {
        spdlog::info("{} was being finalized when the process stopped; finalized it now", path);
        EBB_TRY(files.Rename(path, target));
      } else {
        spdlog::warn("{} has no checksum file and is removed", path);
        EBB_TRY(files.Remove(path));
      }
      continue;
    }
    const std::uint64_t stamp = piece.metas.rbegin()->first;
    const std::string meta_path = disk.MetaPath(format::kBeingWritten, block_id, stamp);
    const auto valid = piece.length ? ValidPrefix(disk, path, meta_path)
                                    : Result<std::uint64_t>(Fail(ErrorCode::kCorrupt, "no data"));
    if (!valid) {
      spdlog::warn("{} cannot be used and is removed: {}", path, valid.error().message);
      EBB_TRY(files.Remove(path));
      EBB_TRY(files.Remove(meta_path));
      continue;
    }
    auto in_pipeline =
        std::make_shared<ReplicaInPipeline>(disk, format::kBeingWritten, block_id, stamp);
    EBB_TRY(in_pipeline->OpenExisting(*valid));
    EBB_TRY(in_pipeline->data->Truncate(*valid));
    EBB_TRY(in_pipeline->meta->Truncate(format::kMetaHeaderBytes +
                                        in_pipeline->checksum.BytesFor(*valid)));
    std::unique_lock lock(mutex_);
    if (disk.failed()) return {};
    const auto known = replicas_.find(block_id);
    if (known != replicas_.end() && known->second.generation_stamp >= stamp) {
      spdlog::warn("{} is ignored: {} holds the block with generation stamp {}", path,
                   known->second.disk->directory(), known->second.generation_stamp);
      continue;
    }
    if (known != replicas_.end() && ready_ && known->second.state != ReplicaState::kWaiting) {
      const std::string known_directory = known->second.disk->directory();
      const std::uint64_t known_stamp = known->second.generation_stamp;
      lock.unlock();
      SetDuplicateAside(disk, folder, block_id, stamp, known_directory, known_stamp);
      continue;
    }
    if (known != replicas_.end() && !known->second.in_pipeline) {
      known->second.disk->SubtractUsed(1, known->second.length);
    }
    replicas_.insert_or_assign(
        block_id, Replica{stamp, *valid, &disk, ReplicaState::kWaiting, 0, std::move(in_pipeline)});
  }
  return {};
}

}  // namespace ebb
