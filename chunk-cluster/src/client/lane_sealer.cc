#include "client/lane_sealer.h"

#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <thread>

namespace ebb::client {

using ebbfs::BatchAnswerProto;
using ebbfs::LaneProto;

namespace {

constexpr Timeout kRecoveryPoll = std::chrono::milliseconds(100);
// Servers report a final block at once.
constexpr Timeout kReportTime = std::chrono::seconds(5);
constexpr Timeout kReportPoll = std::chrono::milliseconds(20);
constexpr char kSnapshotException[] = "org.apache.hadoop.hdfs.protocol.SnapshotException";

}  // namespace

Result<std::uint64_t> LaneSealer::Seal(const LaneName& name, const std::optional<LaneProto>& lane,
                                       const std::optional<BatchAnswerProto>& finished,
                                       const AppendDeadline& deadline) const {
  EBB_ASSIGN(auto sealed, files_.SealedBytes(name));
  if (!sealed) {
    EBB_TRY(Close(name, lane, finished, deadline));
    EBB_ASSIGN(sealed, files_.SealedBytes(name));
  }
  if (!sealed) return Fail(ErrorCode::kIo, name.Ledger() + " lost its attributes");
  EBB_TRY(JoinToFile(name, *sealed));
  return *sealed;
}

Status LaneSealer::Close(const LaneName& name, const std::optional<LaneProto>& lane,
                         const std::optional<BatchAnswerProto>& finished,
                         const AppendDeadline& deadline) const {
  // The lane was given up before anybody could know it. Its blocks need no recovery.
  if (lane && !lane->has_block()) return files_.SetSealedBytes(name, 0);
  if (lane && finished && CompleteBoth(name, *lane, *finished)) {
    return files_.SetSealedBytes(name, finished->blockbytes());
  }
  EBB_ASSIGN(const auto by_another, files_.SealedBytes(name));
  if (by_another) return {};
  EBB_TRY(Recover(name.Ledger(), deadline));
  EBB_TRY(Recover(name.Block(), deadline));
  EBB_ASSIGN(const auto whole, CutToWholeBatches(name, deadline));
  return files_.SetSealedBytes(name, whole);
}

bool LaneSealer::CompleteBoth(const LaneName& name, const LaneProto& lane,
                              const BatchAnswerProto& finished) const {
  const auto ledger = Complete(name.Ledger(), lane.ledger(), finished.ledgerbytes());
  if (!ledger || !*ledger) return false;  // recovery tells the error, if there is one
  const auto block = Complete(name.Block(), lane.block(), finished.blockbytes());
  return block && *block;
}

Result<bool> LaneSealer::Complete(const std::string& path, const ebbfs::OpenBlockProto& open,
                                  std::uint64_t bytes) const {
  EBB_ASSIGN(const auto status, files_.files().Stat(path));
  if (!status) return false;
  auto block = open.block();
  block.set_numbytes(bytes);
  const AppendDeadline reports(kReportTime);
  for (;;) {
    EBB_ASSIGN(const bool complete, files_.Complete(path, status->file_id, block));
    if (complete) break;
    if (reports.IsOver()) return false;
    std::this_thread::sleep_for(kReportPoll);
  }
  EBB_ASSIGN(const auto closed, files_.files().Stat(path));
  return closed && closed->length == bytes;
}

Result<bool> LaneSealer::Exists(const std::string& path) const {
  EBB_ASSIGN(const auto status, files_.files().Stat(path));
  return status.has_value();
}

Status LaneSealer::Recover(const std::string& path, const AppendDeadline& deadline) const {
  for (;; std::this_thread::sleep_for(kRecoveryPoll)) {
    EBB_ASSIGN(const bool exists, Exists(path));
    if (!exists) return {};
    const auto recovered = files_.files().RecoverLease(path);
    if (recovered && *recovered) return {};
    if (!recovered && recovered.error().code == ErrorCode::kShutdown) {
      return std::unexpected(recovered.error());
    }
    EBB_TRY(deadline.Check(fmt::format("the block of {} is not recovered", path),
                           recovered ? "" : recovered.error().message));
  }
}

Result<std::uint64_t> LaneSealer::CutToWholeBatches(const LaneName& name,
                                                    const AppendDeadline& deadline) const {
  EBB_ASSIGN(const auto status, files_.files().Stat(name.Block()));
  if (!status) {
    EBB_ASSIGN(const auto by_another, files_.SealedBytes(name));
    return by_another.value_or(0);
  }
  EBB_ASSIGN(const auto ledger, files_.ReadLedger(name));
  EBB_TRY(RefuseUnknownBytes(name, ledger, status->length));
  const std::uint64_t whole = ledger.WholeBytes(status->length);
  if (whole > 0 && whole < status->length) {
    EBB_TRY(files_.files().Truncate(name.Block(), whole));
    EBB_TRY(Recover(name.Block(), deadline));
  }
  return whole;
}

Status LaneSealer::RefuseUnknownBytes(const LaneName& name, const LaneLedger& ledger,
                                      std::uint64_t block_bytes) {
  const std::uint64_t known = ledger.WholeBytes(std::numeric_limits<std::uint64_t>::max());
  if (known >= block_bytes) return {};
  return Fail(ErrorCode::kIo,
              fmt::format("{} has {} bytes, and its ledger {} knows {} of them; if that stays so, "
                          "the ledger is damaged or all servers of it lost power: read the block, "
                          "cut it by 'hdfs dfs -truncate {} {}' (delete it at 0 bytes), and seal "
                          "the file again",
                          name.Block(), block_bytes, name.Ledger(), known, known, name.Block()));
}

Status LaneSealer::JoinToFile(const LaneName& name, std::uint64_t bytes) const {
  EBB_ASSIGN(const bool exists, Exists(name.Block()));
  if (!exists) return {};
  EBB_TRY(files_.RequireFile());
  Status joined;
  if (bytes == 0) {
    const auto removed = files_.files().Remove(name.Block(), false);
    if (!removed) joined = std::unexpected(removed.error());
  } else {
    joined = files_.files().Concat(files_.path(), {name.Block()});
  }
  if (joined) return {};
  if (joined.error().exception_class == kSnapshotException) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("the stored records in {} cannot move to {} as long as a snapshot "
                            "shows them; delete the snapshots that were taken during the append, "
                            "and seal all lanes of the file: {}",
                            name.Block(), files_.path(), joined.error().message));
  }
  EBB_ASSIGN(const bool left, Exists(name.Block()));
  return left ? joined : Status();
}

}  // namespace ebb::client
