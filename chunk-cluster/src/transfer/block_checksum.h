// The checksum of a block as HDFS defines it, over the checksums of its chunks: the server side of
// OP_BLOCK_CHECKSUM.
#pragma once

#include <cstdint>
#include <vector>

#include "common/error.h"
#include "datatransfer.pb.h"
#include "disk/block_store.h"
#include "transfer/missing_block_reader.h"

namespace ebb::transfer {

struct ChunkChecksums {
  format::Checksum checksum;
  std::uint64_t length_bytes = 0;
  // One checksum for each chunk, big endian.
  std::vector<std::byte> sums;
};

// The chunk checksums of the first block.numBytes bytes. A block that this server does not hold is
// read through `missing`.
[[nodiscard]] Result<ChunkChecksums> CollectChecksums(
    BlockStore& store, MissingBlockReader* missing, const hadoop::hdfs::ExtendedBlockProto& block);

// Fills in the MD5 of the chunk checksums, or one CRC composed of them. kUnsupported for another
// kind.
[[nodiscard]] Status FillChecksumResponse(const ChunkChecksums& sums,
                                          const hadoop::hdfs::BlockChecksumOptionsProto& options,
                                          hadoop::hdfs::OpBlockChecksumResponseProto& response);

}  // namespace ebb::transfer
