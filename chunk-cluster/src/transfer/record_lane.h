// Lanes of record appends: open blocks to which many writers append whole records at once. This
// server leads a lane if it is the first server of the pipeline of the block.
// docs/record-append.md.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "append.pb.h"
#include "common/error.h"
#include "transfer/block_pipeline.h"
#include "transfer/ledger_entry.h"
#include "transfer/peer.h"

namespace ebb::transfer {

using ebbfs::BatchAnswerProto;
using ebbfs::LaneProto;

// Where the answers to the batches of one writer go. Thread-safe.
class LaneWriter {
 public:
  virtual ~LaneWriter() = default;
  // Sends the answer, or drops it if the writer is gone. Does not wait for the writer.
  virtual void Answer(const BatchAnswerProto& answer) = 0;
  // No other answer follows: the lane has ended.
  virtual void End() = 0;
};

// The most writers of a lane. Each one may have a batch under way that is not whole yet.
inline constexpr std::size_t kMaxLaneWriters = 256;

struct Batch {
  LedgerEntry entry;
  // Begins with the records.
  std::vector<std::byte> buffer;
  std::shared_ptr<LaneWriter> writer;

  [[nodiscard]] std::span<const std::byte> data() const {
    return std::span(buffer).first(entry.length_bytes);
  }
};

// One lane. Thread-safe. Two threads of its own: the first one writes entries into the ledger, the
// second one writes batches into the block. No byte of a batch goes out before its entry is at all
// servers of the ledger, so that a ledger knows all bytes of its block.
class RecordLane {
 public:
  using StartThread = std::function<std::thread(std::function<void()>)>;

  // Opens both pipelines. kBusy if the machine gives no threads. `start` starts a thread, or throws
  // as the constructor of a thread does.
  [[nodiscard]] static Result<std::shared_ptr<RecordLane>> Open(
      const LaneProto& lane, const Connect& connect,
      const StartThread& start = [](std::function<void()> body) {
        return std::thread(std::move(body));
      });
  // Breaks the lane unless it has ended.
  ~RecordLane();
  RecordLane(const RecordLane&) = delete;
  RecordLane& operator=(const RecordLane&) = delete;

  void Join(const std::shared_ptr<LaneWriter>& writer);
  void Leave(const std::shared_ptr<LaneWriter>& writer);
  // A buffer for the next batch, with the memory of a batch that is stored if there is one.
  [[nodiscard]] std::vector<std::byte> TakeBuffer();
  // Takes the batch, and answers it later. `batch.entry.end` need not be set. Waits while too many
  // bytes are under way. A batch that has no room finishes the lane.
  void Append(Batch batch);
  // Finishes the lane if all of its writers have asked for that, else answers IN_USE. A writer that
  // sends a batch later has not asked.
  void FinishIfUnshared(const std::shared_ptr<LaneWriter>& writer);
  // Ends the lane as broken. Writers must ask the ledger.
  void Break(const std::string& why);
  [[nodiscard]] bool ended() const;
  // True if no more writers are to join.
  [[nodiscard]] bool crowded() const;

 private:
  enum class State { kOpen, kFinishing, kFinished, kBroken };
  using Clock = std::chrono::steady_clock;
  using Group = std::vector<Batch>;

  RecordLane(const LaneProto& lane, std::unique_ptr<BlockPipeline> block,
             std::unique_ptr<BlockPipeline> ledger);
  [[nodiscard]] ebb::Status Start(const StartThread& start);
  // Runs one of the next two, and breaks the lane if there is no memory for it.
  void Run(void (RecordLane::*body)());
  void WriteLedger();
  void WriteBlock();
  // Waits until batches wait or the lane ends. Finishes a lane that is idle or old.
  void AwaitBatches(std::unique_lock<std::mutex>& lock);
  // The batches that wait, up to a limit. Empty when the lane has ended or all is written before
  // its end.
  [[nodiscard]] Group NextGroup();
  [[nodiscard]] Status WriteEntries(const Group& group);
  [[nodiscard]] Status WriteBatches(const Group& group);
  void Stored(Group& group);
  void Finished();
  [[nodiscard]] BatchAnswerProto EndAnswer() const;
  void TellEnd();

  const std::uint64_t capacity_;
  const std::chrono::milliseconds idle_;
  // Readers see the first batch after this time, whatever comes later.
  const std::optional<std::chrono::milliseconds> age_;
  const std::unique_ptr<BlockPipeline> block_;
  const std::unique_ptr<BlockPipeline> ledger_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kOpen;
  std::string why_;
  // The lengths with all batches that were taken.
  std::uint64_t block_end_ = 0;
  std::uint64_t ledger_end_ = 0;
  // When the first batch will have the age at which the lane is finished.
  Clock::time_point old_at_ = Clock::time_point::max();
  // Bytes of batches without an answer.
  std::size_t bytes_under_way_ = 0;
  // Buffers of stored batches. Fresh memory costs a page fault for each page.
  std::vector<std::vector<std::byte>> spare_;
  std::size_t spare_bytes_ = 0;
  std::deque<Batch> waiting_;
  // Batches whose entries are written.
  std::deque<Group> entered_;
  bool ledger_done_ = false;
  std::vector<std::shared_ptr<LaneWriter>> writers_;
  std::set<std::shared_ptr<LaneWriter>> asked_to_finish_;
  std::thread ledger_thread_;
  std::thread block_thread_;
};

// The lanes that this server leads, by the ids of their blocks. Thread-safe.
class RecordLanes {
 public:
  // `connect` connects to the first server of a pipeline.
  RecordLanes(std::size_t most, Connect connect) : most_(most), connect_(std::move(connect)) {}

  // The lane. If there is none, it is opened, or kNotFound if it is to be joined only. kBusy if
  // there are too many.
  [[nodiscard]] Result<std::shared_ptr<RecordLane>> Find(const LaneProto& lane, bool join_only);
  // Forgets lanes that have ended.
  void Sweep();
  void BreakAll(const std::string& why);
  [[nodiscard]] std::size_t size() const;

 private:
  struct Slot {
    std::mutex opening;
    std::shared_ptr<RecordLane> lane;
  };

  const std::size_t most_;
  const Connect connect_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Slot>> slots_;
};

}  // namespace ebb::transfer
