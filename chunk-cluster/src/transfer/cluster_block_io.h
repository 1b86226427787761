// The real BlockIo: the disks of this server and the transfer ports of its peers.
#pragma once

#include <memory>

#include "disk/block_store.h"
#include "transfer/block_io.h"
#include "transfer/peer_listener.h"

namespace ebb::transfer {

// Thread-safe. The store outlives the ClusterBlockIo and the sources and sinks that it opens.
class ClusterBlockIo final : public BlockIo {
 public:
  explicit ClusterBlockIo(BlockStore& store) : store_(store) {}

  // Not thread-safe: to be called before the first source is opened. The listener outlives all
  // sources.
  void SetListener(PeerListener* listener) { listener_ = listener; }

  // If a location fails in the middle, the source continues at the next location.
  [[nodiscard]] Result<std::unique_ptr<BlockSource>> OpenSource(const ebbfs::SourceProto& source,
                                                                std::uint64_t offset,
                                                                std::uint64_t end) override;
  [[nodiscard]] Result<std::unique_ptr<BlockSink>> OpenSink(
      const ebbfs::TargetProto& target) override;

 private:
  BlockStore& store_;
  PeerListener* listener_ = nullptr;
};

}  // namespace ebb::transfer
