// BlockIo over the disks of this process and the transfer ports of its peers.
#pragma once

#include <memory>
#include <string>

#include "combine/block_io.h"
#include "disk/block_store.h"

namespace ebb::transfer {

// Thread-safe. The store must outlive it and everything it opens.
class ClusterBlockIo final : public BlockIo {
 public:
  explicit ClusterBlockIo(BlockStore& store) : store_(store) {}

  // A source that fails in the middle goes on at the next of its locations.
  [[nodiscard]] Result<std::unique_ptr<BlockSource>> OpenSource(const ebbfs::SourceProto& source,
                                                                std::uint64_t offset,
                                                                std::uint64_t end) override;
  [[nodiscard]] Result<std::unique_ptr<BlockSink>> OpenSink(
      const ebbfs::TargetProto& target) override;

 private:
  BlockStore& store_;
};

// Reads a block of this process from `offset` to `length`, which must be that of the replica.
[[nodiscard]] Result<std::unique_ptr<BlockSource>> OpenLocalSource(BlockStore& store,
                                                                   std::uint64_t block_id,
                                                                   std::uint64_t generation_stamp,
                                                                   std::uint64_t length,
                                                                   std::uint64_t offset);

}  // namespace ebb::transfer
