// Runs combines within the memory and the threads of the process. A combine id runs at most once at
// a time. combine_executor.h does the work of one combine.
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
#include "combine/checked_combine.h"
#include "combine/combine_executor.h"
#include "combine/memory_budget.h"
#include "common/thread_group.h"
#include "transfer/block_io.h"

namespace ebb {

struct CombineEngineOptions {
  CombineLimits limits;
  CombineExecutorOptions run;
  // Buffers of all combines together.
  std::size_t max_process_bytes = std::size_t{64} << 20;
  // How long a combine waits for memory before it is answered with COMBINE_BUSY.
  Timeout busy_timeout = std::chrono::seconds(10);
  // Requests inside the engine: running, waiting for memory, or waiting for the answer of a running
  // combine.
  std::size_t max_requests = 16;
  // Successful answers that are kept for callers whose answer was lost.
  std::size_t remembered_answers = 1024;
};

// Thread-safe.
class CombineEngine {
 public:
  using Options = CombineEngineOptions;

  // `io` outlives the engine.
  CombineEngine(BlockIo& io, Options options);
  // Stops, and waits for threads that are still reading a source.
  ~CombineEngine();
  CombineEngine(const CombineEngine&) = delete;
  CombineEngine& operator=(const CombineEngine&) = delete;

  // Blocks until the combine has ended. A request with the id of a running combine waits for the
  // answer of that combine. A request with the id of a combine that succeeded recently gets the
  // same answer again, if the outputs still exist; answers of checks are not kept. A known id with
  // another request is refused.
  [[nodiscard]] ebbfs::CombineResponseProto Combine(const ebbfs::CombineRequestProto& request);

  // Running combines end with COMBINE_BUSY at their next slice. Later combines end at once.
  void Stop();

  [[nodiscard]] std::uint32_t running() const { return running_; }
  [[nodiscard]] std::uint64_t bytes_held() const { return budget_.held(); }
  // Bytes of sources that came from other servers, since the start of the process.
  [[nodiscard]] std::uint64_t bytes_received() const { return bytes_received_; }

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
  std::atomic<std::uint64_t> bytes_received_ = 0;
  MemoryBudget budget_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t requests_ = 0;
  // Running combines, and recent ones that succeeded. `ended_` holds the ids of the latter, the
  // oldest first.
  std::map<std::string, EntryPtr> entries_;
  std::list<std::string> ended_;

  // The last member, so that it is destroyed first: its threads use the other members.
  ThreadGroup group_;
};

}  // namespace ebb
