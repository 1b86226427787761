// Connections to servers that have no operation under way, and may take another one.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "common/socket.h"

namespace ebb::transfer {

// Thread-safe.
class IdleSockets {
 public:
  // A connection to the server with this address ("host:port"), the youngest one, if there is one
  // that the server has not closed.
  [[nodiscard]] std::optional<Socket> Take(const std::string& address) {
    const std::lock_guard lock(mutex_);
    DropOld();
    for (auto at = idle_.begin(); at != idle_.end();) {
      if (at->address != address) {
        ++at;
        continue;
      }
      Socket socket = std::move(at->socket);
      at = idle_.erase(at);
      // Bytes that nobody has asked for are the end of the connection, or an error.
      const auto readable = socket.WaitReadable(Timeout(0));
      if (readable && !*readable) return socket;
    }
    return std::nullopt;
  }

  // Closes all connections, for a process that has no descriptors left.
  void DropAll() {
    const std::lock_guard lock(mutex_);
    idle_.clear();
  }

  void Put(const std::string& address, Socket socket) {
    const std::lock_guard lock(mutex_);
    DropOld();
    if (idle_.size() == kMost) idle_.pop_back();
    idle_.push_front({address, std::move(socket), Clock::now()});
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMost = 16;
  // HDFS's DataNodes close an idle connection after 4 s.
  static constexpr auto kKept = std::chrono::seconds(2);

  struct Idle {
    std::string address;
    Socket socket;
    Clock::time_point since;
  };

  void DropOld() {
    while (!idle_.empty() && Clock::now() - idle_.back().since > kKept) idle_.pop_back();
  }

  std::mutex mutex_;
  // The youngest one first.
  std::list<Idle> idle_;
};

}  // namespace ebb::transfer
