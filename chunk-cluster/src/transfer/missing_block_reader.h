// The seam through which the transfer server serves blocks that this server does not hold. Degraded
// reads implement it: combine/degraded_reader.h.
#pragma once

#include <cstdint>
#include <memory>

#include "common/block_stream.h"
#include "common/error.h"
#include "hdfs.pb.h"

namespace ebb {

struct MissingBlock {
  // The next byte of the source is the one at the requested offset.
  std::unique_ptr<BlockSource> source;
  // The length of the whole block.
  std::uint64_t length_bytes = 0;
};

// Thread-safe. The thread of the reading connection calls it.
class MissingBlockReader {
 public:
  virtual ~MissingBlockReader() = default;
  // `offset` is a multiple of 512 bytes. The caller reads from `offset` to `offset + length` or to
  // the end of the block, whichever comes first. kNotFound if the namenode does not know the block.
  [[nodiscard]] virtual Result<MissingBlock> Open(const hadoop::hdfs::ExtendedBlockProto& block,
                                                  std::uint64_t offset, std::uint64_t length) = 0;
};

}  // namespace ebb
