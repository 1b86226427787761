// Writes the seed corpus of all targets: one good example of each kind of input, and a few that
// announce more than they send.
//
//   write_corpus DIRECTORY
#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "IpcConnectionContext.pb.h"
#include "ProtobufRpcEngine2.pb.h"
#include "RpcHeader.pb.h"
#include "combine/fake_block_io.h"
#include "common/bytes.h"
#include "disk/format.h"
#include "rpc/wire.h"
#include "transfer/wire.h"

namespace {

using namespace ebb;
using namespace hadoop::hdfs;

std::string root;

void Save(const std::string& target, const std::string& name, const std::string& bytes) {
  const std::filesystem::path folder = std::filesystem::path(root) / target;
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name, std::ios::binary) << bytes;
}

std::string Big32(std::uint32_t number) {
  std::byte bytes[4];
  StoreBig32(bytes, number);
  return std::string(reinterpret_cast<const char*>(bytes), sizeof bytes);
}

// ---- RPC --------------------------------------------------------------------------------------

std::string Text(const std::array<char, rpc_wire::kPreambleBytes>& bytes) {
  return {bytes.data(), bytes.size()};
}

hadoop::common::RpcRequestHeaderProto RpcHeader(std::int32_t call) {
  hadoop::common::RpcRequestHeaderProto header;
  header.set_rpckind(hadoop::common::RPC_PROTOCOL_BUFFER);
  header.set_rpcop(hadoop::common::RpcRequestHeaderProto::RPC_FINAL_PACKET);
  header.set_callid(call);
  header.set_clientid("0123456789abcdef");
  header.set_retrycount(0);
  return header;
}

template <typename... Messages>
std::string RpcFrame(const Messages&... messages) {
  std::string frame = rpc_wire::BeginFrame();
  (rpc_wire::AppendDelimited(frame, messages), ...);
  rpc_wire::EndFrame(frame);
  return frame;
}

