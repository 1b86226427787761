#include "rpc/server_connection.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "IpcConnectionContext.pb.h"
#include "rpc/wire.h"

namespace ebb::rpc_internal {

namespace {

using hadoop::common::RpcResponseHeaderProto;

constexpr char kHttpAnswer[] =
    "HTTP/1.1 404 Not Found\r\nContent-type: text/plain\r\n\r\n"
    "This is the Hadoop RPC port of an EbbFS chunk server, not a web page.\r\n";

RpcResponseHeaderProto ResponseHeader(std::int32_t call_id) {
  RpcResponseHeaderProto header;
  header.set_callid(static_cast<std::uint32_t>(call_id));
  header.set_serveripcversionnum(rpc_wire::kVersion);
  return header;
}

RpcResponseHeaderProto ResponseHeader(const RpcCaller& call) {
  RpcResponseHeaderProto header = ResponseHeader(call.call_id);
  header.set_clientid(call.client_id);
  header.set_retrycount(call.retry_count);
  return header;
}

void SetException(RpcResponseHeaderProto& header, const RpcException& exception) {
  header.set_exceptionclassname(exception.java_class);
  header.set_errormsg(exception.message);
  header.set_errordetail(exception.code);
}

}  // namespace

Status ServerConnection::Handshake() {
  std::array<std::byte, rpc_wire::kPreambleBytes> bytes = {};
  EBB_TRY(socket_.ReadExact(bytes, options_.frame_timeout));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("GET ")) {
    const std::lock_guard lock(write_mutex_);
    auto ignored = rpc_wire::WriteBytes(socket_, kHttpAnswer, options_.write_timeout);
    return Fail(ErrorCode::kInvalid, fmt::format("{} speaks HTTP to an RPC port", peer()));
  }
  if (!text.starts_with("hrpc")) {
    return Fail(ErrorCode::kInvalid, fmt::format("{} does not speak Hadoop RPC", peer()));
  }
  const auto version = std::to_integer<std::uint8_t>(bytes[4]);
  if (version != rpc_wire::kVersion) {
    return Fatal(rpc_wire::kCallIdInvalid,
                 {"org.apache.hadoop.ipc.RPC$VersionMismatch",
                  fmt::format("RPC version {} of {} is not supported, use version {}", version,
                              peer(), rpc_wire::kVersion),
                  RpcResponseHeaderProto::FATAL_VERSION_MISMATCH});
  }
  const auto auth = std::to_integer<std::uint8_t>(bytes[6]);
  if (auth != rpc_wire::kAuthNone && auth != rpc_wire::kAuthSasl) {
    return Fatal(rpc_wire::kCallIdInvalid,
                 {"org.apache.hadoop.ipc.IpcException",
                  fmt::format("authentication protocol {} is not supported, use SIMPLE", auth),
                  RpcResponseHeaderProto::FATAL_UNAUTHORIZED});
  }
  sasl_ = auth == rpc_wire::kAuthSasl;
  return {};
}

Status ServerConnection::AwaitFrame() {
  const Timeout timeout = user_ ? options_.idle_timeout : options_.frame_timeout;
  for (;;) {
    EBB_ASSIGN(const bool ready, socket_.WaitReadable(timeout));
    if (ready) return {};
    if (calls_under_way.load() == 0) {
      return Fail(ErrorCode::kTimeout,
                  fmt::format("{} was silent for {} ms", peer(), timeout.count()));
    }
  }
}

Result<IncomingCall> ServerConnection::NextCall() {
  for (;;) {
    EBB_TRY(AwaitFrame());
    EBB_ASSIGN(std::string frame,
               rpc_wire::ReadFrame(socket_, options_.max_request_bytes, options_.frame_timeout));
    rpc_wire::Cursor cursor(frame);
    Header header;
    if (auto status = cursor.Next(header, "an RPC request header"); !status) {
      return Fatal(rpc_wire::kCallIdInvalid,
                   {"org.apache.hadoop.ipc.RpcServerException", status.error().message,
                    RpcResponseHeaderProto::FATAL_INVALID_RPC_HEADER});
    }
    const std::size_t offset = frame.size() - cursor.rest().size();
    EBB_ASSIGN(const bool control, ConsumeControlFrame(header, cursor.rest()));
    if (control) continue;
    last_call = std::chrono::steady_clock::now().time_since_epoch().count();
    return IncomingCall{{*user_, peer(), header.clientid(), header.callid(), header.retrycount(),
                         header.callercontext()},
                        std::move(frame),
                        offset};
  }
}

