// Serves blocks that this server does not hold, by making them out of others while they are read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "combine/block_io.h"
#include "combine/memory_budget.h"
#include "combine/read_planner.h"
#include "combine/slice_reader.h"
#include "combine/threads.h"
#include "gf/backend.h"
#include "transfer/missing_block_reader.h"

namespace ebb {

struct DegradedReadOptions {
  // This server, so that the namenode does not name it as a source of the block.
  std::string server_uuid;
  // What multiplies.
  gf::Backend backend = gf::DefaultBackend();
  std::size_t slice_bytes = std::size_t{64} << 10;
  std::size_t min_slice_bytes = std::size_t{4} << 10;
  // Buffers of one read, and of all together. What does not fit gets shorter slices.
  std::size_t max_read_bytes = std::size_t{4} << 20;
  std::size_t max_process_bytes = std::size_t{32} << 20;
  std::size_t max_concurrent = 64;
  // How long a read waits for memory.
  Timeout busy_timeout = std::chrono::seconds(5);
  Timeout source_timeout = std::chrono::seconds(20);
  // Threads that read the sources of one block: one for each up to this, so that all links fill.
  std::size_t threads = 16;
  // Plans that are tried for one read before it fails.
  std::size_t max_plans = 5;
  std::size_t max_sources = 255;
};

// Thread-safe. A source that fails, before bytes were handed out or midway, is excluded by the next
// plan, and the read goes on at the same offset.
class DegradedReads final : public MissingBlockReader {
 public:
  using Options = DegradedReadOptions;

  struct Counters {
    std::uint64_t reads = 0;
    std::uint64_t bytes = 0;
    // Blocks fetched in order to serve them.
    std::uint64_t sources = 0;
  };

  // `io` and `planner` outlive it, and it outlives what it opens.
  DegradedReads(BlockIo& io, ReadPlanner& planner, Options options);
  // Waits for threads that are still in a source.
  ~DegradedReads() override;

  // Returns once a plan is found and its sources gave their first bytes, so that a block that
  // cannot be made is an error here rather than midway. kBusy if a limit is reached.
  [[nodiscard]] Result<MissingBlock> Open(const hadoop::hdfs::ExtendedBlockProto& block,
                                          std::uint64_t offset, std::uint64_t length) override;

  [[nodiscard]] Counters counters() const;
  [[nodiscard]] std::uint64_t bytes_held() const { return budget_.held(); }

 private:
  class DecodingSource;

  const Options options_;
  BlockIo& io_;
  ReadPlanner& planner_;
  MemoryBudget budget_;
  std::atomic<std::size_t> open_ = 0;
  std::atomic<std::uint64_t> reads_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint64_t> sources_ = 0;
  // The last member: its threads use the others.
  ThreadGroup group_;
};

}  // namespace ebb
