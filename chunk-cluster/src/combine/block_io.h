// The seam between the combine engine and where blocks live: a local disk, a peer, or a test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "chunk.pb.h"
#include "common/error.h"

namespace ebb {

// Reads one block from its first byte to its last, verifying its checksums. One thread at a time.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  // Fills `out` with the next bytes, completely. The caller never asks beyond the block's length.
  // kCorrupt if the bytes contradict the block's checksums.
  [[nodiscard]] virtual Status Read(std::span<std::byte> out) = 0;
  // True if the bytes come from a disk of this process.
  [[nodiscard]] virtual bool local() const = 0;
};

// Writes one new block from its first byte to its last. One thread at a time. Destroying a sink
// that was not finished leaves no trace of the block, here or at the peer.
class BlockSink {
 public:
  virtual ~BlockSink() = default;
  [[nodiscard]] virtual Status Write(std::span<const std::byte> data) = 0;
  // Returns once the block is finalized, with checksums, and synced.
  [[nodiscard]] virtual Status Finish() = 0;
  [[nodiscard]] virtual bool local() const = 0;
};

// Opens sources and sinks. Thread-safe.
class BlockIo {
 public:
  virtual ~BlockIo() = default;
  // Tries the location in this process first, then the others in their order. The bytes
  // [offset, end) of the block can be read; a peer sends no more than those. Multiples of the
  // checksum chunk are cheapest; any offset works.
  [[nodiscard]] virtual Result<std::unique_ptr<BlockSource>> OpenSource(
      const ebbfs::SourceProto& source, std::uint64_t offset, std::uint64_t end) = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<BlockSink>> OpenSink(
      const ebbfs::TargetProto& target) = 0;
};

}  // namespace ebb
