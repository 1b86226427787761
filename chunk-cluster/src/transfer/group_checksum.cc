#include "transfer/group_checksum.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/socket.h"
#include "common/socket_reader.h"
#include "transfer/block_checksum.h"
#include "transfer/group_layout.h"
#include "transfer/md5.h"
#include "transfer/peer.h"
#include "transfer/wire.h"

namespace ebb::transfer {

namespace {

using namespace hadoop::hdfs;

constexpr std::size_t kMd5Bytes = 16;
constexpr std::size_t kCrcBytes = 4;
// A server that does not answer within this time counts as lost. The time is that of HDFS, whose
// client waits a minute for the whole group.
constexpr Timeout kHolderTimeout = std::chrono::seconds(3);

ebb::Status CheckRequest(const OpBlockGroupChecksumProto& op) {
  const std::uint64_t length = op.header().block().numbytes();
  if (op.requestednumbytes() > length) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("the checksum of {} bytes of group {} was requested, but it has {}",
                            op.requestednumbytes(), op.header().block().blockid(), length));
  }
  if (op.blockindices_size() != op.datanodes().datanodes_size()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("the request for the checksum of group {} names {} servers, and {} "
                            "indices of their blocks: a server for each index is needed",
                            op.header().block().blockid(), op.datanodes().datanodes_size(),
                            op.blockindices_size()));
  }
  return {};
}

Result<OpBlockChecksumResponseProto> AskPeer(const DatanodeIDProto& peer,
                                             const OpBlockChecksumProto& op) {
  EBB_ASSIGN(auto socket,
             Socket::Connect(peer.ipaddr(), static_cast<std::uint16_t>(peer.xferport()),
                             kHolderTimeout));
  std::string request;
  AppendOperation(request, Operation::kBlockChecksum, op);
  EBB_TRY(WriteString(socket, request, kHolderTimeout));
  SocketReader reader(socket);
  BlockOpResponseProto response;
  EBB_TRY(ReadMessage(reader, response, kHolderTimeout));
  EBB_TRY(CheckResponse(response, TransferAddress(peer), op.header().block().blockid(),
                        "tell the checksum of"));
  return response.checksumresponse();
}

class GroupChecksum {
 public:
  GroupChecksum(BlockStore& store, MissingBlockReader* missing,
                const OpBlockGroupChecksumProto& op, const GroupLayout& layout)
      : store_(store), missing_(missing), op_(op), layout_(layout), options_(OptionsOfBlocks()) {}

  Result<OpBlockChecksumResponseProto> Compute() {
    EBB_TRY(CollectBlocks());
    EBB_TRY(CheckAgreement());
    OpBlockChecksumResponseProto response;
    response.set_bytespercrc(blocks_[0]->bytespercrc());
    response.set_crcperblock(blocks_[0]->crcperblock());
    response.set_crctype(blocks_[0]->crctype());
    *response.mutable_blockchecksumoptions() = op_.blockchecksumoptions();
    response.set_blockchecksum(composite() ? ComposeCells() : DigestBlocks());
    return response;
  }

 private:
  [[nodiscard]] bool composite() const {
    return op_.blockchecksumoptions().blockchecksumtype() == COMPOSITE_CRC;
  }

  // To put the CRCs of cells in the order of the data, there must be one for each cell.
  [[nodiscard]] BlockChecksumOptionsProto OptionsOfBlocks() const {
    BlockChecksumOptionsProto options = op_.blockchecksumoptions();
    if (composite()) options.set_stripelength(layout_.cell_bytes);
    return options;
  }

  [[nodiscard]] ExtendedBlockProto BlockAt(std::uint64_t index, std::uint64_t length) const {
    ExtendedBlockProto block = op_.header().block();
    block.set_blockid(block.blockid() + index);
    block.set_numbytes(length);
    return block;
  }
  [[nodiscard]] std::uint64_t LengthAt(std::uint64_t index) const {
    return layout_.BlockBytes(op_.requestednumbytes(), index);
  }

