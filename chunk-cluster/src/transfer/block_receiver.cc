#include "transfer/block_receiver.h"

#include <fmt/core.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <cerrno>

#include "common/fail_point.h"
#include "transfer/peer.h"

namespace ebb::transfer {

namespace {

using namespace hadoop::hdfs;

// Room for several packets of a client, so that one system call reads all of them.
constexpr std::size_t kReceiveBufferBytes = 256 << 10;
// After this time the connection of a failed pipeline is closed even if bytes are unread.
constexpr Timeout kDrainTimeout = std::chrono::seconds(5);

bool IsTransfer(const OpWriteBlockProto& op) {
  return op.stage() == OpWriteBlockProto::TRANSFER_RBW ||
         op.stage() == OpWriteBlockProto::TRANSFER_FINALIZED;
}

std::string WhyRefused(const Error& error) {
  if (error.code != ErrorCode::kNoSpace) return error.message;
  return std::string(kNoSpacePrefix) + error.message;
}

}  // namespace

BlockReceiver::BlockReceiver(Socket& upstream, SocketReader& reader, BlockStore& store,
                             PeerListener* listener, TransferCounters& counters,
                             const OpWriteBlockProto& op)
    : upstream_(upstream),
      reader_(reader),
      store_(store),
      listener_(listener),
      counters_(counters),
      op_(op),
      block_(op.header().baseheader().block()),
      transfer_(IsTransfer(op)),
      acknowledges_(!op.header().clientname().empty() && !transfer_),
      combine_(op.header().clientname().starts_with(kCombineClientPrefix)),
      background_(combine_ || op.header().clientname().empty()) {}

ebb::Status BlockReceiver::Run() {
  auto ready = OpenReplica();
  if (!ready) {
    if (acknowledges_) {
      BlockOpResponseProto response;
      response.set_status(ERROR);
      response.set_message(WhyRefused(ready.error()));
      AppendMessage(acks_, response);
      (void)FlushAcks();
    }
    return ready;
  }
  EBB_TRY(SetUp());
  if (op_.stage() == OpWriteBlockProto::PIPELINE_CLOSE_RECOVERY) return {};
  reader_.Reserve(kReceiveBufferBytes);
  writer_->OnTakeOver([this] { upstream_.Shutdown(); });
  auto received = ReceiveAll();
  if (received) return {};
  const auto code = received.error().code;
  if (combine_) why_ = WhyRefused(received.error());
  spdlog::info("writing block {} broke off after {} bytes: {}", block_.blockid(), writer_->length(),
               received.error().message);
  // A server that copies its replica names itself as the source.
  if (code == ErrorCode::kCorrupt && listener_ != nullptr && op_.has_source()) {
    listener_->OnCorruptAtPeer(op_.source().id(), block_);
  }
  if (mirror_failed_) {
    SendFailure(SUCCESS, true);
  } else if (code == ErrorCode::kCorrupt) {
    SendFailure(ERROR_CHECKSUM, false);
  } else if (code != ErrorCode::kNetwork && code != ErrorCode::kShutdown) {
    SendFailure(ERROR, false);
  }
  return {};
}

ebb::Status BlockReceiver::OpenReplica() {
  const std::uint64_t id = block_.blockid();
  const std::uint64_t stamp = block_.generationstamp();
  const std::uint64_t new_stamp = op_.latestgenerationstamp();
  EBB_TRY(fail_point::Reach(fail_point::kTargetCreate));
  const auto open = [this](Result<std::unique_ptr<ReplicaWriter>> writer) -> ebb::Status {
    if (!writer) return std::unexpected(std::move(writer).error());
    writer_ = std::move(writer).value();
    return {};
  };
  switch (op_.stage()) {
    case OpWriteBlockProto::PIPELINE_SETUP_CREATE:
    case OpWriteBlockProto::TRANSFER_RBW:
    case OpWriteBlockProto::TRANSFER_FINALIZED: {
      EBB_ASSIGN(const auto checksum, FromProto(op_.requestedchecksum()));
      return open(store_.Create({.block_id = id,
                                 .generation_stamp = stamp,
                                 .checksum = checksum,
                                 .state = acknowledges_ && !combine_ ? ReplicaState::kBeingWritten
                                                                     : ReplicaState::kTemporary,
                                 .storage_uuid = op_.storageid(),
                                 .exact_storage = combine_,
                                 .expected_bytes = block_.numbytes(),
                                 .replaces_older = transfer_,
                                 .storage_type = WantedType()}));
    }
    case OpWriteBlockProto::PIPELINE_SETUP_STREAMING_RECOVERY:
      return open(
          store_.RecoverWriter(id, stamp, new_stamp, op_.minbytesrcvd(), op_.maxbytesrcvd()));
    case OpWriteBlockProto::PIPELINE_SETUP_APPEND:
      return open(store_.Append(id, stamp, new_stamp, op_.minbytesrcvd()));
    case OpWriteBlockProto::PIPELINE_SETUP_APPEND_RECOVERY:
      return open(store_.RecoverAppend(id, stamp, new_stamp, op_.minbytesrcvd()));
    case OpWriteBlockProto::PIPELINE_CLOSE_RECOVERY:
      EBB_TRY(store_.RecoverClose(id, stamp, new_stamp, op_.minbytesrcvd()));
      return {};
    default:
      break;
  }
  return Fail(ErrorCode::kUnsupported,
              fmt::format("stage {} cannot open block {}",
                          OpWriteBlockProto::BlockConstructionStage_Name(op_.stage()), id));
}

std::optional<StorageType> BlockReceiver::WantedType() const {
  if (!op_.has_storagetype()) return std::nullopt;
  return static_cast<StorageType>(op_.storagetype());
}

ebb::Status BlockReceiver::SetUp() {
  BlockOpResponseProto response;
  response.set_status(SUCCESS);
  response.set_firstbadlink("");
  ebb::Status connected;
  if (op_.targets_size() > 0) connected = ConnectMirror(response);
  if (!connected) {
    spdlog::info("block {}: the next server of the pipeline cannot be used: {}", block_.blockid(),
                 connected.error().message);
    mirror_.reset();
    response.set_status(ERROR);
    response.set_firstbadlink(TransferAddress(op_.targets(0).id()));
    // A copy between servers continues without the mirror: this server stores its replica.
    if (!acknowledges_) connected = {};
  }
  if (acknowledges_) {
    AppendMessage(acks_, response);
    EBB_TRY(FlushAcks());
  }
  return connected;
}

ebb::Status BlockReceiver::ConnectMirror(BlockOpResponseProto& response) {
  OpWriteBlockProto op = op_;
  op.mutable_targets()->DeleteSubrange(0, 1);
  if (op.targetstoragetypes_size() > 0) {
    op.set_storagetype(op.targetstoragetypes(0));
    op.mutable_targetstoragetypes()->erase(op.mutable_targetstoragetypes()->begin());
  }
  if (op.targetpinnings_size() > 0) {
    op.set_pinning(op.targetpinnings(0));
    op.mutable_targetpinnings()->erase(op.mutable_targetpinnings()->begin());
  }
  op.clear_storageid();
  if (op.targetstorageids_size() > 0) {
    op.set_storageid(op.targetstorageids(0));
    op.mutable_targetstorageids()->DeleteSubrange(0, 1);
  }
  // An append uses the checksum type of the replica on the disk, whatever the client requests.
  if (writer_) *op.mutable_requestedchecksum() = ToProto(writer_->checksum());
  EBB_ASSIGN(mirror_, StartWrite(op_.targets(0).id(), op));
  mirror_reader_.emplace(*mirror_);
  if (!acknowledges_) return {};
  EBB_TRY(ReadMessage(*mirror_reader_, response,
                      kPeerTimeout + op_.targets_size() * kTimeoutPerHop));
  // A server that refuses the block does not name itself.
  if (response.status() != SUCCESS && response.firstbadlink().empty()) {
    response.set_firstbadlink(TransferAddress(op_.targets(0).id()));
  }
  return {};
}

// ---- packets ----------------------------------------------------------------------------------

ebb::Status BlockReceiver::ReceiveAll() {
  while (!done_) {
    if (last_received_ || !HasPacket(reader_)) {
      EBB_TRY(FlushAcks());
      EBB_TRY(AwaitUpstream());
    } else if (MirrorExpected()) {
      EBB_ASSIGN(const bool acked, mirror_->WaitReadable(Timeout(0)));
      if (acked) EBB_TRY(TakeMirrorAck());
    }
    if (!done_ && !last_received_ && reader_.buffered() > 0) EBB_TRY(TakePacket());
  }
  return FlushAcks();
}

// Waits until bytes of a packet are in the buffer, or until an acknowledgement was handled.
ebb::Status BlockReceiver::AwaitUpstream() {
  const auto timeout = kPeerTimeout + (op_.targets_size() + 1) * kTimeoutPerHop;
  const bool packets = !last_received_;
  if (packets && reader_.buffered() > 0) return {};
  pollfd entries[2] = {{packets ? upstream_.fd() : -1, POLLIN, 0},
                       {MirrorExpected() ? mirror_->fd() : -1, POLLIN, 0}};
  if (MirrorExpected() && mirror_reader_->buffered() > 0) return TakeMirrorAck();
  const int ready = poll(entries, 2, static_cast<int>(timeout.count()));
  if (ready < 0 && errno == EINTR) return {};
  if (ready <= 0) {
    mirror_failed_ = MirrorExpected();
    return Fail(ErrorCode::kTimeout,
                fmt::format("no packet from {} and no acknowledgement of the next server for {} ms",
                            upstream_.peer(), timeout.count()));
  }
  if (entries[1].revents != 0) return TakeMirrorAck();
  EBB_ASSIGN(const bool end, reader_.AtEnd(timeout));
  if (end) {
    return Fail(ErrorCode::kNetwork,
                fmt::format("{} closed the connection before the last packet", upstream_.peer()));
  }
  return {};
}

ebb::Status BlockReceiver::TakePacket() {
  EBB_ASSIGN(const auto packet, ReadPacket(reader_, kPeerTimeout));
  sequence_ = packet.sequence;
  const bool heartbeat = packet.sequence == kHeartbeatSequence;
  const PendingPacket pending = {packet.sequence,
                                 heartbeat ? 0 : packet.offset + packet.data.size(), packet.last};
  if (mirror_ && !mirror_failed_) {
    if (acknowledges_) pending_.push_back(pending);
    const auto forwarded = mirror_->WriteAll(packet.raw, kPeerTimeout);
    if (!forwarded) {
      // A copy between servers continues without the mirror.
      mirror_failed_ = acknowledges_;
      if (acknowledges_) return forwarded;
      mirror_.reset();
    }
  }
  if (!heartbeat) EBB_TRY(Store(packet));
  if (packet.last) last_received_ = true;
  if (!mirror_ || !acknowledges_) {
    writer_->Acknowledge(pending.end);
    if (acknowledges_) Acknowledge(pending, nullptr);
    if (packet.last) done_ = true;
  }
  return {};
}

ebb::Status BlockReceiver::Store(const Packet& packet) {
  if (background_) counters_.background_bytes += packet.data.size();
  if (!packet.data.empty()) EBB_TRY(writer_->Write(packet.offset, packet.data, packet.sums));
  if (half_.ReachedBy(writer_->length(), block_.numbytes())) {
    EBB_TRY(fail_point::Reach(fail_point::kTargetHalf));
  }
  if (packet.last) return Finish(packet.sync);
  if (packet.sync) return writer_->Sync();
  return {};
}

ebb::Status BlockReceiver::Finish(bool sync) {
  writer_->OnTakeOver(nullptr);
  EBB_TRY(fail_point::Reach(fail_point::kTargetFinalize));
  if (op_.stage() == OpWriteBlockProto::TRANSFER_RBW) {
    EBB_TRY(writer_->MakeVisible());
  } else {
    EBB_TRY(writer_->Finish(sync));
  }
  EBB_TRY(fail_point::Reach(fail_point::kTargetAnswer));
  if (!transfer_) return {};
  BlockOpResponseProto response;
  response.set_status(SUCCESS);
  AppendMessage(acks_, response);
  return {};
}

// ---- acknowledgements -------------------------------------------------------------------------

ebb::Status BlockReceiver::TakeMirrorAck() {
  do {
    PipelineAckProto ack;
    if (auto read = ReadMessage(*mirror_reader_, ack, kPeerTimeout); !read) {
      mirror_failed_ = true;
      return read;
    }
    const auto packet = pending_.front();
    if (ack.seqno() != packet.sequence) {
      mirror_failed_ = true;
      return Fail(ErrorCode::kNetwork, fmt::format("{} acknowledged packet {} instead of {}",
                                                   mirror_->peer(), ack.seqno(), packet.sequence));
    }
    bool good = true;
    for (const int status : ack.reply()) good = good && status == SUCCESS;
    if (good && packet.sequence != kHeartbeatSequence) writer_->Acknowledge(packet.end);
    Acknowledge(packet, &ack);
    pending_.pop_front();
    done_ = packet.last;
    if (!good && !done_) {
      EBB_TRY(FlushAcks());
      Drain();
      return Fail(ErrorCode::kNetwork, "a later server of the pipeline failed");
    }
  } while (!pending_.empty() && mirror_reader_->buffered() > 0);
  return {};
}

void BlockReceiver::Acknowledge(const PendingPacket& packet, const PipelineAckProto* downstream) {
  PipelineAckProto ack;
  ack.set_seqno(packet.sequence);
  ack.add_reply(SUCCESS);
  ack.add_flag(SUCCESS);
  if (downstream != nullptr) {
    for (int i = 0; i < downstream->reply_size(); ++i) {
      ack.add_reply(downstream->reply(i));
      ack.add_flag(i < downstream->flag_size() ? downstream->flag(i)
                                               : static_cast<std::uint32_t>(downstream->reply(i)));
    }
  }
  AppendMessage(acks_, ack);
}

ebb::Status BlockReceiver::FlushAcks() {
  if (acks_.empty()) return {};
  auto written = WriteString(upstream_, acks_, kPeerTimeout);
  acks_.clear();
  return written;
}

void BlockReceiver::SendFailure(AckStatus mine, bool mirror_failed) {
  if (!acknowledges_) return;
  PipelineAckProto ack;
  ack.set_seqno(mirror_failed && !pending_.empty() ? pending_.front().sequence : sequence_);
  ack.add_reply(mine);
  ack.add_flag(mine);
  if (mirror_failed) {
    ack.add_reply(ERROR);
    ack.add_flag(ERROR);
  }
  AppendMessage(acks_, ack);
  if (combine_) {
    BlockOpResponseProto response;
    response.set_status(mine);
    response.set_message(why_);
    AppendMessage(acks_, response);
  }
  if (FlushAcks()) Drain();
}

void BlockReceiver::Drain() {
  shutdown(upstream_.fd(), SHUT_WR);
  const auto deadline = std::chrono::steady_clock::now() + kDrainTimeout;
  std::byte sink[4096];
  while (std::chrono::steady_clock::now() < deadline) {
    const auto got = upstream_.ReadSome(sink, kDrainTimeout);
    if (!got || *got == 0) return;
  }
}

}  // namespace ebb::transfer
