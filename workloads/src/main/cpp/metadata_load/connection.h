// A connection to a namenode: Hadoop RPC version 9, SIMPLE authentication, one call at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/socket.h"
#include "metadata_load/calls.h"

namespace ebb::metadata_load {

struct Namenode {
  std::string host;
  std::uint16_t port = 0;
  std::string user;
};

// One thread uses it. It writes when it is told to; the owner waits for the descriptor with epoll.
class Connection {
 public:
  // Connects, and sends the preamble and the context.
  [[nodiscard]] static Result<std::unique_ptr<Connection>> Open(const Namenode& namenode);

  // Sends a call. Only after the answer of the call before it.
  [[nodiscard]] Status Send(const Call& call);
  // To be called when the descriptor is readable. Nothing until the whole answer is there; then
  // the message of the answer, which is valid until the next use of this connection. An error of
  // code kRemote is the namenode's exception; after any other error the connection is lost.
  [[nodiscard]] Result<std::optional<std::string_view>> Receive();

  [[nodiscard]] int fd() const { return socket_.fd(); }

 private:
  Connection(Socket socket, std::string server);

  [[nodiscard]] Status Write(std::string_view bytes);
  [[nodiscard]] Result<bool> ReadMore();
  [[nodiscard]] Result<std::string_view> Parse(std::string_view frame) const;
  void AppendHeader(std::int32_t call_id);

  Socket socket_;
  const std::string server_;
  const std::string client_id_;
  std::int32_t next_call_id_ = 0;
  std::string out_;
  std::string in_;
  std::size_t filled_ = 0;
};

}  // namespace ebb::metadata_load
