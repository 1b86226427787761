// The secret that the services of a cluster share, and its proof in the header of a call.
#pragma once

#include <string>
#include <string_view>

#include "RpcHeader.pb.h"
#include "common/error.h"

namespace ebb {

// A call carries a random number and HMAC-SHA-256(key, protocol, number) in the
// caller context of its RPC header, so the key itself never travels. See docs/security.md.
// Immutable and thread-safe.
class ServiceKey {
 public:
  // Without a key. Calls are not signed, and only callers on this machine are answered.
  ServiceKey() = default;

  // The first line of a file. kInvalid if it has fewer than 32 characters, or if users other than
  // the owner may read the file.
  [[nodiscard]] static Result<ServiceKey> Read(const std::string& path);

  [[nodiscard]] bool present() const { return !secret_.empty(); }

  // Adds the proof to the header of a call of this protocol. Does nothing without a key.
  void Sign(hadoop::common::RpcRequestHeaderProto& header, std::string_view protocol) const;

  // kInvalid, with the exception class of Hadoop for a forbidden call and the remedy, if a call has
  // no right proof. `peer` is "address:port".
  [[nodiscard]] Status Check(const hadoop::common::RPCCallerContextProto& proof,
                             std::string_view protocol, std::string_view peer) const;

 private:
  [[nodiscard]] std::string Proof(std::string_view protocol, std::string_view context) const;

  std::string secret_;
  std::string path_;
};

}  // namespace ebb
