// The seam between code that computes with blocks and the place of the blocks: a disk of this
// server, a peer, or memory in a test.
#pragma once

#include <cstdint>
#include <memory>

#include "chunk.pb.h"
#include "common/block_stream.h"
#include "common/error.h"

namespace ebb {

// Opens sources and sinks. Thread-safe.
class BlockIo {
 public:
  virtual ~BlockIo() = default;
  // Opens the bytes [offset, end) of the block. Tries the location on this server first, then the
  // other locations in their order. A peer sends only these bytes. Offsets that are multiples of
  // the checksum chunk are cheapest, but any offset works.
  [[nodiscard]] virtual Result<std::unique_ptr<BlockSource>> OpenSource(
      const ebbfs::SourceProto& source, std::uint64_t offset, std::uint64_t end) = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<BlockSink>> OpenSink(
      const ebbfs::TargetProto& target) = 0;
};

}  // namespace ebb
