#include "transfer/client.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "transfer/block_sender.h"

namespace ebb::transfer {

namespace {

using namespace hadoop::hdfs;

Timeout PipelineTimeout(int hops) { return kPeerTimeout + hops * kTimeoutPerHop; }

Error About(const std::string& peer, Error error) {
  if (error.message.find(peer) == std::string::npos) error.message = peer + ": " + error.message;
  return error;
}

Status CheckResponse(const BlockOpResponseProto& response, const std::string& peer,
                     std::uint64_t block_id, const char* what) {
  if (response.status() == SUCCESS) return {};
  if (response.message().starts_with(kNoSpacePrefix)) {
    return Fail(ErrorCode::kNoSpace, fmt::format("{}: {}", peer, response.message().substr(
                                                                     kNoSpacePrefix.size())));
  }
  return Fail(response.status() == ERROR_CHECKSUM ? ErrorCode::kCorrupt : ErrorCode::kNotFound,
              fmt::format("{} refused to {} block {}: {} {}", peer, what, block_id,
                          Status_Name(response.status()), response.message()));
}

// ---- reading ----------------------------------------------------------------------------------

class RemoteSource final : public BlockSource {
 public:
  RemoteSource(Socket socket, std::uint64_t block_id, std::uint64_t position, std::uint64_t end)
      : socket_(std::move(socket)),
        reader_(socket_, 64 << 10),
        block_id_(block_id),
        position_(position),
        end_(end) {}

  ebb::Status Start(const OpReadBlockProto& op) {
    std::string request;
    AppendOperation(request, Operation::kReadBlock, op);
    EBB_TRY(WriteString(socket_, request, kPeerTimeout));
    BlockOpResponseProto response;
    EBB_TRY(ReadMessage(reader_, response, kPeerTimeout));
    EBB_TRY(CheckResponse(response, socket_.peer(), block_id_, "read"));
    EBB_ASSIGN(checksum_, FromProto(response.readopchecksuminfo().checksum()));
    next_offset_ = response.readopchecksuminfo().chunkoffset();
    if (next_offset_ > position_) return Nonsense("begins beyond the offset asked for");
    return {};
  }

  ebb::Status Read(std::span<std::byte> out) override {
    while (!out.empty()) {
      if (rest_.empty()) EBB_TRY(NextPacket());
      const std::size_t n = std::min(out.size(), rest_.size());
      std::memcpy(out.data(), rest_.data(), n);
      out = out.subspan(n);
      rest_ = rest_.subspan(n);
      position_ += n;
    }
    if (position_ == end_ && !finished_) Finish();
    return {};
  }

  bool local() const override { return false; }

 private:
  std::unexpected<Error> Nonsense(const char* what) const {
    return Fail(ErrorCode::kNetwork, fmt::format("what {} sends of block {} {}", socket_.peer(),
                                                 block_id_, what));
  }

  ebb::Status NextPacket() {
    EBB_ASSIGN(const auto packet, ReadPacket(reader_, kPeerTimeout));
    if (packet.last) return Nonsense("ends too early");
    if (packet.offset != next_offset_) return Nonsense("is out of order");
    if (packet.sums.size() != checksum_.BytesFor(packet.data.size())) {
      return Nonsense("has checksums of a wrong length");
    }
    if (const auto bad = checksum_.FirstBad(packet.data, packet.sums)) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("block {} as {} sends it contradicts its checksum at {}", block_id_,
                              socket_.peer(),
                              packet.offset + *bad * checksum_.bytes_per_chunk));
    }
    next_offset_ += packet.data.size();
    // The first packet begins at a chunk, perhaps before the offset asked for.
    const std::size_t skip =
        std::min<std::uint64_t>(position_ - packet.offset, packet.data.size());
    rest_ = packet.data.subspan(skip);
    return {};
  }

  // Lets the peer end the operation in order; the bytes are here, so no error matters any more.
  void Finish() {
    finished_ = true;
    const auto last = ReadPacket(reader_, kPeerTimeout);
    if (!last || !last->last) return;
    ClientReadStatusProto status;
    status.set_status(CHECKSUM_OK);
    std::string bytes;
    AppendMessage(bytes, status);
    (void)WriteString(socket_, bytes, kPeerTimeout);
  }

  Socket socket_;
  SocketReader reader_;
  const std::uint64_t block_id_;
  format::Checksum checksum_;
  std::uint64_t next_offset_ = 0;
  std::uint64_t position_;
  const std::uint64_t end_;
  bool finished_ = false;
  // Of the packet at hand; points into the reader's buffer.
  std::span<const std::byte> rest_;
};

