#include "client/lane_connection.h"

#include <fmt/format.h>
#include <sys/uio.h>

#include <array>
#include <exception>
#include <span>
#include <system_error>

#include "transfer/peer.h"
#include "transfer/wire.h"

namespace ebb::client {

using ebbfs::BatchAnswerProto;
using ebbfs::LaneProto;

namespace {

constexpr Timeout kConnectTime = std::chrono::seconds(10);
// A pipeline is set up, or gives up, in this time.
constexpr Timeout kOpenTime = std::chrono::seconds(90);
// A leader that does not answer for so long is given up.
constexpr Timeout kAnswerTime = std::chrono::seconds(60);
// So often a silent leader is noticed.
constexpr Timeout kSilenceCheck = std::chrono::seconds(5);
// A leader that takes no bytes is noticed by its silence, which ends the sending.
constexpr Timeout kSendTime = std::chrono::minutes(10);

iovec PartOf(std::span<const std::byte> bytes) {
  // iovec knows no const: the bytes are only read.
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

}  // namespace

LaneConnection::Opened LaneConnection::Create(const LaneProto& lane,
                                              const transfer::WriterId& writer,
                                              PendingBatches& batches) {
  return Open(lane, writer, false, batches);
}

LaneConnection::Opened LaneConnection::Join(const LaneProto& lane,
                                            const transfer::WriterId& writer,
                                            PendingBatches& batches) {
  return Open(lane, writer, true, batches);
}

LaneConnection::Opened LaneConnection::Open(const LaneProto& lane,
                                            const transfer::WriterId& writer, bool join_only,
                                            PendingBatches& batches) {
  if (lane.block().targets().empty()) {
    return Fail(ErrorCode::kCorrupt, fmt::format("the lane of block {} has no server",
                                                 lane.block().block().blockid()));
  }
  EBB_ASSIGN(auto socket, transfer::ConnectTo(lane.block().targets(0).id(), kConnectTime));
  std::unique_ptr<LaneConnection> connection(new LaneConnection(std::move(socket), batches));
  EBB_TRY(connection->Ask(lane, writer, join_only));
  EBB_TRY(connection->StartReading());
  return connection;
}

std::expected<void, LaneRefusal> LaneConnection::Ask(const LaneProto& lane,
                                                     const transfer::WriterId& writer,
                                                     bool join_only) {
  ebbfs::OpAppendRecordsProto op;
  *op.mutable_lane() = lane;
  op.set_writer(std::string(reinterpret_cast<const char*>(writer.data()), writer.size()));
  op.set_joinonly(join_only);
  std::string bytes;
  transfer::AppendOperation(bytes, transfer::Operation::kAppendRecords, op);
  EBB_TRY(transfer::WriteString(socket_, bytes, kOpenTime));
  hadoop::hdfs::BlockOpResponseProto response;
  EBB_TRY(transfer::ReadMessage(reader_, response, kOpenTime));
  if (response.status() == hadoop::hdfs::SUCCESS) return {};
  const bool busy = response.message().starts_with(transfer::kBusyPrefix);
  return std::unexpected(LaneRefusal(
      Error{busy ? ErrorCode::kBusy : ErrorCode::kNetwork,
            fmt::format("{} does not lead the lane of block {}: {}", socket_.peer(),
                        lane.block().block().blockid(), response.message())},
      response.message()));
}

Status LaneConnection::StartReading() {
  try {
    thread_ = std::thread([this] { Read(); });
    return {};
  } catch (const std::system_error& error) {
    return Fail(ErrorCode::kIo, fmt::format("there is no thread for a lane: {}", error.what()));
  }
}

LaneConnection::~LaneConnection() {
  Close();
  if (thread_.joinable()) thread_.join();
}

Status LaneConnection::Send(const RecordBatch& batch) {
  ExpectAnswer();
  const std::string message = batch.Message();
  std::array<iovec, 2> parts = {PartOf(std::as_bytes(std::span(message))), PartOf(batch.data())};
  return socket_.WriteAll(parts, kSendTime);
}

Status LaneConnection::AskToFinish() {
  ExpectAnswer();
  ebbfs::BatchProto wish;
  wish.set_firstrecord(0);
  wish.set_records(0);
  wish.set_lengthbytes(0);
  wish.set_checksum(0);
  return transfer::WriteMessage(socket_, wish, kSendTime);
}

void LaneConnection::Read() {
  std::string why;
  try {
    const auto taken = TakeAll();
    if (taken) return;
    why = taken.error().message;
  } catch (const std::exception& error) {  // no memory
    why = error.what();
  }
  Close();
  BatchAnswerProto broken;
  broken.set_result(BatchAnswerProto::BROKEN);
  broken.set_message("the connection to the server was lost: " + why);
  (void)answers_.Take(broken);
}

Status LaneConnection::TakeAll() {
  for (;;) {
    EBB_ASSIGN(const auto answer, Next());
    const bool stored = answer.result() == BatchAnswerProto::STORED;
    if (stored || answer.result() == BatchAnswerProto::IN_USE) NoteAnswer();
    EBB_TRY(answers_.Take(answer));
    if (!stored && answer.result() != BatchAnswerProto::IN_USE) return {};
  }
}

Result<BatchAnswerProto> LaneConnection::Next() {
  for (;;) {
    const auto end = reader_.AtEnd(kSilenceCheck);
    if (end && *end) return Fail(ErrorCode::kNetwork, "the server closed the connection");
    if (end) break;
    if (end.error().code != ErrorCode::kTimeout || IsSilent()) return std::unexpected(end.error());
  }
  // The rest of an answer comes with its beginning.
  BatchAnswerProto answer;
  EBB_TRY(transfer::ReadMessage(reader_, answer, kAnswerTime));
  return answer;
}

void LaneConnection::ExpectAnswer() {
  const std::lock_guard lock(mutex_);
  if (unanswered_++ == 0) waiting_since_ = Clock::now();
}

void LaneConnection::NoteAnswer() {
  const std::lock_guard lock(mutex_);
  --unanswered_;
  waiting_since_ = Clock::now();
}

bool LaneConnection::IsSilent() {
  const std::lock_guard lock(mutex_);
  return unanswered_ > 0 && Clock::now() - waiting_since_ > kAnswerTime;
}

}  // namespace ebb::client
