// The bytes of DataTransferProtocol version 28, shared by server and client: operations, messages
// and packets. docs/protocols.md describes the subset.
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/error.h"
#include "common/socket.h"
#include "common/socket_reader.h"
#include "disk/format.h"
#include "datatransfer.pb.h"

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
};

// The time-outs of HDFS: a client is pinged or pings within half of the first; a reader may rest
// for the second.
inline constexpr Timeout kPeerTimeout = std::chrono::seconds(60);
inline constexpr Timeout kSlowReaderTimeout = std::chrono::minutes(8);
// What every further server of a pipeline adds to the time-outs before it.
inline constexpr Timeout kTimeoutPerHop = std::chrono::seconds(5);
inline constexpr Timeout kConnectTimeout = std::chrono::seconds(15);

// Operations and messages longer than this are refused.
inline constexpr std::uint32_t kMaxMessageBytes = 1 << 20;
// As HDFS's own limit.
inline constexpr std::size_t kMaxPacketBytes = 16 << 20;
// Bytes of data in a packet that we send.
inline constexpr std::size_t kPacketDataBytes = 256 << 10;
inline constexpr std::int64_t kHeartbeatSequence = -1;

// A client whose name begins so writes the output of a combine: it wants exactly the storage that
// it names, and nothing left behind if it breaks off.
inline constexpr std::string_view kCombineClientPrefix = "EBBFS_COMBINE_";
// How the message of a refusal begins if the disk is full. A combine is sent such a message, in a
// BlockOpResponseProto, after an acknowledgement that is not SUCCESS, too.
inline constexpr std::string_view kNoSpacePrefix = "NO_SPACE: ";
// The client name of a chunk server that reads a source of a combine or of a degraded read. It is
// not served by decoding: a lost source would then be decoded from others that are lost as well,
// round and round, where the reader needs to know in order to plan anew.
inline constexpr std::string_view kSourceReaderName = "EBBFS_READER";

using hadoop::hdfs::BlockOpResponseProto;

[[nodiscard]] Status ReadMessage(SocketReader& reader, google::protobuf::MessageLite& message,
                                 Timeout timeout);
// Appends the length-delimited message.
void AppendMessage(std::string& out, const google::protobuf::MessageLite& message);
void AppendOperation(std::string& out, Operation operation,
                     const google::protobuf::MessageLite& message);
[[nodiscard]] Status WriteString(Socket& socket, const std::string& bytes, Timeout timeout);

struct Packet {
  std::uint64_t offset = 0;
  std::int64_t sequence = 0;
  bool last = false;
  bool sync = false;
  std::span<const std::byte> sums;
  std::span<const std::byte> data;
  // The packet as it came, for forwarding.
  std::span<const std::byte> raw;
};

// The packet stays valid until the reader is used again. kNetwork if it is malformed.
[[nodiscard]] Result<Packet> ReadPacket(SocketReader& reader, Timeout timeout);
// True if a whole packet is in the buffer already.
[[nodiscard]] bool HasPacket(const SocketReader& reader);

struct PacketPrefix {
  std::uint64_t offset = 0;
  std::int64_t sequence = 0;
  bool last = false;
  bool sync = false;
  std::size_t sums_bytes = 0;
  std::size_t data_bytes = 0;
};
// Appends what comes before the checksums of a packet.
void AppendPacketPrefix(std::string& out, const PacketPrefix& prefix);

[[nodiscard]] hadoop::hdfs::ChecksumProto ToProto(const format::Checksum& checksum);
[[nodiscard]] Result<format::Checksum> FromProto(const hadoop::hdfs::ChecksumProto& checksum);

// "address:port", as HDFS names a link of a pipeline.
[[nodiscard]] std::string TransferAddress(const hadoop::hdfs::DatanodeIDProto& server);

}  // namespace ebb::transfer