// ---- writing ----------------------------------------------------------------------------------

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
    AppendPacketPrefix(bytes, {.offset = offset_, .sequence = sequence_++, .last = true,
                               .sync = true});
    EBB_TRY(WriteString(socket_, bytes, kPeerTimeout));
    return AwaitAcknowledgements(0);
  }

  bool local() const override { return false; }

 private:
  static constexpr Timeout kExplanationTimeout = std::chrono::seconds(5);
  // So many packets may be under way.
  static constexpr std::int64_t kWindow = 8;

  ebb::Status SendPending() {
    const format::Checksum checksum;
    std::vector<std::byte> sums(checksum.BytesFor(pending_.size()));
    checksum.ComputeAll(pending_, sums.data());
    std::string prefix;
    AppendPacketPrefix(prefix, {.offset = offset_, .sequence = sequence_++, .last = false,
                                .sync = false, .sums_bytes = sums.size(),
                                .data_bytes = pending_.size()});
    iovec parts[3] = {{prefix.data(), prefix.size()},
                      {sums.data(), sums.size()},
                      {pending_.data(), pending_.size()}};
    EBB_TRY(socket_.WriteAll(std::span<iovec>(parts), kPeerTimeout));
    offset_ += pending_.size();
    pending_.clear();
    return AwaitAcknowledgements(kWindow);
  }

  // Until no more than `open` packets are not acknowledged.
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

  // The peer says why after a bad acknowledgement, if it can.
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

void FillHeader(ClientOperationHeaderProto& header, const ExtendedBlockProto& block,
                const std::string& client_name) {
  *header.mutable_baseheader()->mutable_block() = block;
  header.set_clientname(client_name);
}

Result<Socket> ConnectTo(const DatanodeIDProto& peer) {
  return Socket::Connect(peer.ipaddr(), static_cast<std::uint16_t>(peer.xferport()),
                         kConnectTimeout);
}

}  // namespace

Result<std::unique_ptr<BlockSource>> OpenRemoteSource(const DatanodeIDProto& peer,
                                                      const ExtendedBlockProto& block,
                                                      std::uint64_t offset, std::uint64_t end) {
  EBB_ASSIGN(auto socket, ConnectTo(peer));
  auto source = std::make_unique<RemoteSource>(std::move(socket), block.blockid(), offset, end);
  OpReadBlockProto op;
  FillHeader(*op.mutable_header(), block, std::string(kSourceReaderName));
  op.set_offset(offset);
  op.set_len(end - offset);
  if (auto started = source->Start(op); !started) {
    return std::unexpected(About(TransferAddress(peer), std::move(started).error()));
  }
  return source;
}

Result<Socket> StartWrite(const DatanodeIDProto& peer, const OpWriteBlockProto& op) {
  EBB_ASSIGN(auto socket, ConnectTo(peer));
  std::string request;
  AppendOperation(request, Operation::kWriteBlock, op);
  EBB_TRY(WriteString(socket, request, kPeerTimeout));
  return socket;
}

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
    return std::unexpected(About(TransferAddress(peer), std::move(started).error()));
  }
  return sink;
}

ebb::Status CopyReplica(const ReplicaReader& replica, const std::string& block_pool_id,
                        const CopyTargets& targets, const std::string& client_name) {
  const auto& info = replica.info();
  if (targets.servers.empty()) return Fail(ErrorCode::kInvalid, "a copy without targets");
  ExtendedBlockProto block;
  block.set_poolid(block_pool_id);
  block.set_blockid(info.block_id);
  block.set_generationstamp(info.generation_stamp);
  block.set_numbytes(replica.length());
  OpWriteBlockProto op;
  FillHeader(*op.mutable_header(), block, client_name);
  for (std::size_t i = 1; i < targets.servers.size(); ++i) {
    *op.add_targets() = targets.servers[i];
    op.add_targetstoragetypes(DISK);
    if (i < targets.storage_uuids.size()) op.add_targetstorageids(targets.storage_uuids[i]);
  }
  op.set_stage(client_name.empty() ? OpWriteBlockProto::PIPELINE_SETUP_CREATE
               : info.state == ReplicaState::kFinalized ? OpWriteBlockProto::TRANSFER_FINALIZED
                                                        : OpWriteBlockProto::TRANSFER_RBW);
  op.set_pipelinesize(0);
  op.set_minbytesrcvd(0);
  op.set_maxbytesrcvd(0);
  op.set_latestgenerationstamp(0);
  *op.mutable_requestedchecksum() = ToProto(replica.checksum());
  op.set_storagetype(DISK);
  if (!targets.storage_uuids.empty()) op.set_storageid(targets.storage_uuids.front());
  EBB_ASSIGN(auto socket, StartWrite(targets.servers.front().id(), op));
  const SendRange range = {.offset = 0, .end = replica.length(), .with_checksums = true,
                           .sync = false,
                           .timeout = PipelineTimeout(static_cast<int>(targets.servers.size()))};
  EBB_TRY(SendReplica(socket, replica, range, {}));
  if (client_name.empty()) return {};
  SocketReader reader(socket);
  BlockOpResponseProto response;
  EBB_TRY(ReadMessage(reader, response, range.timeout));
  return CheckResponse(response, socket.peer(), info.block_id, "take");
}

}  // namespace ebb::transfer
