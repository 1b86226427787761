#include "metadata_load/connection.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "IpcConnectionContext.pb.h"
#include "RpcHeader.pb.h"
#include "metadata_load/protocol.h"
#include "rpc/wire.h"

namespace ebb::metadata_load {

namespace {

using hadoop::common::RpcResponseHeaderProto;

constexpr Timeout kConnectTimeout = std::chrono::seconds(10);
constexpr Timeout kSendTimeout = std::chrono::seconds(60);
constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kReadBytes = std::size_t{64} << 10;
// Larger than any page of a listing.
constexpr std::size_t kMaxAnswerBytes = std::size_t{64} << 20;

std::size_t FrameLength(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length = length << 8 | static_cast<std::uint8_t>(bytes[i]);
  }
  return length;
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

Connection::Connection(Socket socket, std::string server)
    : socket_(std::move(socket)),
      server_(std::move(server)),
      client_id_(rpc_wire::NewClientId()),
      in_(kReadBytes, '\0') {}

Result<std::unique_ptr<Connection>> Connection::Open(const Namenode& namenode) {
  EBB_ASSIGN(Socket socket, Socket::Connect(namenode.host, namenode.port, kConnectTimeout));
  std::unique_ptr<Connection> connection(
      new Connection(std::move(socket), fmt::format("{}:{}", namenode.host, namenode.port)));
  const auto preamble = rpc_wire::Preamble();
  connection->out_ = rpc_wire::BeginFrame();
  connection->AppendHeader(rpc_wire::kCallIdConnectionContext);
  hadoop::common::IpcConnectionContextProto context;
  context.mutable_userinfo()->set_effectiveuser(namenode.user);
  context.set_protocol(std::string(kClientProtocol));
  rpc_wire::AppendDelimited(connection->out_, context);
  rpc_wire::EndFrame(connection->out_);
  connection->out_.insert(0, preamble.data(), preamble.size());
  EBB_TRY(connection->Write(connection->out_));
  return connection;
}

void Connection::AppendHeader(std::int32_t call_id) {
  rpc_wire::AppendDelimited(out_, rpc_wire::RequestHeader(call_id, client_id_));
}

Status Connection::Send(const Call& call) {
  out_.assign(kLengthBytes, '\0');
  AppendHeader(next_call_id_);
  next_call_id_ = (next_call_id_ + 1) & 0x7FFFFFFF;
  out_ += call.bytes;
  rpc_wire::EndFrame(out_);
  filled_ = 0;
  return Write(out_);
}

// A call is a few hundred bytes and the only one under way, so that it nearly always fits into the
// socket's buffer.
Status Connection::Write(std::string_view bytes) {
  const ssize_t sent =
      ::send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno != EAGAIN) {
    return Fail(ErrorCode::kNetwork,
                fmt::format("the connection to {} broke while a call was sent: {}", server_,
                            std::strerror(errno)));
  }
  const auto done = static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
  if (done == bytes.size()) return {};
  return rpc_wire::WriteBytes(socket_, bytes.substr(done), kSendTimeout);
}

Result<bool> Connection::ReadMore() {
  if (filled_ == in_.size()) in_.resize(in_.size() * 2);
  const ssize_t got =
      ::recv(socket_.fd(), in_.data() + filled_, in_.size() - filled_, MSG_DONTWAIT);
  if (got > 0) {
    filled_ += static_cast<std::size_t>(got);
    return true;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  return Fail(ErrorCode::kNetwork,
              fmt::format("{} closed the connection: {}; see the namenode's log", server_,
                          got == 0 ? "end of stream" : std::strerror(errno)));
}

Result<std::optional<std::string_view>> Connection::Receive() {
  EBB_ASSIGN(const bool more, ReadMore());
  if (!more || filled_ < kLengthBytes) return std::nullopt;
  const std::size_t length = FrameLength(in_);
  if (length > kMaxAnswerBytes) {
    return Fail(ErrorCode::kNetwork,
                fmt::format("{} announces an answer of {} bytes; is it a namenode?", server_,
                            length));
  }
  if (filled_ < kLengthBytes + length) return std::nullopt;
  EBB_ASSIGN(const std::string_view message,
             Parse(std::string_view(in_).substr(kLengthBytes, length)));
  return message;
}

Result<std::string_view> Connection::Parse(std::string_view frame) const {
  rpc_wire::Cursor cursor(frame);
  RpcResponseHeaderProto header;
  EBB_TRY(cursor.Next(header, "an RPC response header"));
  if (header.status() == RpcResponseHeaderProto::SUCCESS) return cursor.Next();
  const bool fatal = header.status() == RpcResponseHeaderProto::FATAL;
  return Fail(fatal ? ErrorCode::kNetwork : ErrorCode::kRemote,
              fmt::format("{} answered {}: {}", server_, header.exceptionclassname(),
                          FirstLine(header.errormsg())));
}

}  // namespace ebb::metadata_load
