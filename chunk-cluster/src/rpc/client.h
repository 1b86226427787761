// A client of one Hadoop RPC protocol (version 9) at one server.
#pragma once

#include <google/protobuf/message_lite.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/socket.h"
#include "rpc/address.h"
#include "rpc/authenticator.h"
#include "rpc/service_key.h"

namespace ebb {

// True if the server is one of several namenodes and does not serve now: another namenode does.
[[nodiscard]] bool IsStandby(const Error& error);

// The name of the user that runs this process.
[[nodiscard]] std::string UserOfProcess();

struct RpcClientOptions {
  Timeout connect_timeout = std::chrono::seconds(10);
  // The time-out of a whole call, unless the call passes its own.
  Timeout call_timeout = std::chrono::seconds(60);
  std::size_t max_response_bytes = std::size_t{64} << 20;
  // Signs every call. Without a key, calls are not signed.
  ServiceKey key = {};
  // How the client proves who it is. The user of the client counts with SIMPLE only: a server that
  // has authenticated the client knows the user by that.
  Authentication authentication = {};
  // The 16 bytes that name the client at servers. Empty: the client makes its own. Clients that
  // repeat each other's calls at several servers share one.
  std::string client_id = {};
  // The server has ended the connection, even if no call was under way. Called by a thread of the
  // client; must not block.
  std::function<void()> on_lost = {};
};

// Names a call at all servers that it is sent to. A server that knows the call of an earlier attempt
// answers with that attempt's result.
struct RpcAttempt {
  std::int32_t call_id = 0;
  // 0 for the first attempt.
  std::int32_t retry = 0;
};

// Thread-safe. The calls of several threads share one connection, and answers come in any order.
// The first call connects, and so does the next call after the connection was lost. A call that was
// under way when the connection was lost fails with kNetwork. It is not repeated, because the
// server may have executed it.
class RpcClient {
 public:
  using Options = RpcClientOptions;

  // `protocol` is the name at the server, for example
  // "org.apache.hadoop.hdfs.protocol.ClientProtocol". An empty user means $USER, or else the user
  // that this process runs as.
  RpcClient(std::string host, std::uint16_t port, std::string protocol, std::uint64_t version,
            std::string user = {}, Options options = {});
  // Closes. No call may start later.
  ~RpcClient();
  RpcClient(const RpcClient&) = delete;
  RpcClient& operator=(const RpcClient&) = delete;

  // Errors: kRemote with the class and the message of the exception, kTimeout, kNetwork. If the
  // server sent nothing at all during a time-out, the connection is closed, too. kBusy if this
  // process has no thread or descriptor left for a connection: the server was not asked.
  [[nodiscard]] Status Call(std::string_view method, const google::protobuf::MessageLite& request,
                            google::protobuf::MessageLite& response);
  [[nodiscard]] Status Call(std::string_view method, const google::protobuf::MessageLite& request,
                            google::protobuf::MessageLite& response, Timeout timeout);
  // The caller names the call, so that it can repeat it. All calls of a client are named by their
  // caller, or none.
  [[nodiscard]] Status Call(std::string_view method, const google::protobuf::MessageLite& request,
                            google::protobuf::MessageLite& response, Timeout timeout,
                            const RpcAttempt& attempt);

  // Calls that are under way fail with kShutdown, and so do later calls: no answer arrives any
  // more.
  void Close();

  // "host:port", for messages.
  [[nodiscard]] std::string server() const;

 private:
  class Connection;

  [[nodiscard]] Result<std::shared_ptr<Connection>> Connected();
  // Null if there is none, or a broken one.
  [[nodiscard]] Result<std::shared_ptr<Connection>> Existing();
  [[nodiscard]] Error Closed() const;
  // The begin of a connection: who calls, and which protocol.
  [[nodiscard]] Status Greet(Socket& socket) const;
  [[nodiscard]] std::string ConnectionContextFrame(bool with_user) const;
  [[nodiscard]] std::string CallFrame(const RpcAttempt& attempt, std::string_view method,
                                      const google::protobuf::MessageLite& request) const;

  const std::string host_;
  const std::uint16_t port_;
  const std::string protocol_;
  const std::uint64_t version_;
  const std::string user_;
  const Options options_;
  const std::string client_id_;
  std::atomic<std::uint32_t> next_call_id_ = 0;
  // Held while connecting, so that all waiting calls share one connection. Taken before mutex_.
  std::mutex connecting_;
  std::mutex mutex_;
  std::shared_ptr<Connection> connection_;
  bool closed_ = false;
};

}  // namespace ebb
