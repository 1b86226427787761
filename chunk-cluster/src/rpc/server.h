// A Hadoop RPC server (version 9, SIMPLE authentication) for protobuf services. Hadoop's Java
// client calls it through ProtobufRpcEngine2. The calls of one connection are answered in the order
// in which they end.
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
#include "rpc/service_key.h"

namespace ebb {

// The caller, and the call.
struct RpcCaller {
  std::string user;
  // "address:port"
  std::string peer;
  // 16 bytes that identify the client during its life. Together with call_id they identify the
  // call.
  std::string client_id;
  std::int32_t call_id = 0;
  std::int32_t retry_count = 0;
  // What the caller says about itself; holds the proof of a service key.
  hadoop::common::RPCCallerContextProto context = {};
};

// Takes a serialized request and returns a serialized response. Several threads call it at the same
// time, and it may take any time. An Error becomes a remote exception of the class
// Error::exception_class. If that is empty: RetriableException for kNotReady, else IOException.
using RpcHandler = std::function<Result<std::string>(const RpcCaller&, std::string_view)>;
using RpcHandlers = std::map<std::string, RpcHandler, std::less<>>;

namespace rpc_internal {
[[nodiscard]] Status ParseRequest(google::protobuf::MessageLite& request, std::string_view bytes);
[[nodiscard]] Result<std::string> Serialize(const google::protobuf::MessageLite& response);
}  // namespace rpc_internal

// Makes a handler of a function (const RpcCaller&, const Request&) -> Result<Response>.
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
  // With 0 the kernel chooses a port.
  std::uint16_t port = 0;
  // At the limit, a new connection displaces one without a call under way: the oldest that never
  // sent a whole call, or else the one whose last call is the longest ago. If every connection has
  // a call under way, the new one is closed at once.
  std::size_t max_connections = 256;
  std::size_t handler_threads = 24;
  // The most requests that wait for a handler. At the limit, connections are not read until a
  // request leaves the queue.
  std::size_t max_queued_calls = 1024;
  std::size_t max_queued_bytes = std::size_t{64} << 20;
  // A connection that announces a longer request is closed.
  std::size_t max_request_bytes = std::size_t{4} << 20;
  // The time for preamble and connection context, and for the rest of a frame that has begun.
  Timeout frame_timeout = std::chrono::seconds(30);
  // A client that does not read its answer within this time loses the connection.
  Timeout write_timeout = std::chrono::seconds(30);
  // A connection without a call under way is closed after this silence.
  Timeout idle_timeout = std::chrono::minutes(10);
};

// Thread-safe, except that all services are registered before Start().
class RpcServer {
 public:
  using Options = RpcServerOptions;

  explicit RpcServer(Options options);
  // Stops.
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  // `protocol` is the name that clients use, for example "io.ebbfs.protocol.ChunkProtocol". Another
  // version is answered with RPC$VersionMismatch, an unknown method with RpcNoSuchMethodException,
  // an unknown protocol with RpcNoSuchProtocolException.
  void RegisterService(std::string protocol, std::uint64_t version, RpcHandlers handlers);
  // The same for a protocol that answers services of this cluster only, which know the key.
  void RegisterService(std::string protocol, std::uint64_t version, RpcHandlers handlers,
                       ServiceKey key);

  // Opens the port and starts the threads. kNetwork if the port is in use.
  [[nodiscard]] Status Start();
  // Closes all connections and waits for the running handlers. The caller stops the work of long
  // handlers before. A stopped server cannot be started again.
  void Stop();

  // The open port, after Start().
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::size_t connections() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace ebb
