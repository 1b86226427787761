#include "transfer/block_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include "transfer/peer.h"
#include "transfer/wire.h"

namespace ebb::transfer {

using namespace hadoop::hdfs;

namespace {

// How long a reader that has all bytes waits for the end of the range.
constexpr Timeout kLeaveTimeout = std::chrono::milliseconds(20);

}  // namespace

BlockReader::BlockReader(Socket socket, const OpReadBlockProto& op, std::size_t buffer_bytes)
    : socket_(std::move(socket)),
      reader_(socket_, buffer_bytes),
      block_id_(op.header().baseheader().block().blockid()),
      position_(op.offset()),
      end_(op.offset() + op.len()) {}

Result<std::unique_ptr<BlockReader>> BlockReader::Open(const DatanodeIDProto& server,
                                                       const OpReadBlockProto& op,
                                                       std::size_t buffer_bytes,
                                                       const ReadHooks& hooks) {
  const auto address = TransferAddress(server);
  if (hooks.idle != nullptr) {
    if (auto kept = hooks.idle->Take(address)) {
      // A host that died a moment ago does not answer; it costs no more than a connection to it.
      auto reader = Over(std::move(*kept), address, op, buffer_bytes, hooks, kConnectTimeout);
      if (reader) return reader;
      const auto code = reader.error().code;
      const bool lost = code == ErrorCode::kNetwork || code == ErrorCode::kTimeout;
      if (!lost || (hooks.sockets != nullptr && hooks.sockets->ended())) return reader;
    }
  }
  auto socket = ConnectTo(server, hooks.connect);
  if (!socket && socket.error().code == ErrorCode::kBusy && hooks.idle != nullptr) {
    hooks.idle->DropAll();
    socket = ConnectTo(server, hooks.connect);
  }
  if (!socket) return std::unexpected(std::move(socket).error());
  return Over(*std::move(socket), address, op, buffer_bytes, hooks, kPeerTimeout);
}

Result<std::unique_ptr<BlockReader>> BlockReader::Over(Socket socket, const std::string& address,
                                                       const OpReadBlockProto& op,
                                                       std::size_t buffer_bytes,
                                                       const ReadHooks& hooks, Timeout answer) {
  std::unique_ptr<BlockReader> reader(new BlockReader(std::move(socket), op, buffer_bytes));
  EBB_TRY(reader->Obey(hooks));
  if (auto started = reader->Start(op, answer); !started) {
    return std::unexpected(WithPeer(address, std::move(started).error()));
  }
  reader->idle_ = hooks.idle;
  reader->address_ = address;
  return reader;
}

BlockReader::~BlockReader() {
  try {
    Leave();
  } catch (const std::exception&) {  // no memory: the connection is closed
    if (sockets_ != nullptr) sockets_->Remove(socket_);
  }
}

void BlockReader::Leave() {
  // Who waits for bytes may be gone.
  reader_.OnSilence(Timeout(0), {});
  if (idle_ != nullptr && position_ == end_ && !finished_) reusable_ = Finish(kLeaveTimeout);
  if (sockets_ != nullptr) std::exchange(sockets_, nullptr)->Remove(socket_);
  if (idle_ != nullptr && reusable_) idle_->Put(address_, std::move(socket_));
}

ebb::Status BlockReader::Obey(const ReadHooks& hooks) {
  if (hooks.silence > Timeout(0)) reader_.OnSilence(hooks.silence, hooks.on_silence);
  if (hooks.sockets == nullptr) return {};
  if (!hooks.sockets->Add(socket_)) {
    return Fail(ErrorCode::kShutdown, fmt::format("the read of block {} was ended", block_id_));
  }
  sockets_ = hooks.sockets;
  return {};
}

ebb::Status BlockReader::Start(const OpReadBlockProto& op, Timeout answer) {
  std::string request;
  AppendOperation(request, Operation::kReadBlock, op);
  EBB_TRY(WriteString(socket_, request, answer));
  BlockOpResponseProto response;
  EBB_TRY(ReadMessage(reader_, response, answer));
  EBB_TRY(CheckResponse(response, socket_.peer(), block_id_, "read"));
  EBB_ASSIGN(checksum_, FromProto(response.readopchecksuminfo().checksum()));
  packet_offset_ = response.readopchecksuminfo().chunkoffset();
  if (packet_offset_ > position_) return Nonsense("begin after the requested offset");
  return {};
}

Result<std::span<const std::byte>> BlockReader::Next(std::size_t most) {
  while (rest_.empty() && position_ < end_) EBB_TRY(NextPacket());
  const auto n = std::min<std::uint64_t>({most, rest_.size(), end_ - position_});
  const auto bytes = rest_.first(n);
  rest_ = rest_.subspan(n);
  position_ += n;
  // The end of the operation is read later: that would overwrite the bytes.
  if (n == 0 && most > 0 && !finished_) reusable_ = Finish(kPeerTimeout);
  return bytes;
}

ebb::Status BlockReader::NextPacket() {
  EBB_ASSIGN(const auto packet, ReadPacket(reader_, kPeerTimeout));
  if (packet.last) return Nonsense("end too early");
  if (packet.offset != packet_offset_) return Nonsense("are out of order");
  if (packet.sums.size() != checksum_.BytesFor(packet.data.size())) {
    return Nonsense("have checksums of a wrong length");
  }
  if (const auto bad = checksum_.FirstMismatch(packet.data, packet.sums)) {
    return Fail(
        ErrorCode::kCorrupt,
        fmt::format("the data of block {} from {} contradict their checksum at {}", block_id_,
                    socket_.peer(), packet.offset + *bad * checksum_.bytes_per_chunk));
  }
  packet_offset_ += packet.data.size();
  // The first packet begins at a chunk, perhaps before the requested offset.
  const auto skip = std::min<std::uint64_t>(position_ - packet.offset, packet.data.size());
  rest_ = packet.data.subspan(skip);
  return {};
}

// Tells the server that the bytes were right. All bytes have arrived, so that errors do not matter.
bool BlockReader::Finish(Timeout timeout) {
  finished_ = true;
  rest_ = {};
  const auto last = ReadPacket(reader_, timeout);
  if (!last || !last->last) return false;
  ClientReadStatusProto status;
  status.set_status(CHECKSUM_OK);
  return WriteMessage(socket_, status, timeout) && reader_.buffered() == 0;
}

std::unexpected<Error> BlockReader::Nonsense(const char* what) const {
  return Fail(ErrorCode::kNetwork, fmt::format("the data that {} sends of block {} {}",
                                               socket_.peer(), block_id_, what));
}

}  // namespace ebb::transfer
