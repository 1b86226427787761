// Executes one combine, from its first byte to its last.
#pragma once

#include <atomic>

#include "chunk.pb.h"
#include "combine/checked_combine.h"
#include "combine/memory_budget.h"
#include "common/thread_group.h"
#include "transfer/block_io.h"

namespace ebb {

struct CombineExecutorOptions {
  // Threads that read sources, and threads that open and finish targets.
  std::size_t threads = 8;
  Timeout source_timeout = std::chrono::seconds(60);
};

// What an execution needs besides the request. All members outlive the threads of `group`.
struct CombineContext {
  BlockIo& io;
  ThreadGroup& group;
  const std::atomic<bool>& stopping;
  CombineExecutorOptions options;
};

// Reads the sources and writes the targets. A check writes no targets. Each slice of the outputs
// passes the outputCheck, if there is one, before any byte of it is written. A failure before the
// first target is finished leaves no trace of any target. If finishing one target fails, other
// targets may exist already: the namenode learns of them by block reports and removes them. `lease`
// covers plan.memory_bytes.
[[nodiscard]] ebbfs::CombineResponseProto ExecuteCombine(const CombineContext& context,
                                                         const ebbfs::CombineRequestProto& request,
                                                         const CheckedCombine& plan,
                                                         MemoryBudget::Lease lease);

// The message of a failed source or target. It begins with a word for the kind of failure, for
// example "CORRUPT: ...". docs/protocols.md lists the words.
[[nodiscard]] std::string DescribeFailure(const Error& error);

}  // namespace ebb
