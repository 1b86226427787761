#include "client/append_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "common/bytes.h"
#include "rpc/wire.h"

namespace ebb::client {

using ebbfs::BatchAnswerProto;

namespace {

constexpr Timeout kRetryPause = std::chrono::milliseconds(200);

transfer::WriterId NewWriterId() {
  const std::string random = rpc_wire::NewClientId();
  transfer::WriterId writer = {};
  std::memcpy(writer.data(), random.data(), std::min(writer.size(), random.size()));
  return writer;
}

int SlotOf(const transfer::WriterId& writer, int lanes) {
  std::uint32_t hash = 0;
  for (std::size_t at = 0; at < writer.size(); at += 4) hash ^= LoadBig32(writer.data() + at);
  return static_cast<int>(hash % static_cast<std::uint32_t>(lanes));
}

}  // namespace

AppendWorker::AppendWorker(LaneFiles files, const AppendOptions& options, PendingBatches& batches)
    : files_(std::move(files)),
      writer_(NewWriterId()),
      options_(options),
      batches_(batches),
      finder_(files_, options) {}

AppendWorker::~AppendWorker() { Join(); }

void AppendWorker::Start() {
  thread_ = std::thread([this] { Run(); });
}

void AppendWorker::Join() {
  if (thread_.joinable()) thread_.join();
}

void AppendWorker::Run() {
  const std::string holder = files_.LeaseHolder();
  auto& leases = files_.files().leases();
  Status sent;
  try {
    leases.OnOpen(holder);
    sent = SendAll();
  } catch (const std::exception& error) {  // no memory, or no thread
    sent = Fail(ErrorCode::kIo, error.what());
  }
  if (!sent) batches_.Fail(sent.error());
  joined_.reset();
  leases.OnClose(holder);
}

Status AppendWorker::SendAll() {
  while (!batches_.IsDone()) {
    batches_.AwaitWork();
    EBB_TRY(Step());
  }
  return Leave();
}

Status AppendWorker::Step() {
  const auto end = joined_ ? joined_->connection->answers().End() : std::nullopt;
  if (end) {
    if (end->result() == BatchAnswerProto::FINISHED && batches_.HasPending()) {
      GoOn(*end);
    } else {
      EBB_TRY(Settle(*end));
    }
  }
  if (!batches_.IsReady()) return {};
  if (joined_) {
    Send();
    return {};
  }
  EBB_TRY(JoinLane());
  Send();  // first, so that the lane is not idle while older lanes are sealed
  return SealOlder();
}

void AppendWorker::Send() {
  const auto next = batches_.Send();
  // The thread that reads the answers learns of a lost connection, too, and tells the end of the
  // lane.
  if (next && !joined_->connection->Send(*next)) joined_->connection->Close();
}

Status AppendWorker::JoinLane() {
  auto joined = Patiently<JoinedLane>([this](const AppendDeadline& deadline) {
    return finder_.Join(SlotOf(writer_, options_.lanes), writer_, batches_, left_, deadline);
  });
  if (!joined) {
    (void)SealLeft();  // the first error tells more
    return std::unexpected(std::move(joined).error());
  }
  joined_ = std::move(joined).value();
  if (left_ && left_->name.slot != joined_->name.slot) return SealLeft();
  return {};
}

Status AppendWorker::SealLeft() {
  const auto lane = std::exchange(left_, std::nullopt);
  if (!lane) return {};
  EBB_TRY(Patiently<std::uint64_t>([&](const AppendDeadline& deadline) {
    return finder_.Seal(lane->name, lane->lane, lane->answer, deadline);
  }));
  return {};
}

Status AppendWorker::SealOlder() {
  const auto finished = std::exchange(left_, std::nullopt);
  if (!joined_->created) return {};
  return Patiently<void>([&](const AppendDeadline& deadline) {
    return finder_.SealOlder(joined_->name, finished, deadline);
  });
}

void AppendWorker::GoOn(const BatchAnswerProto& end) {
  left_ = FinishedLane{joined_->name, joined_->lane, end};
  joined_.reset();
  batches_.SendAgain();
}

Status AppendWorker::Settle(const BatchAnswerProto& end) {
  joined_->connection->Close();
  const bool finished = end.result() == BatchAnswerProto::FINISHED;
  if (!finished && !batches_.OldestSent() && Rejoin()) return {};
  EBB_ASSIGN(const auto sealed, Patiently<std::uint64_t>([&](const AppendDeadline& deadline) {
    return finder_.Seal(joined_->name, joined_->lane, finished ? std::optional(end) : std::nullopt,
                        deadline);
  }));
  if (!finished && batches_.OldestSent()) {
    EBB_ASSIGN(const auto ledger,
               Patiently<LaneLedger>([&](const AppendDeadline& /*deadline*/) {
                 return files_.ReadSealedLedger(joined_->name, sealed);
               }));
    EBB_TRY(CompleteThoseIn(ledger, sealed));
  }
  batches_.SendAgain();
  joined_.reset();
  return {};
}

bool AppendWorker::Rejoin() {
  auto connection = LaneConnection::Join(joined_->lane, writer_, batches_);
  if (connection) {
    joined_->connection = std::move(connection).value();
    joined_->created = false;
    return true;
  }
  if (connection.error().error.code != ErrorCode::kBusy) return false;
  joined_.reset();  // others use the lane
  return true;
}

Status AppendWorker::CompleteThoseIn(const LaneLedger& ledger, std::uint64_t sealed_bytes) {
  for (auto first = batches_.OldestSent(); first && ledger.Holds(writer_, *first, sealed_bytes);
       first = batches_.OldestSent()) {
    EBB_TRY(batches_.Stored(*first));
  }
  return {};
}

Status AppendWorker::Leave() {
  while (joined_) {
    if (!joined_->connection->AskToFinish()) joined_->connection->Close();
    if (joined_->connection->answers().AwaitEndOrShared()) return {};
    const auto end = joined_->connection->answers().End();
    EBB_TRY(Settle(*end));
  }
  return {};
}

template <typename T>
Result<T> AppendWorker::Patiently(const Attempt<T>& attempt) {
  const AppendDeadline deadline(options_.Patience());
  for (;; std::this_thread::sleep_for(kRetryPause)) {
    auto result = attempt(deadline);
    if (result || IsFinal(result.error())) return result;
    if (deadline.IsOver()) {
      Error error = std::move(result).error();
      error.message = fmt::format("{} takes no records; {} ms have passed: {}", files_.path(),
                                  options_.patience_millis, error.message);
      return std::unexpected(std::move(error));
    }
  }
}

}  // namespace ebb::client
