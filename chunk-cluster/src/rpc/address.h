// Where a server of Hadoop RPC is.
#pragma once

#include <cstdint>
#include <string>

namespace ebb {

struct RpcAddress {
  std::string host;
  std::uint16_t port = 0;

  // "host:port", for messages.
  [[nodiscard]] std::string Text() const { return host + ":" + std::to_string(port); }
  bool operator==(const RpcAddress&) const = default;
};

}  // namespace ebb
