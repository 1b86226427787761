// Makes the block of a lane part of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "append.pb.h"
#include "client/append_deadline.h"
#include "client/lane_files.h"
#include "client/lane_ledger.h"
#include "client/lane_name.h"
#include "common/error.h"

namespace ebb::client {

// Makes the block of a lane final, cuts it after its last whole batch, and moves it to the end of
// the file. Each step may be repeated, and several writers may seal a lane at once: the names of a
// lane are not used again, and each step leads to the same result whoever does it. Thread-safe.
class LaneSealer {
 public:
  // `files` outlives the sealer.
  explicit LaneSealer(const LaneFiles& files) : files_(files) {}

  // Seals the lane unless it is sealed. `finished` is the answer of the leader that has finished
  // the lane, if there is one. Returns the bytes of the block that are part of the file.
  [[nodiscard]] Result<std::uint64_t> Seal(const LaneName& name,
                                           const std::optional<ebbfs::LaneProto>& lane,
                                           const std::optional<ebbfs::BatchAnswerProto>& finished,
                                           const AppendDeadline& deadline) const;

  // The ledger knows each byte of the block, since no byte is sent before its entry is everywhere.
  // kIo if the ledger knows less: the client has not read the whole ledger, or the ledger is
  // damaged.
  [[nodiscard]] static Status RefuseUnknownBytes(const LaneName& name, const LaneLedger& ledger,
                                                 std::uint64_t block_bytes);

 private:
  // Closes both files and tells how many bytes are sealed.
  [[nodiscard]] Status Close(const LaneName& name, const std::optional<ebbfs::LaneProto>& lane,
                             const std::optional<ebbfs::BatchAnswerProto>& finished,
                             const AppendDeadline& deadline) const;
  // Closes both files with the lengths that the leader tells: the leader has finished the lane, so
  // that all batches in the block are whole. False if recovery must close the files.
  [[nodiscard]] bool CompleteBoth(const LaneName& name, const ebbfs::LaneProto& lane,
                                  const ebbfs::BatchAnswerProto& finished) const;
  [[nodiscard]] Result<bool> Complete(const std::string& path, const ebbfs::OpenBlockProto& open,
                                      std::uint64_t bytes) const;
  // Waits until the file is closed, or gone.
  [[nodiscard]] Status Recover(const std::string& path, const AppendDeadline& deadline) const;
  // Cuts the block after its last whole batch, and tells its length.
  [[nodiscard]] Result<std::uint64_t> CutToWholeBatches(const LaneName& name,
                                                        const AppendDeadline& deadline) const;
  [[nodiscard]] Status JoinToFile(const LaneName& name, std::uint64_t bytes) const;
  [[nodiscard]] Result<bool> Exists(const std::string& path) const;

  const LaneFiles& files_;
};

}  // namespace ebb::client
