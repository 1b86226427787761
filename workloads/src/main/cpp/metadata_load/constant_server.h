// A server that answers every call with the same bytes: what remains of a namenode without its work.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "common/error.h"

namespace ebb::metadata_load {

// Runs in a process of its own, so that its processor time can be told from the load generator's.
// It reads frames of Hadoop RPC, does not look into them, and answers a frame as long as the status
// of a file. One system call reads, and one writes, for each call. Ends with its owner.
class ConstantServer {
 public:
  // One thread and one epoll descriptor per event loop; connections take turns.
  [[nodiscard]] static Result<ConstantServer> Start(int event_loops);
  ConstantServer(ConstantServer&& other) noexcept;
  ConstantServer& operator=(ConstantServer&& other) = delete;
  ~ConstantServer();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  ConstantServer(pid_t pid, std::uint16_t port) : pid_(pid), port_(port) {}

  pid_t pid_;
  std::uint16_t port_;
};

}  // namespace ebb::metadata_load
