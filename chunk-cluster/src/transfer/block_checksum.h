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

// The chunk checksums, of the kind `checksum`, of the first block.numBytes bytes of a block that is
// read through `missing`.
[[nodiscard]] Result<ChunkChecksums> DecodeChecksums(MissingBlockReader& missing,
                                                     const hadoop::hdfs::ExtendedBlockProto& block,
                                                     const format::Checksum& checksum);

// The checksum of A followed by B, which has `length_b` bytes, by the checksums of both.
[[nodiscard]] std::uint32_t ConcatChecksums(format::ChecksumType type, std::uint32_t a,
                                            std::uint32_t b, std::uint64_t length_b);

// Fills in the MD5 of the chunk checksums, or CRCs composed of them: one for the block, or, with a
// stripe length, one for each stripe. kUnsupported for another kind.
[[nodiscard]] Status FillChecksumResponse(const ChunkChecksums& sums,
                                          const hadoop::hdfs::BlockChecksumOptionsProto& options,
                                          hadoop::hdfs::OpBlockChecksumResponseProto& response);

}  // namespace ebb::transfer
