// A client of one Hadoop RPC protocol (version 9, SIMPLE authentication) at one server.
#pragma once

#include <google/protobuf/message_lite.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/socket.h"

namespace ebb {

struct RpcClientOptions {
  Timeout connect_timeout = std::chrono::seconds(10);
  // Of a call as a whole, unless the call names its own.
  Timeout call_timeout = std::chrono::seconds(60);
  std::size_t max_response_bytes = std::size_t{64} << 20;
};

// Thread-safe: calls of several threads share one connection and are answered in any order. The
// connection is made by the first call, and made anew by the next call after it was lost; a call
// that was under way when it was lost fails with kNetwork and is not repeated, since the server may
// have executed it.
class RpcClient {
 public:
  using Options = RpcClientOptions;

  // `protocol` is the name that the server knows
  // ("org.apache.hadoop.hdfs.protocol.ClientProtocol"). An empty user means $USER, or else the name
  // that the system has for this process's user.
  RpcClient(std::string host, std::uint16_t port, std::string protocol, std::uint64_t version,
            std::string user = {}, Options options = {});
  // Fails calls that are under way with kShutdown. The caller sees to it that none starts later.
  ~RpcClient();
  RpcClient(const RpcClient&) = delete;
  RpcClient& operator=(const RpcClient&) = delete;

  // Errors: kRemote with exception_class and the exception's message; kTimeout; kNetwork. After a
  // time-out during which the server sent nothing at all the connection is given up as well.
  [[nodiscard]] Status Call(std::string_view method, const google::protobuf::MessageLite& request,
                            google::protobuf::MessageLite& response);
  [[nodiscard]] Status Call(std::string_view method, const google::protobuf::MessageLite& request,
                            google::protobuf::MessageLite& response, Timeout timeout);

  // "host:port", for messages.
  [[nodiscard]] std::string server() const;

 private:
  class Connection;

  [[nodiscard]] Result<std::shared_ptr<Connection>> Connected();
  [[nodiscard]] std::string ConnectionContextFrame() const;
  [[nodiscard]] std::string CallFrame(std::int32_t call_id, std::string_view method,
                                      const google::protobuf::MessageLite& request) const;

  const std::string host_;
  const std::uint16_t port_;
  const std::string protocol_;
  const std::uint64_t version_;
  const std::string user_;
  const Options options_;
  const std::string client_id_;
  std::atomic<std::uint32_t> next_call_id_ = 0;
  // Held while connecting, so that one connection is made however many calls wait for it.
  std::mutex mutex_;
  std::shared_ptr<Connection> connection_;
};

}  // namespace ebb
