// Answers supervisors and Prometheus over HTTP: /live, /ready and /metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "common/error.h"
#include "common/socket.h"

namespace ebb::server {

// One thread answers one request after the other and closes each connection. A client that sends or
// reads nothing holds the thread for two seconds.
class StatusServer {
 public:
  struct State {
    // Why this server cannot do its work now; empty if it can. Called by the thread.
    std::function<std::string()> not_ready;
    // The metrics in the text format of Prometheus. Called by the thread.
    std::function<std::string()> metrics;
  };

  explicit StatusServer(State state) : state_(std::move(state)) {}
  // Stops.
  ~StatusServer() { Stop(); }
  StatusServer(const StatusServer&) = delete;
  StatusServer& operator=(const StatusServer&) = delete;

  // kNetwork if the port is in use. With port 0 the kernel chooses a port.
  [[nodiscard]] Status Start(const std::string& host, std::uint16_t port);
  void Stop();

  [[nodiscard]] std::uint16_t port() const { return listener_.port(); }

 private:
  void Run();
  void Answer(Socket& connection) const;
  [[nodiscard]] std::string Response(const std::string& request) const;

  const State state_;
  Listener listener_;
  std::thread thread_;
};

}  // namespace ebb::server
