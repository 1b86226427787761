// The client's side of the negotiation of Hadoop RPC, at the begin of a connection.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "RpcHeader.pb.h"
#include "common/error.h"
#include "common/socket.h"
#include "rpc/authenticator.h"

namespace ebb::rpc_internal {

// One negotiation. The client wants to negotiate (NEGOTIATE), the server offers ways to
// authenticate (NEGOTIATE), the client begins with one of them (INITIATE), and tokens go to and fro
// (CHALLENGE and RESPONSE) until the server says SUCCESS. A server that knows SIMPLE only says that
// at once.
class SaslNegotiation {
 public:
  // `server` is "HOST:PORT", `client_id` names the client at the server. The preamble was sent. The
  // whole negotiation may take as long as `timeout`.
  SaslNegotiation(Socket& socket, const Authentication& authentication, std::string server,
                  std::string client_id, Timeout timeout);

  // True if the server knows who the client is; false if the two go on with SIMPLE. kRemote if the
  // server refuses, kUnsupported if the two have no way in common, else an error of the network or
  // of the authenticator.
  [[nodiscard]] Result<bool> Run();

 private:
  using Message = hadoop::common::RpcSaslProto;

  [[nodiscard]] Timeout Left() const;
  [[nodiscard]] Status Send(const Message& message);
  [[nodiscard]] Result<Message> Receive();
  // Begins with the first offer that the program can do. False if that is SIMPLE.
  [[nodiscard]] Result<bool> Initiate(const Message& offers);
  [[nodiscard]] Status SendInitiate(const Message::SaslAuth& offer, const std::string& token);
  [[nodiscard]] Status Answer(const Message& challenge);
  [[nodiscard]] Result<bool> Finish(const Message& success);
  [[nodiscard]] std::unexpected<Error> NothingInCommon(const Message& offers) const;
  // The server has broken the protocol.
  [[nodiscard]] std::unexpected<Error> Broken(const std::string& what) const;

  Socket& socket_;
  const Authentication& authentication_;
  const std::string server_;
  const std::string client_id_;
  const std::chrono::steady_clock::time_point deadline_;
  std::unique_ptr<SaslExchange> exchange_;
};

}  // namespace ebb::rpc_internal
