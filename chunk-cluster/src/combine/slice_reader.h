// Reads many sources in parallel, slice by slice. The reader is one slice ahead of its user.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <vector>

#include "combine/memory_budget.h"
#include "common/thread_group.h"
#include "transfer/block_io.h"

namespace ebb {

struct SourceFailure {
  // Index into the sources.
  std::size_t index;
  Error error;
};
using SourceFailures = std::vector<SourceFailure>;

// Blocks and bytes read so far.
struct ReadCounts {
  std::uint32_t blocks = 0;
  std::uint64_t bytes_local = 0;
  std::uint64_t bytes_remote = 0;
};

struct SliceReaderOptions {
  std::size_t slice_bytes = std::size_t{128} << 10;
  // Threads that read. Each of them reads some of the sources.
  std::size_t threads = 8;
  // If no source makes progress for this time, all sources with a pending read have failed.
  Timeout source_timeout = std::chrono::seconds(60);
};

// One thread uses it, and threads of `group` do the reading. The reader can be destroyed while a
// thread is stuck in a source. The buffers and the lease on their memory then live until that
// thread returns.
class SliceReader {
 public:
  using Options = SliceReaderOptions;

  // Slices in memory for each source: one in use, and one that is being filled.
  static constexpr std::size_t kDepth = 2;
  [[nodiscard]] static std::size_t MemoryBytes(std::size_t sources, std::size_t slice_bytes) {
    return sources * slice_bytes * kDepth;
  }

  // Reads what the sources have of [offset, end) of the sum: these bytes of a source, or those of its
  // cells. Zeros follow the end of a source, and are between its cells. A source that has none of
  // these bytes is not opened. `lease` covers MemoryBytes. `io` and `group` outlive the threads.
  SliceReader(BlockIo& io, ThreadGroup& group, std::vector<ebbfs::SourceProto> sources,
              std::uint64_t offset, std::uint64_t end, const Options& options,
              MemoryBudget::Lease lease);
  // Does not wait for the threads.
  ~SliceReader();
  SliceReader(const SliceReader&) = delete;
  SliceReader& operator=(const SliceReader&) = delete;

  // The next slice of every source, in the order of the sources. Each slice has slice_bytes; the
  // last one may be shorter. The previous slice becomes invalid. Must not be called after a failure
  // or after the end.
  [[nodiscard]] std::expected<std::span<const std::byte* const>, SourceFailures> Next();

  [[nodiscard]] ReadCounts counts() const;

 private:
  class Shared;
  std::shared_ptr<Shared> shared_;
  std::uint64_t next_slice_ = 0;
};

}  // namespace ebb
