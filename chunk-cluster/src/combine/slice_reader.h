// Reads many sources side by side, slice by slice, a little ahead of who uses the slices.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <vector>

#include "combine/block_io.h"
#include "combine/memory_budget.h"
#include "combine/threads.h"

namespace ebb {

struct SourceFailure {
  // Index into the sources.
  std::size_t index;
  Error error;
};
using SourceFailures = std::vector<SourceFailure>;

// What the reading has cost so far.
struct ReadCounts {
  std::uint32_t blocks = 0;
  std::uint64_t bytes_local = 0;
  std::uint64_t bytes_remote = 0;
};

struct SliceReaderOptions {
  std::size_t slice_bytes = std::size_t{128} << 10;
  // Threads that read; each takes care of some of the sources.
  std::size_t threads = 8;
  // If no source at all makes progress for so long, those that are waited for have failed.
  Timeout source_timeout = std::chrono::seconds(60);
};

// One thread uses it; threads of `group` do the reading. A thread that is stuck in a source keeps
// the buffers, and the lease on their memory, for as long as it is; the reader itself can be left.
class SliceReader {
 public:
  using Options = SliceReaderOptions;

  // The slices held at once, of every source: one that is used, one that is being filled.
  static constexpr std::size_t kDepth = 2;
  [[nodiscard]] static std::size_t MemoryBytes(std::size_t sources, std::size_t slice_bytes) {
    return sources * slice_bytes * kDepth;
  }

  // Reads [offset, end) of every source. What lies beyond a source's own length is zeros; a source
  // that has nothing in the range is not even opened. `lease` covers MemoryBytes. `io` and `group`
  // outlive the threads.
  SliceReader(BlockIo& io, ThreadGroup& group, std::vector<ebbfs::SourceProto> sources,
              std::uint64_t offset, std::uint64_t end, const Options& options,
              MemoryBudget::Lease lease);
  // Does not wait for sources.
  ~SliceReader();
  SliceReader(const SliceReader&) = delete;
  SliceReader& operator=(const SliceReader&) = delete;

  // The next slice of every source, in their order: slice_bytes of each, but for the last slice.
  // The slice before is given back. After a failure, or after the end, it is not called again.
  [[nodiscard]] std::expected<std::span<const std::byte* const>, SourceFailures> Next();

  [[nodiscard]] ReadCounts counts() const;

 private:
  class Shared;
  std::shared_ptr<Shared> shared_;
  std::uint64_t next_slice_ = 0;
};

}  // namespace ebb
