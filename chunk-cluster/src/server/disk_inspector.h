// The real StorageInspector: the block store and the scrubber of this server.
#pragma once

#include <vector>

#include "disk/block_store.h"
#include "server/scrubber.h"
#include "server/storage_inspector.h"

namespace ebb::server {

// Thread-safe. The store and the scrubber outlive it.
class DiskInspector final : public StorageInspector {
 public:
  DiskInspector(BlockStore& store, const Scrubber& scrubber) : store_(store), scrubber_(scrubber) {}

  [[nodiscard]] Status CheckReady() const override { return store_.CheckReady(); }
  [[nodiscard]] Result<OpenBlock> Open(const hadoop::hdfs::ExtendedBlockProto& block) override;
  [[nodiscard]] Status Sync(const hadoop::hdfs::ExtendedBlockProto& block) override;
  [[nodiscard]] Result<ChecksumFile> ReadChecksums(const hadoop::hdfs::ExtendedBlockProto& block,
                                                   std::uint64_t piece_bytes) override;
  [[nodiscard]] std::vector<ebbfs::DiskStatusProto> Disks() override;
  void DescribeScrub(ebbfs::ChunkStatusResponseProto& status) override;

 private:
  [[nodiscard]] Result<ReplicaInfo> FindFinalized(
      const hadoop::hdfs::ExtendedBlockProto& block) const;

  BlockStore& store_;
  const Scrubber& scrubber_;
};

}  // namespace ebb::server