void WriteRpc() {
  hadoop::common::IpcConnectionContextProto context;
  context.mutable_userinfo()->set_effectiveuser("user");
  context.set_protocol("io.ebbfs.protocol.ChunkProtocol");
  hadoop::common::RequestHeaderProto method;
  method.set_methodname("verify");
  method.set_declaringclassprotocolname("io.ebbfs.protocol.ChunkProtocol");
  method.set_clientprotocolversion(1);
  ebbfs::VerifyRequestProto verify;
  FillBlock(*verify.add_blocks(), 1, 1000);
  const std::string begin =
      Text(rpc_wire::Preamble()) + RpcFrame(RpcHeader(rpc_wire::kCallIdConnectionContext), context);
  const std::string call = RpcFrame(RpcHeader(0), method, verify);
  Save("rpc_frames", "call", begin + call);
  Save("rpc_frames", "calls-and-pings",
       begin + RpcFrame(RpcHeader(rpc_wire::kCallIdPing)) + call + call);
  Save("rpc_frames", "call-before-context", Text(rpc_wire::Preamble()) + call);
  Save("rpc_frames", "context-twice", begin + begin.substr(rpc_wire::kPreambleBytes));
  Save("rpc_frames", "frame-too-long", begin + Big32(0x7fffffff) + call);
  Save("rpc_frames", "frame-that-does-not-come", begin + Big32(16 << 20) + call);
  Save("rpc_frames", "negative-length", begin + Big32(0x80000000));
  Save("rpc_frames", "http", "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  std::string sasl = begin;
  sasl[6] = static_cast<char>(rpc_wire::kAuthSasl);
  hadoop::common::RpcSaslProto negotiate;
  negotiate.set_state(hadoop::common::RpcSaslProto::NEGOTIATE);
  sasl.insert(rpc_wire::kPreambleBytes, RpcFrame(RpcHeader(rpc_wire::kCallIdSasl), negotiate));
  Save("rpc_frames", "sasl", sasl + call);
}

// ---- data transfer ----------------------------------------------------------------------------

void SetBase(BaseHeaderProto& base, std::uint64_t id, std::uint64_t length) {
  FillBlock(*base.mutable_block(), id, length);
}

std::string Packet(std::int64_t sequence, std::uint64_t offset, const std::string& text,
                   bool last) {
  const format::Checksum checksum;
  const auto data = std::as_bytes(std::span(text));
  std::string sums(checksum.BytesFor(text.size()), '\0');
  checksum.ComputeAll(data, reinterpret_cast<std::byte*>(sums.data()));
  std::string bytes;
  transfer::AppendPacketPrefix(bytes, {.offset = offset,
                                       .sequence = sequence,
                                       .last = last,
                                       .sync = last,
                                       .sums_bytes = sums.size(),
                                       .data_bytes = text.size()});
  return bytes + sums + text;
}

std::string WriteOp(std::uint64_t id, OpWriteBlockProto::BlockConstructionStage stage,
                    const std::string& client, std::uint64_t length = 0, bool target = false) {
  OpWriteBlockProto op;
  SetBase(*op.mutable_header()->mutable_baseheader(), id, length);
  op.mutable_header()->set_clientname(client);
  op.set_stage(stage);
  op.set_pipelinesize(target ? 2 : 1);
  op.set_minbytesrcvd(length);
  op.set_maxbytesrcvd(length);
  op.set_latestgenerationstamp(1002);
  *op.mutable_requestedchecksum() = transfer::ToProto({});
  if (target) {
    ebbfs::BlockLocationProto location;
    FillLocation(location, "next");
    *op.add_targets()->mutable_id() = location.server();
  }
  std::string bytes;
  transfer::AppendOperation(bytes, transfer::Operation::kWriteBlock, op);
  return bytes;
}

std::string ReadOp(std::uint64_t id, std::uint64_t offset, std::uint64_t length) {
  OpReadBlockProto op;
  SetBase(*op.mutable_header()->mutable_baseheader(), id, 1300);
  op.mutable_header()->set_clientname("client");
  op.set_offset(offset);
  op.set_len(length);
  std::string bytes;
  transfer::AppendOperation(bytes, transfer::Operation::kReadBlock, op);
  ClientReadStatusProto thanks;
  thanks.set_status(CHECKSUM_OK);
  transfer::AppendMessage(bytes, thanks);
  return bytes;
}

void WriteTransfer() {
  using Write = OpWriteBlockProto;
  const std::string text(700, 'y');
  const std::string packets = Packet(0, 0, text, false) + Packet(1, 700, "", true);
  Save("transfer", "read", ReadOp(1, 0, 1300) + ReadOp(1, 513, 100) + ReadOp(3, 0, 0));
  Save("transfer", "read-beyond-the-end",
       ReadOp(1, 1300, 1) + ReadOp(1, ~std::uint64_t{0}, 2) + ReadOp(9, 0, 1));
  Save("transfer", "create", WriteOp(10, Write::PIPELINE_SETUP_CREATE, "client") + packets);
  Save("transfer", "create-existing", WriteOp(1, Write::PIPELINE_SETUP_CREATE, "client") + packets);
  Save("transfer", "create-with-mirror",
       WriteOp(10, Write::PIPELINE_SETUP_CREATE, "client", 0, true) + packets);
  Save("transfer", "copy", WriteOp(10, Write::PIPELINE_SETUP_CREATE, "") + packets);
  Save("transfer", "combine",
       WriteOp(10, Write::PIPELINE_SETUP_CREATE, "EBBFS_COMBINE_x", 700) + packets);
  Save("transfer", "append",
       WriteOp(1, Write::PIPELINE_SETUP_APPEND, "client", 1300) + Packet(0, 1300, "abc", false) +
           Packet(1, 1303, "", true));
  Save("transfer", "recover",
       WriteOp(2, Write::PIPELINE_SETUP_STREAMING_RECOVERY, "client", 700) +
           Packet(0, 700, "abc", false) + Packet(1, 703, "", true));
  Save("transfer", "close", WriteOp(2, Write::PIPELINE_CLOSE_RECOVERY, "client", 700));
  Save("transfer", "transfer-unfinished",
       WriteOp(11, Write::TRANSFER_RBW, "client", 700) + packets);
  Save("transfer", "transfer-finalized",
       WriteOp(11, Write::TRANSFER_FINALIZED, "client", 700) + packets);
  OpBlockChecksumProto checksum;
  FillBlock(*checksum.mutable_header()->mutable_block(), 1, 1300);
  std::string bytes;
  transfer::AppendOperation(bytes, transfer::Operation::kBlockChecksum, checksum);
  checksum.mutable_blockchecksumoptions()->set_blockchecksumtype(COMPOSITE_CRC);
  transfer::AppendOperation(bytes, transfer::Operation::kBlockChecksum, checksum);
  Save("transfer", "checksum", bytes);
  OpTransferBlockProto copy;
  SetBase(*copy.mutable_header()->mutable_baseheader(), 1, 1300);
  copy.mutable_header()->set_clientname("client");
  ebbfs::BlockLocationProto location;
  FillLocation(location, "next");
  *copy.add_targets()->mutable_id() = location.server();
  bytes.clear();
  transfer::AppendOperation(bytes, transfer::Operation::kTransferBlock, copy);
  Save("transfer", "copy-away", bytes);
  Save("transfer", "message-that-does-not-come", std::string("\0\x1c\x51\x80\x80\x40", 6));
  Save("packets", "two", packets);
  Save("packets", "heartbeat", Packet(-1, 0, "", false) + packets);
  // A packet of 16 MiB of which the first bytes come.
  Save("packets", "packet-that-does-not-come", Big32(16 << 20) + packets.substr(4));
  Save("transfer", "packet-that-does-not-come",
       WriteOp(10, Write::PIPELINE_SETUP_CREATE, "client") + Big32(16 << 20) + packets.substr(4));
}

// ---- checksum files -----------------------------------------------------------------------------

std::string Meta(const format::Checksum& checksum, std::size_t length) {
  std::byte header[format::kMetaHeaderBytes];
  format::EncodeMetaHeader(checksum, header);
  std::string sums(checksum.BytesFor(length), '\0');
  const std::string text(length, 'x');
  checksum.ComputeAll(std::as_bytes(std::span(text)), reinterpret_cast<std::byte*>(sums.data()));
  return std::string(reinterpret_cast<const char*>(header), sizeof header) + sums;
}

std::string Replica(std::size_t length, bool finalized, const std::string& meta) {
  return std::string{static_cast<char>(length >> 8), static_cast<char>(length & 0xff),
                     static_cast<char>(finalized ? 0 : 1)} +
         meta;
}

void WriteChecksumFiles() {
  for (const bool finalized : {true, false}) {
    const std::string name = finalized ? "finalized-" : "being-written-";
    const auto save = [&](const std::string& what, std::size_t length, const std::string& meta) {
      Save("checksum_file", name + what, Replica(length, finalized, meta));
    };
    save("whole", 1300, Meta({}, 1300));
    save("empty", 0, Meta({}, 0));
    save("longer-than-its-checksums", 2000, Meta({}, 1300));
    save("shorter-than-its-checksums", 600, Meta({}, 1300));
    save("crc32", 1300, Meta({format::ChecksumType::kCrc32, 100}, 1300));
    save("without-checksums", 1300, Meta({format::ChecksumType::kNull, 512}, 1300));
    save("large-chunks", 1300,
         Meta({format::ChecksumType::kCrc32c, format::kMaxBytesPerChecksum}, 1300));
    save("half-a-header", 1300, Meta({}, 0).substr(0, 5));
  }
}

// ---- ChunkProtocol ------------------------------------------------------------------------------

void WriteChunkProtocol() {
  ebbfs::VerifyRequestProto verify;
  for (const std::uint64_t id : {1, 2, 9}) FillBlock(*verify.add_blocks(), id, 1000);
  const std::string zero(1, '\0');
  const std::string one(1, '\1');
  Save("chunk_protocol", "verify", zero + verify.SerializeAsString());
  verify.set_checksumsonly(true);
  verify.set_sync(true);
  Save("chunk_protocol", "verify-checksums", zero + verify.SerializeAsString());
  ebbfs::CombineRequestProto combine;
  combine.set_id("c");
  *combine.add_sources() = MakeSource(1, 1000);
  *combine.add_sources() = MakeSource(2, 700);
  *combine.add_targets() = MakeTarget(8, 1000);
  *combine.add_targets() = MakeTarget(9, 1000);
  combine.set_coefficients("\1\2\3\4");
  Save("chunk_protocol", "combine", one + combine.SerializeAsString());
  combine.set_check(true);
  Save("chunk_protocol", "check", one + combine.SerializeAsString());
  combine.set_slicebytes(0xffffffff);
  combine.mutable_targets(0)->mutable_block()->set_numbytes(std::uint64_t{1} << 62);
  Save("chunk_protocol", "combine-too-long", one + combine.SerializeAsString());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "write_corpus DIRECTORY\n");
    return 2;
  }
  root = argv[1];
  WriteRpc();
  WriteTransfer();
  WriteChecksumFiles();
  WriteChunkProtocol();
  return 0;
}
