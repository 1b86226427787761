// Hands the bytes of an input to a parser that reads a socket.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <utility>

#include "common/socket.h"

namespace ebb::fuzz {

// The end of a connection whose peer has sent the bytes and nothing after them. The peer reads
// nothing, so that the answers have to fit into the buffer of the kernel.
class FedSocket {
 public:
  FedSocket(const std::uint8_t* data, std::size_t size) {
    auto pair = Socket::Pair();
    if (!pair) abort();
    socket_ = std::move(pair->first);
    peer_ = std::move(pair->second);
    if (!peer_.WriteAll(std::as_bytes(std::span(data, size)), std::chrono::seconds(5))) abort();
    shutdown(peer_.fd(), SHUT_WR);
  }
  [[nodiscard]] Socket& get() { return socket_; }
  [[nodiscard]] Socket Take() { return std::move(socket_); }

 private:
  Socket socket_;
  Socket peer_;
};

// No input is longer than the kernel takes without a reader.
inline constexpr std::size_t kMaxInputBytes = 4096;

}  // namespace ebb::fuzz
