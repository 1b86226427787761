// The sockets that other threads may end.
#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

#include "common/socket.h"

namespace ebb {

// Thread-safe. A socket that was added stays at its address until it is removed.
class OpenSockets {
 public:
  // False after ShutdownAll(): the socket is of no use then, and was not added.
  [[nodiscard]] bool Add(Socket& socket) {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    sockets_.push_back(&socket);
    return true;
  }
  // Whether ShutdownAll() was called.
  [[nodiscard]] bool ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }
  void Remove(Socket& socket) {
    const std::lock_guard lock(mutex_);
    std::erase(sockets_, &socket);
  }
  // Makes pending and later calls of all sockets fail. Later sockets are refused.
  void ShutdownAll() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    for (Socket* socket : sockets_) socket->Shutdown();
  }

 private:
  std::mutex mutex_;
  bool ended_ = false;
  std::vector<Socket*> sockets_;
};

}  // namespace ebb
