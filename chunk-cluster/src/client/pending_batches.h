// The records of a writer that are not stored yet.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "client/completion_queue.h"
#include "client/record_batch.h"
#include "common/error.h"

namespace ebb::client {

// The batches of a writer in order: first the sent batches, then the batches that wait. Thread-safe.
// While an answer is awaited, records gather until a batch is full: a batch for each
// record would cost a message and an answer each.
class PendingBatches {
 public:
  // `completions` outlives the batches. `most_bytes` bounds what all of them hold.
  PendingBatches(std::size_t batch_bytes, std::size_t most_bytes, CompletionQueue& completions)
      : batch_bytes_(batch_bytes), most_bytes_(most_bytes), completions_(completions) {}

  // Waits while too many bytes are not stored. The error of Fail(), or kInvalid after Close().
  [[nodiscard]] Status Add(std::span<const std::byte> record, Completion completion);
  // Waits until all records that were added before are stored.
  [[nodiscard]] Status Flush();
  // No record is taken any more.
  void Close();
  // The error of Fail(), if it was called.
  [[nodiscard]] Status failure();

  // Makes AwaitWork() return.
  void Wake();
  // Waits until a batch is to be sent, the writer has closed and all is stored, or somebody wakes.
  void AwaitWork();
  // The writer has closed, and all is stored.
  [[nodiscard]] bool IsDone();
  // Whether there are batches that are not stored.
  [[nodiscard]] bool HasPending();
  // Whether a batch is to be sent now: a full one, or any if no answer is awaited.
  [[nodiscard]] bool IsReady();
  // The batch that is to be sent now, or null. The batch counts as sent from now on.
  [[nodiscard]] std::shared_ptr<const RecordBatch> Send();
  // The oldest batch that was sent is stored. kNetwork if another one is the oldest.
  [[nodiscard]] Status Stored(std::uint64_t first_record);
  // The first record of the oldest batch that was sent and has no answer.
  [[nodiscard]] std::optional<std::uint64_t> OldestSent();
  // All batches without an answer are to be sent again.
  void SendAgain();
  // All records that are not stored fail, now and later.
  void Fail(const Error& why);

 private:
  using Batches = std::deque<std::shared_ptr<RecordBatch>>;

  // These need the lock.
  [[nodiscard]] bool Ready() const;
  [[nodiscard]] bool Done() const { return closed_ && sent_.empty() && waiting_.empty(); }
  [[nodiscard]] std::uint64_t FirstPending() const;
  [[nodiscard]] Status Failure() const;

  void Complete(RecordBatch& batch, const Status& stored);

  const std::size_t batch_bytes_;
  const std::size_t most_bytes_;
  CompletionQueue& completions_;

  std::mutex mutex_;
  std::condition_variable changed_;
  Batches sent_;
  Batches waiting_;
  std::uint64_t next_record_ = 0;
  std::size_t held_bytes_ = 0;
  bool closed_ = false;
  bool woken_ = false;
  std::optional<Error> failure_;
};

}  // namespace ebb::client
