// Who a client is, for servers that do not take its word. The program that embeds the client brings
// the mechanisms of SASL.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/error.h"

namespace ebb {

// A way to authenticate that a server offers.
struct SaslOffer {
  // The method of Hadoop, such as "TOKEN" or "KERBEROS".
  std::string method;
  // The mechanism of SASL, such as "DIGEST-MD5" or "GSSAPI".
  std::string mechanism;
  // The names of the service and of the server for the mechanism. With KERBEROS they are the two
  // parts of the server's principal.
  std::string protocol;
  std::string server_id;
};

// The client's side of one authentication. One thread at a time. The two sides must agree on
// authentication alone (quality of protection "auth"): the client does not encrypt what follows.
class SaslExchange {
 public:
  virtual ~SaslExchange() = default;
  // The answer to a token of the server. The first token is empty, unless the server has sent one
  // with its offer.
  [[nodiscard]] virtual Result<std::string> Respond(std::string_view token) = 0;
  // Whether the exchange has come to its good end. If not, the server's word for that is not taken.
  [[nodiscard]] virtual bool complete() const = 0;
};

// Thread-safe.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  // The exchange for an offer of a server, "HOST:PORT"; null if the program cannot do what is
  // offered. A server's offers are tried in its order.
  [[nodiscard]] virtual Result<std::unique_ptr<SaslExchange>> Begin(const SaslOffer& offer,
                                                                    const std::string& server) = 0;
};

// How a client authenticates.
struct Authentication {
  // Null: the client tells its name, and the server takes its word (SIMPLE).
  std::shared_ptr<Authenticator> authenticator = {};
  // Whether a server may want a client with an authenticator to go on without. Whoever can answer
  // in the server's place can want that, too.
  bool allow_simple = false;
};

}  // namespace ebb
