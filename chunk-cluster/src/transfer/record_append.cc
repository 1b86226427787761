#include "transfer/record_append.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "common/crc32c.h"
#include "transfer/wire.h"

namespace ebb::transfer {

namespace {

// A writer may have nothing to append for so long. The lane is finished long before, and the
// connection with it, unless other writers use it.
constexpr Timeout kSilentWriterTimeout = std::chrono::minutes(10);
// An answer has few bytes. A writer that has no room for them has left thousands of answers unread.
constexpr Timeout kAnswerTimeout = std::chrono::milliseconds(20);
constexpr std::uint32_t kMaxIdleMillis = 30'000;
constexpr std::size_t kBatchBufferBytes = 64 << 10;

}  // namespace

Status CheckOperation(const OpAppendRecordsProto& op) {
  const auto& lane = op.lane();
  if (op.writer().size() != WriterId().size()) {
    return Fail(ErrorCode::kInvalid, fmt::format("the id of a writer has {} bytes instead of {}",
                                                 op.writer().size(), WriterId().size()));
  }
  if (lane.idlemillis() == 0 || lane.idlemillis() > kMaxIdleMillis) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("a lane cannot be idle for {} ms; choose 1 to {} ms", lane.idlemillis(),
                            kMaxIdleMillis));
  }
  if (lane.has_agemillis() && lane.agemillis() == 0) {
    return Fail(ErrorCode::kInvalid,
                "a lane cannot have an age of 0 ms; choose 1 ms or more, or name no age");
  }
  if (lane.capacitybytes() < kMaxBatchBytes) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("a block of {} bytes is too small for record appends; it needs {} "
                            "bytes or more",
                            lane.capacitybytes(), kMaxBatchBytes));
  }
  return {};
}

// Sends answers from the threads of the lane as long as the connection is there.
class RecordAppend::Link final : public LaneWriter {
 public:
  explicit Link(Socket& socket) : socket_(&socket) {}

  void Answer(const BatchAnswerProto& answer) override {
    const std::lock_guard lock(mutex_);
    if (socket_ != nullptr && !WriteMessage(*socket_, answer, kAnswerTimeout)) {
      socket_->Shutdown();
      socket_ = nullptr;
    }
  }

  void End() override {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    // The writer reads the last answer and closes. A batch that it has sent meanwhile is drained
    // until then.
  }

  // The connection goes away.
  void Detach() {
    const std::lock_guard lock(mutex_);
    socket_ = nullptr;
  }

  [[nodiscard]] bool ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }

 private:
  std::mutex mutex_;
  Socket* socket_;
  bool ended_ = false;
};

RecordAppend::RecordAppend(Socket& socket, SocketReader& reader, RecordLane& lane,
                           const OpAppendRecordsProto& op)
    : reader_(reader), lane_(lane), link_(std::make_shared<Link>(socket)) {
  std::memcpy(writer_.data(), op.writer().data(), writer_.size());
  lane_.Join(link_);
}

RecordAppend::~RecordAppend() {
  lane_.Leave(link_);
  link_->Detach();
}

Status RecordAppend::Run() {
  reader_.Reserve(kBatchBufferBytes);
  for (;;) {
    EBB_ASSIGN(const bool end, reader_.AtEnd(kSilentWriterTimeout));
    if (end) return {};
    BatchProto header;
    EBB_TRY(ReadMessage(reader_, header, kPeerTimeout));
    if (header.records() == 0) {
      lane_.FinishIfUnshared(link_);
    } else {
      EBB_TRY(TakeBatch(header));
    }
  }
}

Result<std::vector<std::byte>> RecordAppend::ReadBatch(std::size_t length) {
  std::vector<std::byte> buffer = lane_.TakeBuffer();
  for (std::size_t end = 0; end < length;) {
    const std::size_t begin = end;
    end = std::min(length, std::max(begin + kBatchBufferBytes, buffer.size()));
    if (buffer.size() < end) buffer.resize(end);
    EBB_TRY(reader_.ReadExact(std::span(buffer).subspan(begin, end - begin), kPeerTimeout));
  }
  return buffer;
}

Status RecordAppend::TakeBatch(const BatchProto& header) {
  if (header.lengthbytes() > kMaxBatchBytes) {
    return Fail(ErrorCode::kNetwork,
                fmt::format("a batch of {} bytes came; the limit is {}", header.lengthbytes(),
                            kMaxBatchBytes));
  }
  Batch batch{.entry = {.writer = writer_,
                        .first_record = header.firstrecord(),
                        .records = header.records(),
                        .length_bytes = header.lengthbytes(),
                        .end = 0,
                        .checksum = header.checksum()},
              .buffer = {},
              .writer = link_};
  EBB_ASSIGN(batch.buffer, ReadBatch(header.lengthbytes()));
  if (link_->ended()) return {};
  if (Crc32c(0, batch.data()) != header.checksum()) {
    return Fail(ErrorCode::kCorrupt, fmt::format("the records from {} on contradict their checksum",
                                                 header.firstrecord()));
  }
  lane_.Append(std::move(batch));
  return {};
}

}  // namespace ebb::transfer
