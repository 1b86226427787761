// Runs combines, each at most once at a time, within the memory and the threads of the process.
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "chunk.pb.h"
#include "combine/block_io.h"
#include "combine/combine_plan.h"
#include "combine/combine_run.h"
#include "combine/memory_budget.h"
#include "combine/threads.h"

namespace ebb {

struct CombineEngineOptions {
  CombineLimits limits;
  CombineRunOptions run;
  // Buffers of all combines together.
  std::size_t max_process_bytes = std::size_t{64} << 20;
  // How long a combine waits for memory before it is answered with COMBINE_BUSY.
  Timeout busy_timeout = std::chrono::seconds(10);
  // Requests inside the engine: running, waiting for memory, or waiting for one that runs.
  std::size_t max_requests = 16;
  // Successful answers that are kept for callers who did not get theirs.
  std::size_t remembered_answers = 1024;
};

// Thread-safe.
class CombineEngine {
 public:
  using Options = CombineEngineOptions;

  // `io` outlives the engine.
  CombineEngine(BlockIo& io, Options options);
  // Stops, and waits for threads that are still in a source.
  ~CombineEngine();
  CombineEngine(const CombineEngine&) = delete;
  CombineEngine& operator=(const CombineEngine&) = delete;

  // Blocks until the combine has ended. A request with the id of one that runs gets that one's
  // answer; with the id of one that ended well not long ago, its answer again if the outputs are
  // still there (that of a check is never kept). The same id with another request is refused.
  [[nodiscard]] ebbfs::CombineResponseProto Combine(const ebbfs::CombineRequestProto& request);

  // Combines that run end with COMBINE_BUSY at their next slice, later ones at once.
  void Stop();

  [[nodiscard]] std::uint32_t running() const { return running_; }
  [[nodiscard]] std::uint64_t bytes_held() const { return budget_.held(); }

 private:
  struct Entry;
  using EntryPtr = std::shared_ptr<Entry>;

  [[nodiscard]] ebbfs::CombineResponseProto Execute(const ebbfs::CombineRequestProto& request);
  [[nodiscard]] ebbfs::CombineResponseProto Await(const EntryPtr& entry);
  [[nodiscard]] bool StillThere(const ebbfs::CombineRequestProto& request);
  void Forget(const std::string& id, const EntryPtr& entry);
  void Publish(const std::string& id, const EntryPtr& entry,
               const ebbfs::CombineResponseProto& response);

  const Options options_;
  BlockIo& io_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint32_t> running_ = 0;
  MemoryBudget budget_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t requests_ = 0;
  // Running, and ended well. `ended_` has the latter, the oldest first.
  std::map<std::string, EntryPtr> entries_;
  std::list<std::string> ended_;

  // The last member: its threads use the others.
  ThreadGroup group_;
};

}  // namespace ebb
