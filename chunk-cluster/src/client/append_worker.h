// The thread of a writer of records.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

#include "append.pb.h"
#include "client/append_deadline.h"
#include "client/append_options.h"
#include "client/lane_files.h"
#include "client/lane_finder.h"
#include "client/lane_ledger.h"
#include "client/pending_batches.h"
#include "common/error.h"
#include "transfer/ledger_entry.h"

namespace ebb::client {

// Sends the batches of a writer to a lane, and goes on in the next lane when the lane ends. All
// batches in a finished lane were answered, so that its writers go on at once, and the creator of
// the next lane of the slot seals the finished one. After a broken lane a batch without an answer
// goes to the next lane only when the broken lane is sealed and its ledger was asked, so that no
// record is in the file twice.
//
// The members are of the worker's thread.
class AppendWorker {
 public:
  // `batches` outlives the worker.
  AppendWorker(LaneFiles files, const AppendOptions& options, PendingBatches& batches);
  // The batches must be closed, or have failed.
  ~AppendWorker();
  AppendWorker(const AppendWorker&) = delete;
  AppendWorker& operator=(const AppendWorker&) = delete;

  // Throws std::system_error if the process is out of threads.
  void Start();
  // Waits until all batches are stored or have failed, and the lane is left. One thread at a time.
  void Join();

 private:
  template <typename T>
  using Attempt = std::function<Result<T>(const AppendDeadline&)>;

  void Run();
  [[nodiscard]] Status SendAll();
  // Leaves a lane that has ended, and sends what waits.
  [[nodiscard]] Status Step();
  void Send();
  [[nodiscard]] Status JoinLane();
  // Seals the lane that this writer has left: no other writer may open the next lane of its slot.
  [[nodiscard]] Status SealLeft();
  // Seals the older lanes of the slot if this writer has created the lane that it has joined.
  [[nodiscard]] Status SealOlder();
  // The batches without an answer are not in the finished lane, and go to the next one.
  void GoOn(const ebbfs::BatchAnswerProto& end);
  // The lane has ended: seals it, and asks its ledger for the batches without an answer.
  [[nodiscard]] Status Settle(const ebbfs::BatchAnswerProto& end);
  // Goes on in the lane whose connection was lost while no batch was under way, for example because
  // this writer was quiet for long. False if the lane has ended.
  [[nodiscard]] bool Rejoin();
  [[nodiscard]] Status CompleteThoseIn(const LaneLedger& ledger, std::uint64_t sealed_bytes);
  // All is stored: the lane is finished and sealed unless others use it.
  [[nodiscard]] Status Leave();
  // Repeats what fails until the patience of the writer ends.
  template <typename T>
  [[nodiscard]] Result<T> Patiently(const Attempt<T>& attempt);

  const LaneFiles files_;
  const transfer::WriterId writer_;
  const AppendOptions options_;
  PendingBatches& batches_;
  LaneFinder finder_;
  // The lane in use, or the lane that has ended and is not settled.
  std::optional<JoinedLane> joined_;
  // The finished lane that this writer has left, as long as it has joined no other lane.
  std::optional<FinishedLane> left_;
  // The last member: the thread uses the others.
  std::thread thread_;
};

}  // namespace ebb::client
