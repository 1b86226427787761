#include "transfer/block_mover.h"

#include <fmt/core.h>

#include <algorithm>

#include "transfer/block_sender.h"
#include "transfer/peer.h"
#include "transfer/wire.h"

namespace ebb::transfer {

namespace {

using namespace hadoop::hdfs;

// HDFS's clients wait twice as long for the next answer at least.
constexpr auto kProgressInterval = kPeerTimeout / 2;
// The throttle of the server that sends lets it write once in 30 s at least.
constexpr Timeout kSlowSourceTimeout = std::chrono::minutes(2);
// The server that sends has closed its files when its last two bytes come.
constexpr std::size_t kEndBytes = 2;
constexpr char kEnd[kEndBytes] = {0, 'd'};
// The uuid of a server has 36 characters. What a client names goes to the namenode, which keeps it.
constexpr std::size_t kMaxHint = 64;

}  // namespace

ebb::Status SendForMove(Socket& socket, const ReplicaReader& replica, BalanceThrottler& throttler,
                        BalanceThrottler::Move move, const std::stop_token& stop) {
  BlockOpResponseProto response;
  response.set_status(SUCCESS);
  *response.mutable_readopchecksuminfo()->mutable_checksum() = ToProto(replica.checksum());
  response.mutable_readopchecksuminfo()->set_chunkoffset(0);
  std::string prefix;
  AppendMessage(prefix, response);
  {
    const auto counted = std::move(move);
    const SendRange range = {
        .offset = 0,
        .end = replica.length(),
        .with_checksums = true,
        .sync = false,
        .timeout = kSlowReaderTimeout,
        .pace = [&](std::uint64_t bytes) { return throttler.Take(bytes, stop); }};
    EBB_TRY(SendReplica(socket, replica, range, std::move(prefix)));
  }
  return WriteString(socket, std::string(kEnd, kEndBytes), kPeerTimeout);
}

ebb::Status BlockMover::Run() {
  EBB_TRY(Check());
  if (IsFromHere()) return Relocate();
  auto fetched = Fetch();
  if (!fetched && fetched.error().code == ErrorCode::kCorrupt && listener_ != nullptr) {
    listener_->OnCorruptAtPeer(op_.source().id(), block_);
  }
  return fetched;
}

bool BlockMover::IsFromHere() const {
  return op_.source().id().datanodeuuid() == store_.server_uuid();
}

StorageType BlockMover::type() const { return static_cast<StorageType>(op_.storagetype()); }

ebb::Status BlockMover::Check() const {
  const bool has_type = std::ranges::any_of(store_.Disks(), [&](const auto& disk) {
    return !disk.failed && disk.type == type();
  });
  if (!has_type) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} cannot move to a storage of type {}: this server has no "
                            "working storage of that type; choose another server",
                            block_.blockid(), StorageTypeProto_Name(op_.storagetype())));
  }
  if (op_.delhint().size() > kMaxHint) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} cannot move for server '{}...': the name has {} bytes, and "
                            "the uuid of a server has at most {}; name the server whose replica is "
                            "to go",
                            block_.blockid(), op_.delhint().substr(0, kMaxHint),
                            op_.delhint().size(), kMaxHint));
  }
  return {};
}

ebb::Status BlockMover::Relocate() {
  return store_.Relocate(block_.blockid(), block_.generationstamp(),
                         {.storage_uuid = op_.storageid(), .type = type()},
                         [this](std::uint64_t bytes) -> ebb::Status {
                           EBB_TRY(throttler_.Take(bytes, stop_));
                           return TellProgress();
                         });
}

ebb::Status BlockMover::Fetch() {
  EBB_ASSIGN(auto source, ConnectTo(op_.source().id()));
  OpCopyBlockProto request;
  *request.mutable_header() = op_.header();
  std::string bytes;
  AppendOperation(bytes, Operation::kCopyBlock, request);
  EBB_TRY(WriteString(source, bytes, kPeerTimeout));
  SocketReader reader(source, kPacketDataBytes);
  BlockOpResponseProto response;
  // The sender waits for its turn after each packet, and the answer to a small block waits with it.
  EBB_TRY(ReadMessage(reader, response, kSlowSourceTimeout));
  EBB_TRY(CheckResponse(response, source.peer(), block_.blockid(), "send"));
  EBB_ASSIGN(const auto checksum, FromProto(response.readopchecksuminfo().checksum()));
  EBB_ASSIGN(const auto writer, store_.Create({.block_id = block_.blockid(),
                                               .generation_stamp = block_.generationstamp(),
                                               .checksum = checksum,
                                               .state = ReplicaState::kTemporary,
                                               .storage_uuid = op_.storageid(),
                                               .expected_bytes = block_.numbytes(),
                                               .replaces = op_.delhint(),
                                               .storage_type = type(),
                                               .exact_type = true}));
  EBB_TRY(Receive(reader, *writer));
  // The replica that this one replaces may have been synced.
  EBB_TRY(writer->Finish(true));
  (void)reader.Take(kEndBytes, kPeerTimeout);
  return {};
}

ebb::Status BlockMover::Receive(SocketReader& reader, ReplicaWriter& writer) {
  for (;;) {
    EBB_ASSIGN(const auto packet, ReadPacket(reader, kSlowSourceTimeout));
    if (!packet.data.empty()) EBB_TRY(writer.Write(packet.offset, packet.data, packet.sums));
    if (packet.last) return {};
    EBB_TRY(throttler_.Take(packet.raw.size(), stop_));
    EBB_TRY(TellProgress());
  }
}

ebb::Status BlockMover::TellProgress() {
  const auto now = std::chrono::steady_clock::now();
  if (now - told_ < kProgressInterval) return {};
  told_ = now;
  BlockOpResponseProto response;
  response.set_status(IN_PROGRESS);
  return WriteMessage(client_, response, kPeerTimeout);
}

}  // namespace ebb::transfer
