// Drives workers over connections, in a closed loop or at a rate.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "metadata_load/connection.h"
#include "metadata_load/histogram.h"
#include "metadata_load/process_cpu.h"
#include "metadata_load/worker.h"

namespace ebb::metadata_load {

struct Measurement {
  // Operations that ended within the window.
  std::uint64_t operations = 0;
  std::uint64_t failures = 0;
  std::string first_failure;
  double seconds = 0;
  // Processor time of the server and of this process within the window.
  CpuMicros server_cpu;
  std::uint64_t client_cpu_micros = 0;
  Histogram latencies;
};

// Workers that are measured together.
struct Group {
  std::vector<std::unique_ptr<Worker>> workers;
  // Operations per second of the whole group; 0: each worker begins an operation as soon as the one
  // before it has ended. With a rate, a latency counts from the moment at which the operation was
  // due, so that a server that stalls does not hide what waits for it.
  double rate = 0;
};

// One thread uses it.
class LoadLoop {
 public:
  // Opens the connections, one after the other. `server_pid` is the process whose processor time
  // is measured; 0 for none.
  [[nodiscard]] static Result<LoadLoop> Connect(const Namenode& namenode, std::size_t connections,
                                                int server_pid);
  LoadLoop(LoadLoop&& other) noexcept;
  LoadLoop& operator=(LoadLoop&& other) = delete;
  ~LoadLoop();

  [[nodiscard]] std::size_t connections() const { return connections_.size(); }

  // Runs the groups at the same time; each worker has a connection of its own. With a window, it
  // measures until the window is over and an operation of each group has ended, or until the first
  // worker has no operation left; then it waits for the operations under way. Without a window, it
  // runs every worker to its end. A failed operation is counted, and the next one follows; a lost
  // connection is an error.
  [[nodiscard]] Result<std::vector<Measurement>> Run(
      std::span<const Group> groups, std::optional<std::chrono::nanoseconds> window);
  // The same with one group.
  [[nodiscard]] Result<Measurement> Run(const Group& group,
                                        std::optional<std::chrono::nanoseconds> window);

 private:
  class Round;

  LoadLoop(int epoll, int server_pid) : epoll_(epoll), server_pid_(server_pid) {}

  int epoll_;
  int server_pid_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace ebb::metadata_load
