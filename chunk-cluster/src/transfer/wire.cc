#include "transfer/wire.h"

#include <fmt/core.h>
#include <google/protobuf/io/coded_stream.h>

#include "common/bytes.h"

namespace ebb::transfer {

namespace {

// The prefix of a packet: its length (4 bytes) and the length of its header (2 bytes).
constexpr std::size_t kPrefixBytes = 6;
constexpr std::size_t kMaxHeaderBytes = 256;

std::unexpected<Error> Malformed(std::string what) {
  return Fail(ErrorCode::kNetwork, "a malformed packet arrived: " + std::move(what));
}

// The length of the whole packet, prefix included. `prefix` holds the first bytes.
Result<std::size_t> PacketLength(std::span<const std::byte> prefix) {
  // The length counts itself, checksums and data, but not the header.
  const std::size_t body = LoadBig32(prefix.data());
  const std::size_t header = LoadBig16(prefix.data() + 4);
  if (body < 4 || body > kMaxPacketBytes || header > kMaxHeaderBytes) {
    return Malformed(fmt::format("length {} and header length {}", body, header));
  }
  return kPrefixBytes + header + body - 4;
}

}  // namespace

Status ReadMessage(SocketReader& reader, google::protobuf::MessageLite& message, Timeout timeout) {
  EBB_ASSIGN(const auto length, reader.ReadVarint32(timeout));
  if (length > kMaxMessageBytes) {
    return Fail(ErrorCode::kNetwork, fmt::format("a message of {} bytes was announced; the limit "
                                                 "is {}",
                                                 length, kMaxMessageBytes));
  }
  EBB_ASSIGN(const auto bytes, reader.Take(length, timeout));
  if (!message.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !message.IsInitialized()) {
    return Fail(ErrorCode::kNetwork,
                fmt::format("{} bytes are not a {}", length, message.GetTypeName()));
  }
  return {};
}

void AppendMessage(std::string& out, const google::protobuf::MessageLite& message) {
  auto length = static_cast<std::uint32_t>(message.ByteSizeLong());
  for (; length >= 0x80; length >>= 7) out.push_back(static_cast<char>(length | 0x80));
  out.push_back(static_cast<char>(length));
  message.AppendToString(&out);
}

void AppendOperation(std::string& out, Operation operation,
                     const google::protobuf::MessageLite& message) {
  out.push_back(static_cast<char>(kVersion >> 8));
  out.push_back(static_cast<char>(kVersion & 0xff));
  out.push_back(static_cast<char>(operation));
  AppendMessage(out, message);
}

Status WriteString(Socket& socket, const std::string& bytes, Timeout timeout) {
  return socket.WriteAll(std::as_bytes(std::span(bytes)), timeout);
}

Status WriteMessage(Socket& socket, const google::protobuf::MessageLite& message,
                    Timeout timeout) {
  std::string bytes;
  AppendMessage(bytes, message);
  return WriteString(socket, bytes, timeout);
}

bool HasPacket(const SocketReader& reader) {
  const auto bytes = reader.available();
  if (bytes.size() < kPrefixBytes) return false;
  const auto length = PacketLength(bytes);
  return !length || bytes.size() >= *length;
}

Result<Packet> ReadPacket(SocketReader& reader, Timeout timeout) {
  EBB_ASSIGN(const auto prefix, reader.Peek(kPrefixBytes, timeout));
  EBB_ASSIGN(const auto length, PacketLength(prefix));
  const std::size_t header_bytes = LoadBig16(prefix.data() + 4);
  EBB_ASSIGN(const auto raw, reader.Take(length, timeout));
  hadoop::hdfs::PacketHeaderProto header;
  if (!header.ParsePartialFromArray(raw.data() + kPrefixBytes, static_cast<int>(header_bytes)) ||
      !header.IsInitialized()) {
    return Malformed("its header does not parse");
  }
  const auto body = raw.subspan(kPrefixBytes + header_bytes);
  if (header.datalen() < 0 || static_cast<std::size_t>(header.datalen()) > body.size() ||
      header.offsetinblock() < 0) {
    return Malformed(fmt::format("{} bytes of data at {} in a body of {}", header.datalen(),
                                 header.offsetinblock(), body.size()));
  }
  const auto data_bytes = static_cast<std::size_t>(header.datalen());
  Packet packet;
  packet.offset = static_cast<std::uint64_t>(header.offsetinblock());
  packet.sequence = header.seqno();
  packet.last = header.lastpacketinblock();
  packet.sync = header.syncblock();
  packet.sums = body.first(body.size() - data_bytes);
  packet.data = body.last(data_bytes);
  packet.raw = raw;
  return packet;
}

void AppendPacketPrefix(std::string& out, const PacketPrefix& prefix) {
  hadoop::hdfs::PacketHeaderProto header;
  header.set_offsetinblock(static_cast<std::int64_t>(prefix.offset));
  header.set_seqno(prefix.sequence);
  header.set_lastpacketinblock(prefix.last);
  header.set_datalen(static_cast<std::int32_t>(prefix.data_bytes));
  if (prefix.sync) header.set_syncblock(true);
  std::byte numbers[kPrefixBytes];
  StoreBig32(numbers, static_cast<std::uint32_t>(4 + prefix.sums_bytes + prefix.data_bytes));
  StoreBig16(numbers + 4, static_cast<std::uint16_t>(header.ByteSizeLong()));
  out.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
  header.AppendToString(&out);
}

hadoop::hdfs::ChecksumProto ToProto(const format::Checksum& checksum) {
  hadoop::hdfs::ChecksumProto proto;
  proto.set_type(static_cast<hadoop::hdfs::ChecksumTypeProto>(checksum.type));
  proto.set_bytesperchecksum(checksum.bytes_per_chunk);
  return proto;
}

Result<format::Checksum> FromProto(const hadoop::hdfs::ChecksumProto& checksum) {
  return format::MakeChecksum(checksum.type(), checksum.bytesperchecksum());
}

std::string TransferAddress(const hadoop::hdfs::DatanodeIDProto& server) {
  return fmt::format("{}:{}", server.ipaddr(), server.xferport());
}

}  // namespace ebb::transfer
