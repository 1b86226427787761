#include "transfer/remote_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "common/socket.h"
#include "common/socket_reader.h"
#include "disk/format.h"
#include "transfer/peer.h"
#include "transfer/wire.h"

namespace ebb::transfer {

namespace {

using namespace hadoop::hdfs;

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
    if (next_offset_ > position_) return Nonsense("begins after the requested offset");
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
    return Fail(ErrorCode::kNetwork, fmt::format("the data that {} sends of block {} {}",
                                                 socket_.peer(), block_id_, what));
  }

  ebb::Status NextPacket() {
    EBB_ASSIGN(const auto packet, ReadPacket(reader_, kPeerTimeout));
    if (packet.last) return Nonsense("end too early");
    if (packet.offset != next_offset_) return Nonsense("are out of order");
    if (packet.sums.size() != checksum_.BytesFor(packet.data.size())) {
      return Nonsense("have checksums of a wrong length");
    }
    if (const auto bad = checksum_.FirstMismatch(packet.data, packet.sums)) {
      return Fail(
          ErrorCode::kCorrupt,
          fmt::format("the data of block {} from {} contradict their checksum at {}", block_id_,
                      socket_.peer(), packet.offset + *bad * checksum_.bytes_per_chunk));
    }
    next_offset_ += packet.data.size();
    // The first packet begins at a chunk, perhaps before the requested offset.
    const std::size_t skip = std::min<std::uint64_t>(position_ - packet.offset, packet.data.size());
    rest_ = packet.data.subspan(skip);
    return {};
  }

  // Ends the operation at the peer in order. All bytes have arrived, so that errors do not matter.
  void Finish() {
    finished_ = true;
    const auto last = ReadPacket(reader_, kPeerTimeout);
    if (!last || !last->last) return;
    ClientReadStatusProto status;
    status.set_status(CHECKSUM_OK);
    (void)WriteMessage(socket_, status, kPeerTimeout);
  }

  Socket socket_;
  SocketReader reader_;
  const std::uint64_t block_id_;
  format::Checksum checksum_;
  std::uint64_t next_offset_ = 0;
  std::uint64_t position_;
  const std::uint64_t end_;
  bool finished_ = false;
  // The rest of the current packet, inside the reader's buffer.
  std::span<const std::byte> rest_;
};

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
    return std::unexpected(WithPeer(TransferAddress(peer), std::move(started).error()));
  }
  return source;
}

}  // namespace ebb::transfer
