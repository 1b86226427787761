// One connection of the RPC server: the handshake, the frames and the answers. Internal.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "RpcHeader.pb.h"
#include "common/socket.h"
#include "rpc/server.h"

namespace ebb::rpc_internal {

// A call as it was received, before anything of its method is looked at.
struct IncomingCall {
  RpcCaller caller;
  // RequestHeaderProto and the request, both length-delimited.
  std::string frame;
  std::size_t body_offset = 0;
};

using RpcErrorCode = hadoop::common::RpcResponseHeaderProto::RpcErrorCodeProto;

// How an answer that is an exception looks to a Hadoop client.
struct RpcException {
  std::string java_class;
  std::string message;
  RpcErrorCode code = hadoop::common::RpcResponseHeaderProto::ERROR_APPLICATION;
};

// One thread reads; any thread answers.
class ServerConnection {
 public:
  ServerConnection(Socket socket, const RpcServerOptions& options)
      : socket_(std::move(socket)), options_(options) {}

  // The preamble. An error means that the connection is of no use and is to be closed; the peer has
  // been told why if it can understand it.
  [[nodiscard]] Status Handshake();
  // The next call. Connection context, pings and SASL negotiation are dealt with inside. An error
  // means that the connection has ended or is to be closed.
  [[nodiscard]] Result<IncomingCall> NextCall();

  void Answer(const RpcCaller& call, std::string_view response);
  void Answer(const RpcCaller& call, const RpcException& exception);

  // Makes the reading thread return from NextCall. Thread-safe.
  void Shutdown() { socket_.Shutdown(); }
  [[nodiscard]] const std::string& peer() const { return socket_.peer(); }

  // Calls received and not answered yet: while there are any, silence is no reason to close.
  std::atomic<int> calls_under_way = 0;

 private:
  using Header = hadoop::common::RpcRequestHeaderProto;

  [[nodiscard]] Status AwaitFrame();
  // True if the frame was a ping, the connection context or a part of the authentication.
  [[nodiscard]] Result<bool> ConsumeControlFrame(const Header& header, std::string_view body);
  [[nodiscard]] Status NegotiateSimple(std::string_view body);
  // Tells the peer why the connection is closed, and returns the error to close it with.
  [[nodiscard]] std::unexpected<Error> Fatal(std::int32_t call_id, const RpcException& exception);
  void Send(const hadoop::common::RpcResponseHeaderProto& header, std::string_view response,
            bool with_response);

  Socket socket_;
  const RpcServerOptions& options_;
  std::mutex write_mutex_;
  // Set by the connection context; only the reading thread touches it.
  std::optional<std::string> user_;
  bool sasl_ = false;
};

}  // namespace ebb::rpc_internal
