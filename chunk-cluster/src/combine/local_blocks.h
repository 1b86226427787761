// The seam between ChunkProtocol and the disks of this server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chunk.pb.h"
#include "combine/block_io.h"
#include "common/error.h"

namespace ebb {

// Thread-safe.
class LocalBlocks {
 public:
  virtual ~LocalBlocks() = default;

  struct OpenBlock {
    // From the first byte on, off the disk, checked against its checksums.
    std::unique_ptr<BlockSource> source;
    std::uint64_t length_bytes = 0;
  };
  // A finalized block with this id and generation stamp. kNotFound if there is none here.
  [[nodiscard]] virtual Result<OpenBlock> Open(const hadoop::hdfs::ExtendedBlockProto& block) = 0;
  [[nodiscard]] virtual std::vector<ebbfs::DiskStatusProto> Disks() = 0;
};

}  // namespace ebb
