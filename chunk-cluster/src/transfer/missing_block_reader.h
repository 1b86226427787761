// The seam through which the transfer server serves blocks that it does not hold.
#pragma once

#include <cstdint>
#include <memory>

#include "combine/block_io.h"
#include "common/error.h"
#include "hdfs.pb.h"

namespace ebb {

struct MissingBlock {
  // Its first byte is at the offset asked for.
  std::unique_ptr<BlockSource> source;
  // Of the whole block.
  std::uint64_t length_bytes = 0;
};

// Thread-safe; called by the thread of the connection that reads.
class MissingBlockReader {
 public:
  virtual ~MissingBlockReader() = default;
  // `offset` is a multiple of 512 bytes. The caller reads from there to `offset + length` or to the
  // end of the block, whichever comes first. kNotFound if nobody knows the block.
  [[nodiscard]] virtual Result<MissingBlock> Open(const hadoop::hdfs::ExtendedBlockProto& block,
                                                  std::uint64_t offset, std::uint64_t length) = 0;
};

}  // namespace ebb