  // First those that a server has: they tell of which kind the checksums of the others are.
  ebb::Status CollectBlocks() {
    const std::uint64_t cells = layout_.CellsOf(op_.requestednumbytes());
    blocks_.resize(std::clamp<std::uint64_t>(cells, 1, layout_.data_units));
    std::vector<std::string> failures(blocks_.size());
    for (std::uint64_t i = 0; i < blocks_.size(); ++i) {
      auto answer = FromHolder(i, LengthAt(i));
      if (answer) {
        blocks_[i] = std::move(*answer);
      } else {
        failures[i] = answer.error().message;
      }
    }
    for (std::uint64_t i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i]) continue;
      EBB_ASSIGN(blocks_[i], Decoded(i, failures[i]));
    }
    return {};
  }

  Result<OpBlockChecksumResponseProto> FromHolder(std::uint64_t index, std::uint64_t length) {
    const ExtendedBlockProto block = BlockAt(index, length);
    if (store_.OpenReader(block.blockid(), block.generationstamp())) {
      EBB_ASSIGN(const auto sums, CollectChecksums(store_, nullptr, block));
      OpBlockChecksumResponseProto response;
      EBB_TRY(FillChecksumResponse(sums, options_, response));
      return response;
    }
    OpBlockChecksumProto op;
    *op.mutable_header() = op_.header();
    *op.mutable_header()->mutable_block() = block;
    *op.mutable_blockchecksumoptions() = options_;
    for (int i = 0; i < op_.blockindices_size(); ++i) {
      const DatanodeIDProto& server = op_.datanodes().datanodes(i).id();
      if (op_.blockindices(i) != index || server.datanodeuuid() == store_.server_uuid()) continue;
      if (i < op_.blocktokens_size()) *op.mutable_header()->mutable_token() = op_.blocktokens(i);
      auto answer = AskPeer(server, op);
      if (answer) answer = Checked(std::move(*answer), server, length);
      return answer;
    }
    return Fail(ErrorCode::kNotFound, "no server is named that has it");
  }

  [[nodiscard]] std::size_t ExpectedBytes(std::uint64_t length) const {
    return composite() ? kCrcBytes * layout_.CellsOf(length) : kMd5Bytes;
  }

  Result<OpBlockChecksumResponseProto> Checked(OpBlockChecksumResponseProto answer,
                                               const DatanodeIDProto& server,
                                               std::uint64_t length) const {
    if (answer.blockchecksum().size() == ExpectedBytes(length)) return answer;
    return Fail(ErrorCode::kNetwork,
                fmt::format("{} answered a checksum of {} bytes instead of {}",
                            TransferAddress(server), answer.blockchecksum().size(),
                            ExpectedBytes(length)));
  }

  // `why` says why no server told the checksum.
  Result<OpBlockChecksumResponseProto> Decoded(std::uint64_t index, const std::string& why) {
    const ExtendedBlockProto block = BlockAt(index, LengthAt(index));
    if (missing_ == nullptr) {
      return Fail(ErrorCode::kNotFound,
                  fmt::format("no server told the checksum of block {}: {}", block.blockid(), why));
    }
    spdlog::info("block {} is decoded for the checksum of its group: {}", block.blockid(), why);
    EBB_ASSIGN(const auto sums, DecodeChecksums(*missing_, block, KindOfChecksums()));
    OpBlockChecksumResponseProto response;
    EBB_TRY(FillChecksumResponse(sums, options_, response));
    return response;
  }

  // The kind of the checksums that the client wrote, by a block that is there: a data block, or a
  // parity if all data blocks are lost.
  format::Checksum KindOfChecksums() {
    for (const auto& block : blocks_) {
      if (block) return KindOf(*block).value_or(format::Checksum());
    }
    for (const std::uint32_t index : op_.blockindices()) {
      if (index < layout_.data_units || index >= GroupLayout::kMaxUnits) continue;
      if (const auto answer = FromHolder(index, 0)) {
        return KindOf(*answer).value_or(format::Checksum());
      }
    }
    return {};
  }
  static Result<format::Checksum> KindOf(const OpBlockChecksumResponseProto& answer) {
    return format::MakeChecksum(static_cast<int>(answer.crctype()), answer.bytespercrc());
  }

  ebb::Status CheckAgreement() const {
    for (const auto& block : blocks_) {
      if (block->bytespercrc() != blocks_[0]->bytespercrc() ||
          block->crctype() != blocks_[0]->crctype()) {
        return Fail(ErrorCode::kInvalid,
                    fmt::format("the blocks of group {} have checksums of several kinds: read the "
                                "file to compare it",
                                op_.header().block().blockid()));
      }
    }
    return {};
  }

  // HDFS digests its whole buffer, which has at least two MD5s, doubles when it is full, and ends
  // with zeros.
  [[nodiscard]] std::string DigestBlocks() const {
    std::size_t capacity = 2 * kMd5Bytes;
    while (capacity < blocks_.size() * kMd5Bytes) capacity *= 2;
    std::string buffer;
    for (const auto& block : blocks_) buffer += block->blockchecksum();
    buffer.resize(capacity, '\0');
    const auto digest = Md5(std::as_bytes(std::span(buffer)));
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
  }

  [[nodiscard]] std::string ComposeCells() const {
    const auto type = static_cast<format::ChecksumType>(blocks_[0]->crctype());
    std::uint32_t crc = 0;
    std::uint64_t cell = 0;
    for (std::uint64_t left = op_.requestednumbytes(); left > 0; ++cell) {
      const std::string& crcs = blocks_[cell % layout_.data_units]->blockchecksum();
      const std::uint64_t length = std::min(layout_.cell_bytes, left);
      crc = ConcatChecksums(type, crc,
                            LoadBig32(reinterpret_cast<const std::byte*>(
                                crcs.data() + kCrcBytes * (cell / layout_.data_units))),
                            length);
      left -= length;
    }
    std::string composed(kCrcBytes, '\0');
    StoreBig32(reinterpret_cast<std::byte*>(composed.data()), crc);
    return composed;
  }

  BlockStore& store_;
  MissingBlockReader* const missing_;
  const OpBlockGroupChecksumProto& op_;
  const GroupLayout layout_;
  const BlockChecksumOptionsProto options_;
  // By the index of the data block.
  std::vector<std::optional<OpBlockChecksumResponseProto>> blocks_;
};

}  // namespace

Result<OpBlockChecksumResponseProto> ChecksumOfGroup(BlockStore& store, MissingBlockReader* missing,
                                                     const OpBlockGroupChecksumProto& op) {
  EBB_TRY(CheckRequest(op));
  EBB_ASSIGN(const auto layout, LayoutOf(op.ecpolicy()));
  return GroupChecksum(store, missing, op, layout).Compute();
}

}  // namespace ebb::transfer
