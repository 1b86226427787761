#include "client/file_checksum.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "common/bytes.h"
#include "common/socket_reader.h"
#include "transfer/md5.h"
#include "transfer/peer.h"

namespace ebb::client {

using namespace hadoop::hdfs;

namespace {

// HDFS takes the MD5 of a buffer of this size, doubled until the MD5s of all blocks fit: what is
// behind them is zero.
constexpr std::size_t kFirstBufferBytes = 32;

std::string RequestFor(const LocatedBlockProto& block) {
  OpBlockChecksumProto op;
  *op.mutable_header()->mutable_block() = block.b();
  *op.mutable_header()->mutable_token() = block.blocktoken();
  op.mutable_blockchecksumoptions()->set_blockchecksumtype(MD5CRC);
  std::string request;
  transfer::AppendOperation(request, transfer::Operation::kBlockChecksum, op);
  return request;
}

std::string RequestForGroup(const LocatedBlockProto& group,
                            const ErasureCodingPolicyProto& policy) {
  OpBlockGroupChecksumProto op;
  *op.mutable_header()->mutable_block() = group.b();
  *op.mutable_header()->mutable_token() = group.blocktoken();
  for (const auto& server : group.locs()) *op.mutable_datanodes()->add_datanodes() = server;
  *op.mutable_blocktokens() = group.blocktokens();
  *op.mutable_ecpolicy() = policy;
  for (const char index : group.blockindices()) {
    op.add_blockindices(static_cast<unsigned char>(index));
  }
  op.set_requestednumbytes(group.b().numbytes());
  op.mutable_blockchecksumoptions()->set_blockchecksumtype(MD5CRC);
  std::string request;
  transfer::AppendOperation(request, transfer::Operation::kBlockGroupChecksum, op);
  return request;
}

Result<OpBlockChecksumResponseProto> AskServer(const LocatedBlockProto& block,
                                               const DatanodeIDProto& server,
                                               const std::string& request) {
  EBB_ASSIGN(auto socket, transfer::ConnectTo(server));
  EBB_TRY(transfer::WriteString(socket, request, transfer::kPeerTimeout));
  SocketReader reader(socket);
  BlockOpResponseProto response;
  EBB_TRY(transfer::ReadMessage(reader, response, transfer::kPeerTimeout));
  EBB_TRY(transfer::CheckResponse(response, socket.peer(), block.b().blockid(), "sum"));
  return response.checksumresponse();
}

Result<OpBlockChecksumResponseProto> AskAnyServer(const LocatedBlockProto& block,
                                                  const std::string& request) {
  Error last{ErrorCode::kNotFound, fmt::format("block {} is at no server", block.b().blockid())};
  for (const auto& server : block.locs()) {
    auto answer = AskServer(block, server.id(), request);
    if (answer) return answer;
    last = std::move(answer).error();
  }
  return std::unexpected(last);
}

std::string Hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

}  // namespace

Result<FileChecksum> ChecksumOf(FileSystem& files, const std::string& path) {
  EBB_ASSIGN(const auto located, files.Blocks(path, 0, INT64_MAX));
  const bool groups = located.has_ecpolicy() && ToErasurePolicy(located.ecpolicy()).has_value();
  std::string sums;
  std::uint32_t bytes_per_crc = 0;
  std::uint64_t crcs_per_block = 0;
  bool crc32c = false;
  for (const auto& block : located.blocks()) {
    const auto request = groups ? RequestForGroup(block, located.ecpolicy()) : RequestFor(block);
    EBB_ASSIGN(const auto answer, AskAnyServer(block, request));
    if (sums.empty()) {
      bytes_per_crc = answer.bytespercrc();
      crc32c = answer.crctype() == CHECKSUM_CRC32C;
      if (located.blocks_size() > 1) crcs_per_block = answer.crcperblock();
    }
    sums += answer.blockchecksum();
  }
  std::size_t buffer = kFirstBufferBytes;
  while (buffer < sums.size()) buffer *= 2;
  sums.resize(buffer);
  const auto md5 = transfer::Md5(std::as_bytes(std::span(sums)));
  std::array<std::byte, 12> head = {};
  StoreBig32(head.data(), bytes_per_crc);
  StoreBig32(head.data() + 4, static_cast<std::uint32_t>(crcs_per_block >> 32));
  StoreBig32(head.data() + 8, static_cast<std::uint32_t>(crcs_per_block));
  return FileChecksum{
      fmt::format("MD5-of-{}MD5-of-{}CRC32{}", crcs_per_block, bytes_per_crc, crc32c ? "C" : ""),
      Hex(head) + Hex(md5)};
}

}  // namespace ebb::client
