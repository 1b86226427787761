// The bytes of DataTransferProtocol version 28, for server and client: operations, messages and
// packets. docs/protocols.md describes the supported subset.
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/error.h"
#include "common/socket.h"
#include "common/socket_reader.h"
#include "datatransfer.pb.h"
#include "disk/format.h"

namespace ebb::transfer {

inline constexpr std::uint16_t kVersion = 28;

enum class Operation : std::uint8_t {
  kWriteBlock = 80,
  kReadBlock = 81,
  kReadMetadata = 82,
  kReplaceBlock = 83,
  kCopyBlock = 84,
  kBlockChecksum = 85,
  kTransferBlock = 86,
  kRequestShortCircuitFds = 87,
  kReleaseShortCircuitFds = 88,
  kRequestShortCircuitShm = 89,
  kBlockGroupChecksum = 90,
  // EbbFS's own: record append.
  kAppendRecords = 100,
};

// The time-outs of HDFS. Writers send a heartbeat within half of kPeerTimeout. A reader may stop
// reading for kSlowReaderTimeout.
inline constexpr Timeout kPeerTimeout = std::chrono::seconds(60);
inline constexpr Timeout kSlowReaderTimeout = std::chrono::minutes(8);
// Each further server of a pipeline adds this to the time-outs of the servers before it.
inline constexpr Timeout kTimeoutPerHop = std::chrono::seconds(5);
inline constexpr Timeout kConnectTimeout = std::chrono::seconds(15);

// The longest operation or message that is accepted.
inline constexpr std::uint32_t kMaxMessageBytes = 1 << 20;
// HDFS's own limit.
inline constexpr std::size_t kMaxPacketBytes = 16 << 20;
// Bytes of data in a packet that this server sends.
inline constexpr std::size_t kPacketDataBytes = 256 << 10;
// A move with little bandwidth sends smaller packets, each of which comes in time.
inline constexpr std::size_t kMovePacketBytes = 64 << 10;
inline constexpr std::int64_t kHeartbeatSequence = -1;

// A client with this prefix in its name writes the output of a combine. Such a write uses exactly
// the named storage, and leaves nothing behind if it breaks off.
inline constexpr std::string_view kCombineClientPrefix = "EBBFS_COMBINE_";
// The beginning of a refusal's message if the disk is full. A combine gets such a message in a
// BlockOpResponseProto also after an acknowledgement that is not SUCCESS.
inline constexpr std::string_view kNoSpacePrefix = "NO_SPACE: ";
// The beginning of a refusal's message if the server has not scanned its disks yet.
inline constexpr std::string_view kNotReadyPrefix = "NOT_READY: ";
// The beginning of a refusal's message if the server, or the lane, takes no more record appends.
inline constexpr std::string_view kBusyPrefix = "BUSY: ";
// The client name of a chunk server that reads a source of a combine or of a degraded read. Such a
// read never starts another degraded read: the reader must learn that the source is lost and ask
// for another plan. Otherwise two lost blocks could be decoded from each other without an end.
inline constexpr std::string_view kSourceReaderName = "EBBFS_READER";

using hadoop::hdfs::BlockOpResponseProto;

[[nodiscard]] Status ReadMessage(SocketReader& reader, google::protobuf::MessageLite& message,
                                 Timeout timeout);
// Appends the message with its length in front.
void AppendMessage(std::string& out, const google::protobuf::MessageLite& message);
void AppendOperation(std::string& out, Operation operation,
                     const google::protobuf::MessageLite& message);
[[nodiscard]] Status WriteString(Socket& socket, const std::string& bytes, Timeout timeout);
// Writes the message with its length in front.
[[nodiscard]] Status WriteMessage(Socket& socket, const google::protobuf::MessageLite& message,
                                  Timeout timeout);

struct Packet {
  std::uint64_t offset = 0;
  std::int64_t sequence = 0;
  bool last = false;
  bool sync = false;
  std::span<const std::byte> sums;
  std::span<const std::byte> data;
  // The whole packet as it was received, for forwarding.
  std::span<const std::byte> raw;
};

// The packet is valid until the next use of the reader. kNetwork if the packet is malformed.
[[nodiscard]] Result<Packet> ReadPacket(SocketReader& reader, Timeout timeout);
// True if the buffer holds a whole packet.
[[nodiscard]] bool HasPacket(const SocketReader& reader);

struct PacketPrefix {
  std::uint64_t offset = 0;
  std::int64_t sequence = 0;
  bool last = false;
  bool sync = false;
  std::size_t sums_bytes = 0;
  std::size_t data_bytes = 0;
};
// Appends the part of a packet in front of its checksums.
void AppendPacketPrefix(std::string& out, const PacketPrefix& prefix);

[[nodiscard]] hadoop::hdfs::ChecksumProto ToProto(const format::Checksum& checksum);
[[nodiscard]] Result<format::Checksum> FromProto(const hadoop::hdfs::ChecksumProto& checksum);

// "address:port". HDFS names a server of a pipeline like this.
[[nodiscard]] std::string TransferAddress(const hadoop::hdfs::DatanodeIDProto& server);

}  // namespace ebb::transfer
