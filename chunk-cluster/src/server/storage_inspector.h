// The seam between ChunkProtocol and the disks of this server: everything that is read for verify
// and status.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chunk.pb.h"
#include "common/error.h"
#include "transfer/block_io.h"

namespace ebb {

// Thread-safe.
class StorageInspector {
 public:
  virtual ~StorageInspector() = default;

  // kNotReady until the blocks of this server are known. The other calls need that.
  [[nodiscard]] virtual Status CheckReady() const = 0;

  struct OpenBlock {
    // Reads from the first byte on, and verifies checksums.
    std::unique_ptr<BlockSource> source;
    std::uint64_t length_bytes = 0;
  };
  // Opens the finalized block with this id and generation stamp. kNotFound if it is not here,
  // kCannotTell if it may lie on a disk that has failed.
  [[nodiscard]] virtual Result<OpenBlock> Open(const hadoop::hdfs::ExtendedBlockProto& block) = 0;

  // Makes such a block durable.
  [[nodiscard]] virtual Status Sync(const hadoop::hdfs::ExtendedBlockProto& block) = 0;

  struct ChecksumFile {
    std::uint64_t length_bytes = 0;
    // The checksum of the whole block, composed of the checksums in the file. Empty if they are not
    // CRC32C.
    std::optional<std::uint32_t> crc32c = {};
    // Those of pieces of the block, if they were asked for and crc32c is not empty.
    std::vector<std::uint32_t> pieces = {};
  };
  // Reads the checksum file of such a block, and no data. `piece_bytes`, unless it is 0, asks for the
  // checksums of pieces. If the file does not tell them, crc32c is empty.
  [[nodiscard]] virtual Result<ChecksumFile> ReadChecksums(
      const hadoop::hdfs::ExtendedBlockProto& block, std::uint64_t piece_bytes) = 0;
  [[nodiscard]] virtual std::vector<ebbfs::DiskStatusProto> Disks() = 0;
  // Adds the counts of the block scrub.
  virtual void DescribeScrub(ebbfs::ChunkStatusResponseProto& status) = 0;
};

}  // namespace ebb
