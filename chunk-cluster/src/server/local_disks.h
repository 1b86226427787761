// The disks of this process as ChunkProtocol sees them.
#pragma once

#include <vector>

#include "combine/local_blocks.h"
#include "disk/block_store.h"

namespace ebb::server {

// Thread-safe. The store must outlive it.
class LocalDisks final : public LocalBlocks {
 public:
  explicit LocalDisks(BlockStore& store) : store_(store) {}

  [[nodiscard]] Result<OpenBlock> Open(const hadoop::hdfs::ExtendedBlockProto& block) override;
  [[nodiscard]] Result<ChecksumFile> ReadChecksums(
      const hadoop::hdfs::ExtendedBlockProto& block) override;
  [[nodiscard]] std::vector<ebbfs::DiskStatusProto> Disks() override;

 private:
  [[nodiscard]] Result<ReplicaInfo> FindFinalized(
      const hadoop::hdfs::ExtendedBlockProto& block) const;

  BlockStore& store_;
};

}  // namespace ebb::server
