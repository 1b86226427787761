#include "server/local_disks.h"

#include <fmt/core.h>

#include "transfer/block_io.h"

namespace ebb::server {

Result<LocalBlocks::OpenBlock> LocalDisks::Open(const hadoop::hdfs::ExtendedBlockProto& block) {
  const auto found = store_.Find(block.blockid());
  if (!found || found->state != ReplicaState::kFinalized ||
      found->generation_stamp != block.generationstamp()) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("block {} with generation stamp {} is not on this server",
                            block.blockid(), block.generationstamp()));
  }
  EBB_ASSIGN(auto source, transfer::OpenLocalSource(store_, block.blockid(),
                                                    block.generationstamp(), found->length_bytes,
                                                    0));
  return OpenBlock{std::move(source), found->length_bytes};
}

std::vector<ebbfs::DiskStatusProto> LocalDisks::Disks() {
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
  }
  return disks;
}

}  // namespace ebb::server
