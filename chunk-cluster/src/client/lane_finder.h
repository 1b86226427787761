// Finds the lane to which a writer sends its records.
#pragma once

#include <optional>

#include "append.pb.h"
#include "client/append_deadline.h"
#include "client/append_options.h"
#include "client/lane_connection.h"
#include "client/lane_creator.h"
#include "client/lane_files.h"
#include "client/lane_name.h"
#include "client/lane_sealer.h"
#include "client/pending_batches.h"
#include "common/error.h"
#include "transfer/ledger_entry.h"

namespace ebb::client {

// A lane that its leader has finished, with the answer that tells its lengths.
struct FinishedLane {
  LaneName name;
  ebbfs::LaneProto lane;
  ebbfs::BatchAnswerProto answer;
};

// Joins a writer to the lane of a slot: the newest lane if it takes records, or else a new one.
// Seals lanes in the order of their generations, so that the records of a writer keep their order.
// One thread at a time.
class LaneFinder {
 public:
  // `files` outlives the finder.
  LaneFinder(const LaneFiles& files, const AppendOptions& options)
      : files_(files),
        sealer_(files),
        lanes_(options.lanes),
        creator_(files, options) {}

  // Joins the lane of the slot, or of another slot if too many writers use the lane. `finished` is
  // the lane that the writer comes from, which takes no records any more.
  [[nodiscard]] Result<JoinedLane> Join(int slot, const transfer::WriterId& writer,
                                        PendingBatches& batches,
                                        const std::optional<FinishedLane>& finished,
                                        const AppendDeadline& deadline);

  // Seals the lane, and before it all older lanes of its slot: a writer goes on in the next lane
  // before the lane that is full is sealed. `finished` is the answer of the leader that has
  // finished the lane, if there is one. Returns the bytes of the block that are part of the file.
  [[nodiscard]] Result<std::uint64_t> Seal(const LaneName& name,
                                           const std::optional<ebbfs::LaneProto>& lane,
                                           const std::optional<ebbfs::BatchAnswerProto>& finished,
                                           const AppendDeadline& deadline) const;
  // Seals the lanes of the slot that are older than this one. `finished` is what the caller knows
  // of one of them.
  [[nodiscard]] Status SealOlder(const LaneName& newest,
                                 const std::optional<FinishedLane>& finished,
                                 const AppendDeadline& deadline) const;
  // Seals all lanes of the file. kInvalid if a block has no ledger.
  [[nodiscard]] Status SealAll(const AppendDeadline& deadline) const;

 private:
  // Waits until the creator of the lane has told it, and gives the lane up if that does not happen.
  [[nodiscard]] Result<std::optional<ebbfs::LaneProto>> AwaitLane(const LaneName& name) const;
  // Nothing if another writer has been faster.
  [[nodiscard]] LaneCreator::Created TryToJoin(int slot, const transfer::WriterId& writer,
                                               PendingBatches& batches,
                                               const std::optional<FinishedLane>& finished);
  // Nothing if the lane takes no records any more.
  [[nodiscard]] LaneCreator::Created JoinOpen(const LaneName& name,
                                              const transfer::WriterId& writer,
                                              PendingBatches& batches) const;

  const LaneFiles& files_;
  const LaneSealer sealer_;
  const int lanes_;
  LaneCreator creator_;
};

}  // namespace ebb::client
