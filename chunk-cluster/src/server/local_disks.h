// The disks of this process as ChunkProtocol sees them.
#pragma once

#include <vector>

#include "combine/local_blocks.h"
#include "disk/block_store.h"
#include "server/scrubber.h"

namespace ebb::server {

// Thread-safe. The store and the scrubber must outlive it.
class LocalDisks final : public LocalBlocks {
 public:
  LocalDisks(BlockStore& store, const Scrubber& scrubber) : store_(store), scrubber_(scrubber) {}

  [[nodiscard]] Result<OpenBlock> Open(const hadoop::hdfs::ExtendedBlockProto& block) override;
  [[nodiscard]] Result<ChecksumFile> ReadChecksums(
      const hadoop::hdfs::ExtendedBlockProto& block) override;
  [[nodiscard]] std::vector<ebbfs::DiskStatusProto> Disks() override;
  void DescribeScrub(ebbfs::ChunkStatusResponseProto& status) override;

 private:
  [[nodiscard]] Result<ReplicaInfo> FindFinalized(
      const hadoop::hdfs::ExtendedBlockProto& block) const;

  BlockStore& store_;
  const Scrubber& scrubber_;
};

}  // namespace ebb::server
