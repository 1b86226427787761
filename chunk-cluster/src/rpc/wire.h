// The bytes of Hadoop RPC version 9, for client and server: the preamble, the frames and the
// length-delimited messages inside them. docs/protocols.md describes the supported subset.
#pragma once

#include <google/protobuf/message_lite.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "RpcHeader.pb.h"
#include "common/error.h"
#include "common/socket.h"

namespace ebb::rpc_wire {

// The preamble is the first thing that a client sends: "hrpc", version, service class,
// authentication protocol.
inline constexpr std::size_t kPreambleBytes = 7;
inline constexpr std::uint8_t kVersion = 9;
inline constexpr std::uint8_t kAuthNone = 0;
inline constexpr std::uint8_t kAuthSasl = 0xDF;

// Negative call ids mark control frames.
inline constexpr std::int32_t kCallIdAuthorizationFailed = -1;
inline constexpr std::int32_t kCallIdInvalid = -2;
inline constexpr std::int32_t kCallIdConnectionContext = -3;
inline constexpr std::int32_t kCallIdPing = -4;
inline constexpr std::int32_t kCallIdSasl = -33;
inline constexpr std::int32_t kRetryCountInvalid = -1;

inline constexpr std::size_t kClientIdBytes = 16;

[[nodiscard]] std::array<char, kPreambleBytes> Preamble(std::uint8_t authentication = kAuthNone);
// The header of a call, or of a control frame if the call id is negative.
[[nodiscard]] hadoop::common::RpcRequestHeaderProto RequestHeader(std::int32_t call_id,
                                                                  const std::string& client_id);
// A random (version 4) UUID as 16 bytes.
[[nodiscard]] std::string NewClientId();

// Appends the varint length of `message` and the message itself.
void AppendDelimited(std::string& out, const google::protobuf::MessageLite& message);
// The same for a serialized message.
void AppendDelimitedBytes(std::string& out, std::string_view message);
// A frame is a 4-byte big-endian length, followed by that many bytes. BeginFrame reserves the
// length, and EndFrame fills it in.
[[nodiscard]] std::string BeginFrame();
void EndFrame(std::string& frame);

// Reads the length-delimited messages of a frame, one after the other.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}
  // kInvalid if the frame ends before the message does.
  [[nodiscard]] Result<std::string_view> Next();
  // kInvalid also if the bytes are not a complete `message`. `what` names the message in the error.
  [[nodiscard]] Status Next(google::protobuf::MessageLite& message, std::string_view what);
  // The bytes that were not read yet.
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// Parses a message. The library's own errors on stderr are avoided.
[[nodiscard]] Status Parse(google::protobuf::MessageLite& message, std::string_view bytes,
                           std::string_view what);

// The exception that an answer holds. `server` is for the message.
[[nodiscard]] Error ExceptionOf(const hadoop::common::RpcResponseHeaderProto& header,
                                const std::string& server);

// Reads one frame. Memory grows with the bytes that arrive, whatever length is announced. kInvalid
// for a length of zero, below zero or above `limit_bytes`.
[[nodiscard]] Result<std::string> ReadFrame(Socket& socket, std::size_t limit_bytes,
                                            Timeout timeout);
[[nodiscard]] Status WriteBytes(Socket& socket, std::string_view bytes, Timeout timeout);

}  // namespace ebb::rpc_wire
