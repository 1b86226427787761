// Streams of the bytes of one block: a source to read from, a sink to write to.
#pragma once

#include <cstddef>
#include <span>

#include "common/error.h"

namespace ebb {

// Reads the bytes of one block in order, and verifies their checksums. One thread at a time.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  // Fills all of `out` with the next bytes. The caller must not read beyond the end of the block.
  // kCorrupt if the bytes contradict their checksums.
  [[nodiscard]] virtual Status Read(std::span<std::byte> out) = 0;
  // True if the bytes come from a disk of this server.
  [[nodiscard]] virtual bool local() const = 0;
};

// Writes the bytes of one new block in order. One thread at a time. If a sink is destroyed before
// Finish, no trace of the block remains, neither here nor at the peer.
class BlockSink {
 public:
  virtual ~BlockSink() = default;
  [[nodiscard]] virtual Status Write(std::span<const std::byte> data) = 0;
  // Returns once the block is finalized and synced, with its checksums.
  [[nodiscard]] virtual Status Finish() = 0;
  [[nodiscard]] virtual bool local() const = 0;
};

}  // namespace ebb
