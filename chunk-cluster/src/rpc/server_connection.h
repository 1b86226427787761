// One connection of the RPC server: the handshake (with SASL), the frames and the answers.
// Internal.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "RpcHeader.pb.h"
#include "common/socket.h"
#include "rpc/server.h"

namespace ebb::rpc_internal {

// A received call. Its method and request are not parsed yet.
struct IncomingCall {
  RpcCaller caller;
  // RequestHeaderProto and the request, both length-delimited.
  std::string frame;
  std::size_t body_offset = 0;
};

using RpcErrorCode = hadoop::common::RpcResponseHeaderProto::RpcErrorCodeProto;

// An exception as a Hadoop client sees it.
struct RpcException {
  std::string java_class;
  std::string message;
  RpcErrorCode code = hadoop::common::RpcResponseHeaderProto::ERROR_APPLICATION;
};

// One thread reads. Any thread may answer.
class ServerConnection {
 public:
  ServerConnection(Socket socket, const RpcServerOptions& options)
      : socket_(std::move(socket)), options_(options) {}

  // Reads the preamble: version and authentication. After an error the caller closes the
  // connection. The peer was told the reason if it speaks Hadoop RPC or HTTP.
  [[nodiscard]] Status Handshake();
  // Reads the next call. Handles connection context, pings and SASL negotiation. After an error the
  // caller closes the connection.
  [[nodiscard]] Result<IncomingCall> NextCall();

  void Answer(const RpcCaller& call, std::string_view response);
  void Answer(const RpcCaller& call, const RpcException& exception);

  // Makes the reading thread return from NextCall. Thread-safe.
  void Shutdown() { socket_.Shutdown(); }
  [[nodiscard]] const std::string& peer() const { return socket_.peer(); }

  // Calls without an answer so far. A silent connection is not closed while there are any.
  std::atomic<int> calls_under_way = 0;
  // When the last call arrived whole, in ticks of the steady clock. 0 if none has.
  std::atomic<std::chrono::steady_clock::rep> last_call = 0;

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
  // Set by the connection context. Used by the reading thread only.
  std::optional<std::string> user_;
  bool sasl_ = false;
};

}  // namespace ebb::rpc_internal
