// One combine from its first byte to its last.
#pragma once

#include <atomic>

#include "chunk.pb.h"
#include "combine/block_io.h"
#include "combine/combine_plan.h"
#include "combine/memory_budget.h"
#include "combine/threads.h"

namespace ebb {

struct CombineRunOptions {
  // Threads that read sources, and that open and finish targets.
  std::size_t threads = 8;
  Timeout source_timeout = std::chrono::seconds(60);
};

// What a run needs besides the request. All of it outlives `group`'s threads.
struct CombineContext {
  BlockIo& io;
  ThreadGroup& group;
  const std::atomic<bool>& stopping;
  CombineRunOptions options;
};

// Reads the sources, writes the targets (unless it is a check) and says how it went. Whatever fails before the first
// target is finished leaves no trace of any target. Where finishing one target fails, others may be
// finished already; the block report makes the namenode collect them. `lease` covers
// plan.memory_bytes.
[[nodiscard]] ebbfs::CombineResponseProto RunCombine(const CombineContext& context,
                                                     const ebbfs::CombineRequestProto& request,
                                                     const CombinePlan& plan,
                                                     MemoryBudget::Lease lease);

// The words that begin the message of a failure: "CORRUPT: ...". See docs/protocols.md.
[[nodiscard]] std::string DescribeFailure(const Error& error);

}  // namespace ebb
