// Waits for many sockets with one thread (epoll).
#pragma once

#include <vector>

#include "common/error.h"
#include "common/socket.h"

namespace ebb {

// One thread waits; any thread may call the other methods. A socket that is closed is forgotten.
class Readiness {
 public:
  Readiness() = default;
  ~Readiness();
  Readiness(const Readiness&) = delete;
  Readiness& operator=(const Readiness&) = delete;

  // To be called before all others. kBusy if the process is out of descriptors.
  [[nodiscard]] Status Open();
  // Tells of the socket once, as soon as it has bytes, an end or an error. `tag` is what Wait
  // returns.
  [[nodiscard]] Status Add(const Socket& socket, void* tag);
  // The same, for a socket that was added before.
  [[nodiscard]] Status AddAgain(const Socket& socket, void* tag);
  // The tags of sockets that are ready. Empty after the time-out, or after Wake.
  [[nodiscard]] std::vector<void*> Wait(Timeout timeout);
  void Wake();

 private:
  int epoll_ = -1;
  int wake_ = -1;
};

}  // namespace ebb
