#include "rpc/wire.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <limits>
#include <random>

namespace ebb::rpc_wire {

namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kReadStepBytes = std::size_t{256} << 10;

void AppendVarint(std::string& out, std::size_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7F) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

// Hadoop's servers send the whole stack trace. Its first line is the message.
std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::array<char, kPreambleBytes> Preamble(std::uint8_t authentication) {
  return {'h', 'r', 'p', 'c', static_cast<char>(kVersion), 0, static_cast<char>(authentication)};
}

std::string NewClientId() {
  std::random_device random;
  std::string id(kClientIdBytes, '\0');
  for (std::size_t i = 0; i < kClientIdBytes; ++i) id[i] = static_cast<char>(random() & 0xFF);
  id[6] = static_cast<char>((id[6] & 0x0F) | 0x40);
  id[8] = static_cast<char>((id[8] & 0x3F) | 0x80);
  return id;
}

void AppendDelimited(std::string& out, const google::protobuf::MessageLite& message) {
  AppendVarint(out, message.ByteSizeLong());
  message.AppendPartialToString(&out);
}

void AppendDelimitedBytes(std::string& out, std::string_view message) {
  AppendVarint(out, message.size());
  out.append(message);
}

hadoop::common::RpcRequestHeaderProto RequestHeader(std::int32_t call_id,
                                                    const std::string& client_id) {
  hadoop::common::RpcRequestHeaderProto header;
  header.set_rpckind(hadoop::common::RPC_PROTOCOL_BUFFER);
  header.set_rpcop(hadoop::common::RpcRequestHeaderProto::RPC_FINAL_PACKET);
  header.set_callid(call_id);
  header.set_clientid(client_id);
  header.set_retrycount(call_id < 0 ? kRetryCountInvalid : 0);
  return header;
}

std::string BeginFrame() { return std::string(kLengthBytes, '\0'); }

void EndFrame(std::string& frame) {
  const auto length = static_cast<std::uint32_t>(frame.size() - kLengthBytes);
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    frame[i] = static_cast<char>((length >> (24 - 8 * i)) & 0xFF);
  }
}

Result<std::string_view> Cursor::Next() {
  std::uint64_t length = 0;
  std::size_t used = 0;
  for (int shift = 0;; shift += 7) {
    if (used == rest_.size() || shift > 28) {
      return Fail(ErrorCode::kInvalid, "the RPC frame ends inside the length of a message");
    }
    const auto byte = static_cast<std::uint8_t>(rest_[used++]);
    length |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) break;
  }
  if (length > rest_.size() - used) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("a message of {} bytes is announced, but the RPC frame has {} left",
                            length, rest_.size() - used));
  }
  const std::string_view message = rest_.substr(used, length);
  rest_.remove_prefix(used + length);
  return message;
}

Status Cursor::Next(google::protobuf::MessageLite& message, std::string_view what) {
  EBB_ASSIGN(const std::string_view bytes, Next());
  return Parse(message, bytes, what);
}

Status Parse(google::protobuf::MessageLite& message, std::string_view bytes,
             std::string_view what) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !message.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Fail(ErrorCode::kInvalid, fmt::format("{} of {} bytes is not a {}; do both sides speak "
                                                 "the same version?",
                                                 what, bytes.size(), message.GetTypeName()));
  }
  if (!message.IsInitialized()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} lacks required fields of {}: {}", what, message.GetTypeName(),
                            message.InitializationErrorString()));
  }
  return {};
}

Error ExceptionOf(const hadoop::common::RpcResponseHeaderProto& header,
                  const std::string& server) {
  const std::string_view message = FirstLine(header.errormsg());
  return Error{
      ErrorCode::kRemote,
      fmt::format("{} answered {}: {}", server,
                  header.has_exceptionclassname() ? header.exceptionclassname() : "ERROR", message),
      header.exceptionclassname(), std::string(message)};
}

Result<std::string> ReadFrame(Socket& socket, std::size_t limit_bytes, Timeout timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::array<std::byte, kLengthBytes> head = {};
  EBB_TRY(socket.ReadExact(head, timeout));
  std::uint32_t length = 0;
  for (const std::byte byte : head) length = (length << 8) | std::to_integer<std::uint32_t>(byte);
  if (length == 0 || length > limit_bytes) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} announces an RPC frame of {} bytes; from 1 to {} are accepted",
                            socket.peer(), static_cast<std::int32_t>(length), limit_bytes));
  }
  std::string frame;
  while (frame.size() < length) {
    const std::size_t begin = frame.size();
    frame.resize(std::min<std::size_t>(length, begin + std::max(begin, kReadStepBytes)));
    const auto left = std::chrono::ceil<Timeout>(deadline - std::chrono::steady_clock::now());
    EBB_TRY(socket.ReadExact(std::as_writable_bytes(std::span(frame).subspan(begin)),
                             std::max(left, Timeout(0))));
  }
  return frame;
}

Status WriteBytes(Socket& socket, std::string_view bytes, Timeout timeout) {
  return socket.WriteAll(std::as_bytes(std::span(bytes)), timeout);
}

}  // namespace ebb::rpc_wire
