#include "transfer/block_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "transfer/peer.h"
#include "transfer/wire.h"

namespace ebb::transfer {

using namespace hadoop::hdfs;

BlockReader::BlockReader(Socket socket, const OpReadBlockProto& op, std::size_t buffer_bytes)
    : socket_(std::move(socket)),
      reader_(socket_, buffer_bytes),
      block_id_(op.header().baseheader().block().blockid()),
      position_(op.offset()),
      end_(op.offset() + op.len()) {}

Result<std::unique_ptr<BlockReader>> BlockReader::Open(const DatanodeIDProto& server,
                                                       const OpReadBlockProto& op,
                                                       std::size_t buffer_bytes,
                                                       Timeout connect_timeout) {
  EBB_ASSIGN(auto socket, ConnectTo(server, connect_timeout));
  std::unique_ptr<BlockReader> reader(new BlockReader(std::move(socket), op, buffer_bytes));
  if (auto started = reader->Start(op); !started) {
    return std::unexpected(WithPeer(TransferAddress(server), std::move(started).error()));
  }
  return reader;
}

ebb::Status BlockReader::Start(const OpReadBlockProto& op) {
  std::string request;
  AppendOperation(request, Operation::kReadBlock, op);
  EBB_TRY(WriteString(socket_, request, kPeerTimeout));
  BlockOpResponseProto response;
  EBB_TRY(ReadMessage(reader_, response, kPeerTimeout));
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
  if (n == 0 && most > 0 && !finished_) Finish();
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

// Ends the operation at the server in order, and tells it that the bytes were right. All bytes have
// arrived, so that errors do not matter.
void BlockReader::Finish() {
  finished_ = true;
  const auto last = ReadPacket(reader_, kPeerTimeout);
  if (!last || !last->last) return;
  ClientReadStatusProto status;
  status.set_status(CHECKSUM_OK);
  (void)WriteMessage(socket_, status, kPeerTimeout);
}

std::unexpected<Error> BlockReader::Nonsense(const char* what) const {
  return Fail(ErrorCode::kNetwork, fmt::format("the data that {} sends of block {} {}",
                                               socket_.peer(), block_id_, what));
}

}  // namespace ebb::transfer