Result<bool> ServerConnection::ConsumeControlFrame(const Header& header, std::string_view body) {
  if (header.callid() == rpc_wire::kCallIdPing) return true;
  if (header.callid() == rpc_wire::kCallIdSasl) {
    EBB_TRY(NegotiateSimple(body));
    return true;
  }
  const auto refuse = [&](std::string message, RpcErrorCode code) {
    return Fatal(header.callid(),
                 {"org.apache.hadoop.ipc.RpcServerException", std::move(message), code});
  };
  if (header.callid() == rpc_wire::kCallIdConnectionContext) {
    if (user_) {
      return refuse("the connection context was sent twice",
                    RpcResponseHeaderProto::FATAL_INVALID_RPC_HEADER);
    }
    hadoop::common::IpcConnectionContextProto context;
    if (auto status = rpc_wire::Cursor(body).Next(context, "the connection context"); !status) {
      return refuse(status.error().message, RpcResponseHeaderProto::FATAL_DESERIALIZING_REQUEST);
    }
    user_ = context.userinfo().effectiveuser();
    return true;
  }
  if (header.callid() < 0) {
    return refuse(fmt::format("call id {} is not a call", header.callid()),
                  RpcResponseHeaderProto::FATAL_INVALID_RPC_HEADER);
  }
  if (!user_) {
    return refuse("a call was sent before the connection context",
                  RpcResponseHeaderProto::FATAL_INVALID_RPC_HEADER);
  }
  if (header.rpcop() != Header::RPC_FINAL_PACKET) {
    return refuse(fmt::format("RPC operation {} is not supported", int{header.rpcop()}),
                  RpcResponseHeaderProto::FATAL_INVALID_RPC_HEADER);
  }
  if (header.rpckind() != hadoop::common::RPC_PROTOCOL_BUFFER) {
    return refuse(
        fmt::format("RPC kind {} is not supported, use protocol buffers", int{header.rpckind()}),
        RpcResponseHeaderProto::FATAL_INVALID_RPC_HEADER);
  }
  return false;
}

Status ServerConnection::NegotiateSimple(std::string_view body) {
  using hadoop::common::RpcSaslProto;
  RpcSaslProto request;
  auto status = rpc_wire::Cursor(body).Next(request, "a SASL message");
  if (!sasl_ || user_ || !status || request.state() != RpcSaslProto::NEGOTIATE) {
    return Fatal(rpc_wire::kCallIdSasl, {"org.apache.hadoop.security.AccessControlException",
                                         "this server offers SIMPLE authentication only",
                                         RpcResponseHeaderProto::FATAL_UNAUTHORIZED});
  }
  // SUCCESS as the first answer tells the client to continue without SASL.
  sasl_ = false;
  RpcSaslProto answer;
  answer.set_state(RpcSaslProto::SUCCESS);
  RpcResponseHeaderProto header = ResponseHeader(rpc_wire::kCallIdSasl);
  header.set_status(RpcResponseHeaderProto::SUCCESS);
  Send(header, answer.SerializeAsString(), true);
  return {};
}

void ServerConnection::Answer(const RpcCaller& call, std::string_view response) {
  RpcResponseHeaderProto header = ResponseHeader(call);
  header.set_status(RpcResponseHeaderProto::SUCCESS);
  Send(header, response, true);
}

void ServerConnection::Answer(const RpcCaller& call, const RpcException& exception) {
  RpcResponseHeaderProto header = ResponseHeader(call);
  header.set_status(RpcResponseHeaderProto::ERROR);
  SetException(header, exception);
  Send(header, {}, false);
}

std::unexpected<Error> ServerConnection::Fatal(std::int32_t call_id,
                                               const RpcException& exception) {
  RpcResponseHeaderProto header = ResponseHeader(call_id);
  header.set_status(RpcResponseHeaderProto::FATAL);
  SetException(header, exception);
  Send(header, {}, false);
  return Fail(ErrorCode::kInvalid, fmt::format("{}: {}", peer(), exception.message));
}

void ServerConnection::Send(const RpcResponseHeaderProto& header, std::string_view response,
                            bool with_response) {
  std::string frame = rpc_wire::BeginFrame();
  rpc_wire::AppendDelimited(frame, header);
  if (with_response) rpc_wire::AppendDelimitedBytes(frame, response);
  rpc_wire::EndFrame(frame);
  const std::lock_guard lock(write_mutex_);
  // After a frame that was sent in part, the client could not read any later frame.
  if (!rpc_wire::WriteBytes(socket_, frame, options_.write_timeout)) socket_.Shutdown();
}

}  // namespace ebb::rpc_internal
