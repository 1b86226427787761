#include "client/block_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "transfer/peer.h"

namespace ebb::client {

using namespace hadoop::hdfs;
using ebb::Status;

namespace {

constexpr std::size_t kBufferBytes = std::size_t{512} << 10;
constexpr std::size_t kSmallBufferBytes = std::size_t{16} << 10;

std::size_t BufferFor(std::uint64_t bytes) {
  return bytes < kSmallBufferBytes ? kSmallBufferBytes : kBufferBytes;
}

}  // namespace

BlockReader::BlockReader(Socket socket, std::uint64_t block_id, std::uint64_t offset,
                         std::uint64_t end)
    : socket_(std::move(socket)),
      reader_(socket_, BufferFor(end - offset)),
      block_id_(block_id),
      position_(offset),
      end_(end) {}

Result<std::unique_ptr<BlockReader>> BlockReader::Open(const LocatedBlockProto& block,
                                                       const DatanodeIDProto& server,
                                                       std::uint64_t offset, std::uint64_t end,
                                                       const std::string& client_name) {
  EBB_ASSIGN(auto socket, transfer::ConnectTo(server));
  std::unique_ptr<BlockReader> reader(
      new BlockReader(std::move(socket), block.b().blockid(), offset, end));
  OpReadBlockProto op;
  transfer::FillHeader(*op.mutable_header(), block.b(), client_name);
  *op.mutable_header()->mutable_baseheader()->mutable_token() = block.blocktoken();
  op.set_offset(offset);
  op.set_len(end - offset);
  if (auto started = reader->Start(op); !started) {
    return std::unexpected(
        transfer::WithPeer(transfer::TransferAddress(server), std::move(started).error()));
  }
  return reader;
}

Status BlockReader::Start(const OpReadBlockProto& op) {
  std::string request;
  transfer::AppendOperation(request, transfer::Operation::kReadBlock, op);
  EBB_TRY(transfer::WriteString(socket_, request, transfer::kPeerTimeout));
  BlockOpResponseProto response;
  EBB_TRY(transfer::ReadMessage(reader_, response, transfer::kPeerTimeout));
  EBB_TRY(transfer::CheckResponse(response, socket_.peer(), block_id_, "read"));
  EBB_ASSIGN(checksum_, transfer::FromProto(response.readopchecksuminfo().checksum()));
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
  if (n == 0 && most > 0 && !finished_) Finish();
  return bytes;
}

Status BlockReader::NextPacket() {
  EBB_ASSIGN(const auto packet, transfer::ReadPacket(reader_, transfer::kPeerTimeout));
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

// Ends the operation at the server in order, and tells it that the bytes were right. All bytes have
// arrived, so that errors do not matter.
void BlockReader::Finish() {
  finished_ = true;
  const auto last = transfer::ReadPacket(reader_, transfer::kPeerTimeout);
  if (!last || !last->last) return;
  ClientReadStatusProto status;
  status.set_status(CHECKSUM_OK);
  (void)transfer::WriteMessage(socket_, status, transfer::kPeerTimeout);
}

std::unexpected<Error> BlockReader::Nonsense(const char* what) const {
  return Fail(ErrorCode::kNetwork, fmt::format("the data that {} sends of block {} {}",
                                               socket_.peer(), block_id_, what));
}

}  // namespace ebb::client
