#include "client/lane_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

namespace ebb::client {

using ebbfs::BatchAnswerProto;
using ebbfs::LaneProto;

namespace {

constexpr Timeout kLanePoll = std::chrono::milliseconds(50);
// A creator that needs longer is taken for dead.
constexpr Timeout kCreationTime = std::chrono::seconds(30);
constexpr Timeout kBusyPause = std::chrono::seconds(1);
constexpr Timeout kMostBusyPause = std::chrono::seconds(16);
// After a lane could not be created. Each attempt leaves a ledger for an hour.
constexpr Timeout kFailedCreationPause = std::chrono::seconds(2);

LaneCreator::Created PausedAfterFailure(LaneCreator::Created created) {
  if (!created && created.error().code != ErrorCode::kBusy && !IsFinal(created.error())) {
    std::this_thread::sleep_for(kFailedCreationPause);
  }
  return created;
}

}  // namespace

Result<JoinedLane> LaneFinder::Join(int slot, const transfer::WriterId& writer,
                                    PendingBatches& batches,
                                    const std::optional<FinishedLane>& finished,
                                    const AppendDeadline& deadline) {
  Timeout pause = kBusyPause;
  std::string busy;
  for (int from = slot;;) {
    EBB_TRY(deadline.Check(fmt::format("no lane of {} takes records", files_.path()), busy));
    auto joined = TryToJoin(from, writer, batches, finished);
    if (joined) {
      if (*joined) return std::move(**joined);
      continue;
    }
    if (joined.error().code != ErrorCode::kBusy) return std::unexpected(joined.error());
    busy = joined.error().message;
    from = (from + 1) % lanes_;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kMostBusyPause);
  }
}

LaneCreator::Created LaneFinder::TryToJoin(int slot, const transfer::WriterId& writer,
                                           PendingBatches& batches,
                                           const std::optional<FinishedLane>& finished) {
  EBB_ASSIGN(const auto ledgers, files_.Ledgers(slot));
  if (ledgers.empty()) {
    return PausedAfterFailure(creator_.CreateFirst(files_.First(slot), writer, batches));
  }
  const LaneName newest = *std::ranges::max_element(ledgers, {}, &LaneName::generation);
  if (!finished || finished->name != newest) {
    EBB_ASSIGN(auto joined, JoinOpen(newest, writer, batches));
    if (joined) return joined;
  }
  return PausedAfterFailure(creator_.Create(newest.Next(), writer, batches));
}

LaneCreator::Created LaneFinder::JoinOpen(const LaneName& name, const transfer::WriterId& writer,
                                          PendingBatches& batches) const {
  EBB_ASSIGN(const auto lane, AwaitLane(name));
  if (!lane || !lane->has_block()) return std::nullopt;
  EBB_ASSIGN(const auto sealed, files_.SealedBytes(name));
  if (sealed) return std::nullopt;
  auto connection = LaneConnection::Join(*lane, writer, batches);
  if (connection) return JoinedLane{name, *lane, std::move(connection).value(), false};
  if (connection.error().error.code == ErrorCode::kBusy) {
    return std::unexpected(connection.error().error);
  }
  return std::nullopt;  // the lane has ended
}

Result<std::uint64_t> LaneFinder::Seal(const LaneName& name, const std::optional<LaneProto>& lane,
                                       const std::optional<BatchAnswerProto>& finished,
                                       const AppendDeadline& deadline) const {
  EBB_TRY(SealOlder(name, std::nullopt, deadline));
  return sealer_.Seal(name, lane, finished, deadline);
}

Status LaneFinder::SealOlder(const LaneName& newest, const std::optional<FinishedLane>& finished,
                             const AppendDeadline& deadline) const {
  EBB_ASSIGN(const auto ledgers, files_.Ledgers(newest.slot));
  EBB_ASSIGN(const auto blocks, files_.Blocks(newest.slot));
  for (const auto& name : blocks) {
    if (name.generation >= newest.generation ||
        std::ranges::find(ledgers, name) == ledgers.end()) {
      continue;
    }
    if (finished && finished->name == name) {
      EBB_TRY(sealer_.Seal(name, finished->lane, finished->answer, deadline));
    } else {
      EBB_ASSIGN(const auto lane, AwaitLane(name));
      EBB_TRY(sealer_.Seal(name, lane, std::nullopt, deadline));
    }
  }
  return {};
}

Status LaneFinder::SealAll(const AppendDeadline& deadline) const {
  EBB_ASSIGN(const auto ledgers, files_.Ledgers());
  for (const auto& name : ledgers) {
    EBB_ASSIGN(const bool gone, files_.IsGone(name));
    if (gone) continue;
    EBB_ASSIGN(const auto lane, AwaitLane(name));
    EBB_TRY(sealer_.Seal(name, lane, std::nullopt, deadline));
  }
  return files_.RefuseLostLedgers();
}

Result<std::optional<LaneProto>> LaneFinder::AwaitLane(const LaneName& name) const {
  const AppendDeadline creation(kCreationTime);
  while (!creation.IsOver()) {
    EBB_ASSIGN(auto lane, files_.Lane(name));
    if (lane) return lane;
    std::this_thread::sleep_for(kLanePoll);
  }
  EBB_TRY(files_.Abandon(name));
  return files_.Lane(name);
}

}  // namespace ebb::client
