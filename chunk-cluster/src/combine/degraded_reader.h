// Serves degraded reads: a client reads a block that this server does not hold, and the block is
// decoded from other blocks while it is read. The namenode plans which blocks (read_plan_client.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "combine/memory_budget.h"
#include "combine/read_plan_client.h"
#include "combine/slice_reader.h"
#include "common/thread_group.h"
#include "gf/backend.h"
#include "transfer/block_io.h"
#include "transfer/missing_block_reader.h"

namespace ebb {

struct DegradedReadOptions {
  // The uuid of this server. The namenode does not name it as a holder of the wanted block.
  std::string server_uuid;
  // The kernel that multiplies.
  gf::Backend backend = gf::DefaultBackend();
  std::size_t slice_bytes = std::size_t{64} << 10;
  std::size_t min_slice_bytes = std::size_t{4} << 10;
  // Buffers of one read, and of all reads together. Slices become shorter to stay below these
  // limits.
  std::size_t max_read_bytes = std::size_t{4} << 20;
  std::size_t max_process_bytes = std::size_t{32} << 20;
  std::size_t max_concurrent = 64;
  // How long a read waits for memory.
  Timeout busy_timeout = std::chrono::seconds(5);
  Timeout source_timeout = std::chrono::seconds(20);
  // Threads that read the sources of one block, at most one for each source. With one thread for
  // each, all network links are busy at the same time.
  std::size_t threads = 16;
  // A read fails after this many plans.
  std::size_t max_plans = 5;
  std::size_t max_sources = 255;
  // Lines for a log: of each source that failed, and of each read that began. Thread-safe.
  using Log = std::function<void(const std::string& line)>;
  Log log_failure = {};
  Log log_read = {};
};

// Thread-safe. If a source fails, at the beginning or in the middle, the reader asks for another
// plan without that source, and the read continues at the same offset.
class DegradedReader final : public MissingBlockReader {
 public:
  using Options = DegradedReadOptions;

  struct Counters {
    std::uint64_t reads = 0;
    std::uint64_t bytes = 0;
    // Source blocks that were read for them.
    std::uint64_t sources = 0;
  };

  // `io` and `plan_source` outlive the reader, and the reader outlives the blocks that it opens.
  DegradedReader(BlockIo& io, ReadPlanSource& plan_source, Options options);
  // Waits for threads that are still reading a source.
  ~DegradedReader() override;

  // Returns once a plan is found and the first slice is decoded. So a block that cannot be decoded
  // is an error here, and not in the middle of the read. kBusy if a limit is reached.
  [[nodiscard]] Result<MissingBlock> Open(const hadoop::hdfs::ExtendedBlockProto& block,
                                          std::uint64_t offset, std::uint64_t length) override;

  [[nodiscard]] Counters counters() const;
  [[nodiscard]] std::uint64_t bytes_held() const { return budget_.held(); }

 private:
  class DecodingSource;

  const Options options_;
  BlockIo& io_;
  ReadPlanSource& plan_source_;
  MemoryBudget budget_;
  std::atomic<std::size_t> open_ = 0;
  std::atomic<std::uint64_t> reads_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint64_t> sources_ = 0;
  // The last member, so that it is destroyed first: its threads use the other members.
  ThreadGroup group_;
};

}  // namespace ebb
