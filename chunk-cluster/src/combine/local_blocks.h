// The seam between ChunkProtocol and the disks of this server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

  struct ChecksumFile {
    std::uint64_t length_bytes = 0;
    // Of the whole block, composed of the checksums in the file; nothing if they are not CRC32C.
    std::optional<std::uint32_t> crc32c = {};
  };
  // Reads the checksum file of such a block and none of its data.
  [[nodiscard]] virtual Result<ChecksumFile> ReadChecksums(
      const hadoop::hdfs::ExtendedBlockProto& block) = 0;
  [[nodiscard]] virtual std::vector<ebbfs::DiskStatusProto> Disks() = 0;
  // Adds the counts of the scrub.
  virtual void DescribeScrub(ebbfs::ChunkStatusResponseProto& status) = 0;
};

}  // namespace ebb
