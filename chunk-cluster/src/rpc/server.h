// A Hadoop RPC server (version 9, SIMPLE authentication) for protobuf services. Hadoop's own Java
// client calls it through ProtobufRpcEngine2; calls of one connection are answered as they end.
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "common/socket.h"

namespace ebb {

// Who calls.
struct RpcCaller {
  std::string user;
  // "address:port"
  std::string peer;
  // 16 bytes that name the client for as long as it lives; with call_id they name the call.
  std::string client_id;
  std::int32_t call_id = 0;
  std::int32_t retry_count = 0;
};

// Takes a serialized request, returns a serialized response. Called by several threads at once; it
// may take as long as the call needs. An Error becomes a remote exception of class
// Error::exception_class, or java.io.IOException if that is empty.
using RpcHandler = std::function<Result<std::string>(const RpcCaller&, std::string_view)>;
using RpcHandlers = std::map<std::string, RpcHandler, std::less<>>;

namespace rpc_internal {
[[nodiscard]] Status ParseRequest(google::protobuf::MessageLite& request, std::string_view bytes);
[[nodiscard]] Result<std::string> Serialize(const google::protobuf::MessageLite& response);
}  // namespace rpc_internal

// A handler out of a function (const RpcCaller&, const Request&) -> Result<Response>.
template <typename Request, typename Function>
[[nodiscard]] RpcHandler MakeRpcHandler(Function function) {
  return [function = std::move(function)](const RpcCaller& caller,
                                          std::string_view bytes) -> Result<std::string> {
    Request request;
    EBB_TRY(rpc_internal::ParseRequest(request, bytes));
    EBB_ASSIGN(const auto response, function(caller, request));
    return rpc_internal::Serialize(response);
  };
}

struct RpcServerOptions {
  std::string address = "127.0.0.1";
  // 0 lets the kernel choose.
  std::uint16_t port = 0;
  // A connection above the limit is closed at once.
  std::size_t max_connections = 256;
  std::size_t handler_threads = 24;
  // Requests that wait for a handler. Above a limit the connections are not read until there is
  // room again.
  std::size_t max_queued_calls = 1024;
  std::size_t max_queued_bytes = std::size_t{64} << 20;
  // A connection that announces a longer request is closed.
  std::size_t max_request_bytes = std::size_t{16} << 20;
  // Preamble and connection context, and every frame once it has begun, must arrive within this.
  Timeout frame_timeout = std::chrono::seconds(30);
  // An answer that the client does not take within this costs it the connection.
  Timeout write_timeout = std::chrono::seconds(30);
  // A connection without a call under way is closed after this silence.
  Timeout idle_timeout = std::chrono::minutes(10);
};

// Thread-safe, except that services are registered before Start().
class RpcServer {
 public:
  using Options = RpcServerOptions;

  explicit RpcServer(Options options);
  // Stops.
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  // `protocol` as the client names it ("io.ebbfs.protocol.ChunkProtocol"). Calls of another version
  // are answered with RPC$VersionMismatch, of another method with RpcNoSuchMethodException, of a
  // protocol that is not registered with RpcNoSuchProtocolException.
  void RegisterService(std::string protocol, std::uint64_t version, RpcHandlers handlers);

  // Listens. kNetwork if the port is in use.
  [[nodiscard]] Status Start();
  // Closes all connections and waits for the handlers that run: whoever holds one up for long must
  // be told to end by its own means before. Once stopped it stays stopped.
  void Stop();

  // The port in use, after Start().
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::size_t connections() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace ebb
