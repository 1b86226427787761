#include "transfer/remote_sink.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/socket.h"
#include "common/socket_reader.h"
#include "disk/format.h"
#include "transfer/peer.h"
#include "transfer/wire.h"

namespace ebb::transfer {

namespace {

using namespace hadoop::hdfs;

class RemoteSink final : public BlockSink {
 public:
  RemoteSink(Socket socket, std::uint64_t block_id)
      : socket_(std::move(socket)), reader_(socket_), block_id_(block_id) {
    pending_.reserve(kPacketDataBytes);
  }

  ebb::Status Start() {
    BlockOpResponseProto response;
    EBB_TRY(ReadMessage(reader_, response, PipelineTimeout(1)));
    return CheckResponse(response, socket_.peer(), block_id_, "write");
  }

  ebb::Status Write(std::span<const std::byte> data) override {
    while (!data.empty()) {
      const std::size_t n = std::min(data.size(), kPacketDataBytes - pending_.size());
      pending_.insert(pending_.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(n));
      data = data.subspan(n);
      if (pending_.size() == kPacketDataBytes) EBB_TRY(SendPending());
    }
    return {};
  }

  ebb::Status Finish() override {
    if (!pending_.empty()) EBB_TRY(SendPending());
    std::string bytes;
    AppendPacketPrefix(bytes,
                       {.offset = offset_, .sequence = sequence_++, .last = true, .sync = true});
    EBB_TRY(WriteString(socket_, bytes, kPeerTimeout));
    return AwaitAcknowledgements(0);
  }

  bool local() const override { return false; }

 private:
  static constexpr Timeout kExplanationTimeout = std::chrono::seconds(5);
  // The most packets without acknowledgement.
  static constexpr std::int64_t kWindow = 8;

  ebb::Status SendPending() {
    const format::Checksum checksum;
    std::vector<std::byte> sums(checksum.BytesFor(pending_.size()));
    checksum.ComputeAll(pending_, sums.data());
    std::string prefix;
    AppendPacketPrefix(prefix, {.offset = offset_,
                                .sequence = sequence_++,
                                .last = false,
                                .sync = false,
                                .sums_bytes = sums.size(),
                                .data_bytes = pending_.size()});
    iovec parts[3] = {{prefix.data(), prefix.size()},
                      {sums.data(), sums.size()},
                      {pending_.data(), pending_.size()}};
    EBB_TRY(socket_.WriteAll(std::span<iovec>(parts), kPeerTimeout));
    offset_ += pending_.size();
    pending_.clear();
    return AwaitAcknowledgements(kWindow);
  }

  // Waits until at most `open` packets are without acknowledgement.
  ebb::Status AwaitAcknowledgements(std::int64_t open) {
    while (sequence_ - acknowledged_ > open) {
      PipelineAckProto ack;
      EBB_TRY(ReadMessage(reader_, ack, PipelineTimeout(1)));
      if (ack.seqno() == kHeartbeatSequence) continue;
      for (const int status : ack.reply()) {
        if (status != SUCCESS) return Broken(static_cast<hadoop::hdfs::Status>(status));
      }
      if (ack.seqno() != acknowledged_) {
        return Fail(ErrorCode::kNetwork,
                    fmt::format("{} acknowledged packet {} of block {} instead of {}",
                                socket_.peer(), ack.seqno(), block_id_, acknowledged_));
      }
      ++acknowledged_;
    }
    return {};
  }

  // A chunk server explains a bad acknowledgement in a second message. A stock DataNode does not.
  ebb::Status Broken(hadoop::hdfs::Status status) {
    BlockOpResponseProto why;
    if (ReadMessage(reader_, why, kExplanationTimeout)) {
      auto refused = CheckResponse(why, socket_.peer(), block_id_, "write");
      if (!refused && refused.error().code == ErrorCode::kNoSpace) return refused;
    }
    return Fail(ErrorCode::kNetwork,
                fmt::format("{} answered {} while block {} was written to it{}{}", socket_.peer(),
                            Status_Name(status), block_id_, why.message().empty() ? "" : ": ",
                            why.message()));
  }

  Socket socket_;
  SocketReader reader_;
  const std::uint64_t block_id_;
  std::vector<std::byte> pending_;
  std::uint64_t offset_ = 0;
  std::int64_t sequence_ = 0;
  std::int64_t acknowledged_ = 0;
};

}  // namespace

Result<std::unique_ptr<BlockSink>> OpenRemoteSink(const DatanodeIDProto& peer,
                                                  const ExtendedBlockProto& block,
                                                  const std::string& storage_uuid) {
  OpWriteBlockProto op;
  FillHeader(*op.mutable_header(), block,
             fmt::format("{}{}", kCombineClientPrefix, block.blockid()));
  op.set_stage(OpWriteBlockProto::PIPELINE_SETUP_CREATE);
  op.set_pipelinesize(1);
  op.set_minbytesrcvd(0);
  op.set_maxbytesrcvd(0);
  op.set_latestgenerationstamp(block.generationstamp());
  *op.mutable_requestedchecksum() = ToProto({});
  op.set_storagetype(DISK);
  op.set_storageid(storage_uuid);
  EBB_ASSIGN(auto socket, StartWrite(peer, op));
  auto sink = std::make_unique<RemoteSink>(std::move(socket), block.blockid());
  if (auto started = sink->Start(); !started) {
    return std::unexpected(WithPeer(TransferAddress(peer), std::move(started).error()));
  }
  return sink;
}

}  // namespace ebb::transfer
