#include "server/disk_inspector.h"

#include <fmt/core.h>

#include "disk/composed_checksum.h"
#include "disk/verified_reader.h"

namespace ebb::server {

Result<ReplicaInfo> DiskInspector::FindFinalized(
    const hadoop::hdfs::ExtendedBlockProto& block) const {
  EBB_ASSIGN(auto found, store_.Locate(block.blockid()));
  if (found.state != ReplicaState::kFinalized ||
      found.generation_stamp != block.generationstamp()) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("block {} with generation stamp {} is not on this server",
                            block.blockid(), block.generationstamp()));
  }
  return found;
}

Result<StorageInspector::OpenBlock> DiskInspector::Open(
    const hadoop::hdfs::ExtendedBlockProto& block) {
  EBB_ASSIGN(const auto found, FindFinalized(block));
  EBB_ASSIGN(auto source, OpenVerifiedReader(store_, block.blockid(), block.generationstamp(),
                                             found.length_bytes, 0));
  return OpenBlock{std::move(source), found.length_bytes};
}

Status DiskInspector::Sync(const hadoop::hdfs::ExtendedBlockProto& block) {
  EBB_TRY(FindFinalized(block));
  return store_.Sync(block.blockid(), block.generationstamp());
}

namespace {

Result<StorageInspector::ChecksumFile> Compose(const ReplicaReader& replica,
                                               std::uint64_t piece_bytes) {
  StorageInspector::ChecksumFile file{.length_bytes = replica.length()};
  if (piece_bytes > 0) {
    EBB_ASSIGN(auto pieces, ComposePieceCrc32cs(replica, piece_bytes));
    if (!pieces) return file;
    file.pieces = std::move(*pieces);
  }
  EBB_ASSIGN(file.crc32c, ComposeCrc32c(replica));
  return file;
}

}  // namespace

Result<StorageInspector::ChecksumFile> DiskInspector::ReadChecksums(
    const hadoop::hdfs::ExtendedBlockProto& block, std::uint64_t piece_bytes) {
  EBB_TRY(FindFinalized(block));
  EBB_ASSIGN(const auto replica, store_.OpenReader(block.blockid(), block.generationstamp()));
  auto file = Compose(*replica, piece_bytes);
  if (!file) ReportBad(store_, *replica, file.error());
  return file;
}

namespace {

void AddScrub(const std::vector<ScrubStatus>& scrubs, ebbfs::DiskStatusProto& disk) {
  for (const auto& scrub : scrubs) {
    if (scrub.storage_uuid != disk.storageuuid()) continue;
    if (scrub.pass_started_millis != 0) disk.set_scrubstartedmillis(scrub.pass_started_millis);
    if (scrub.pass_ended_millis != 0) disk.set_scrubendedmillis(scrub.pass_ended_millis);
    disk.set_scrubbedbytes(scrub.pass_bytes);
    disk.set_scrubremainingbytes(scrub.remaining_bytes);
  }
}

}  // namespace

std::vector<ebbfs::DiskStatusProto> DiskInspector::Disks() {
  const auto scrubs = scrubber_.Status();
  std::vector<ebbfs::DiskStatusProto> disks;
  for (const auto& disk : store_.Disks()) {
    auto& status = disks.emplace_back();
    status.set_storageuuid(disk.storage_uuid);
    status.set_directory(disk.directory);
    status.set_failed(disk.failed);
    if (disk.failed) status.set_failure(disk.failure);
    status.set_blocks(disk.blocks);
    status.set_usedbytes(disk.used_bytes);
    status.set_freebytes(disk.remaining_bytes);
    AddScrub(scrubs, status);
  }
  return disks;
}

void DiskInspector::DescribeScrub(ebbfs::ChunkStatusResponseProto& status) {
  ScrubStatus sum;
  for (const auto& scrub : scrubber_.Status()) {
    sum.blocks += scrub.blocks;
    sum.bytes += scrub.bytes;
    sum.corrupt += scrub.corrupt;
    sum.missing += scrub.missing;
  }
  status.set_blocksscrubbed(sum.blocks);
  status.set_bytesscrubbed(sum.bytes);
  status.set_scrubcorruptfound(sum.corrupt);
  status.set_scrubmissingfound(sum.missing);
}

}  // namespace ebb::server
