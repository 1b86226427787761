// The open connections of the transfer server, and the threads that run their operations.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "common/error.h"
#include "common/readiness.h"
#include "common/socket.h"
#include "transfer/counters.h"
#include "transfer/short_circuit_registry.h"
#include "transfer/waiting.h"
#include "transfer/wire.h"

namespace ebb::transfer {

struct OpenConnection {
  Socket socket;
  // Null unless the connection came through the Unix domain socket.
  ShortCircuitRegistry* short_circuit = nullptr;
  Waiting waiting = {};
  // The operation writes a block. The connection ends with such an operation.
  std::atomic<bool> writes = false;

 private:
  friend class ConnectionPool;
  enum class State { kParked, kQueued, kRunning };
  State state = State::kParked;
  // The end of its time as a parked or queued connection.
  Waiting::Clock::time_point deadline = {};
  bool displaced = false;
  bool served = false;
};

// A connection whose peer is silent is parked: one thread waits for all parked connections. When
// bytes arrive, the connection waits in a queue for one of the threads, which runs its operations
// until the peer is silent again. Nobody is shut out by peers that owe an operation: at the limit
// of threads, the thread that has waited longest for the rest of an operation is freed; at the
// limit of connections, the connection that has waited longest is closed. A connection that gets no
// thread in time, or no place, is refused with an answer. Thread-safe.
class ConnectionPool {
 public:
  struct Options {
    std::size_t max_connections;
    std::size_t max_running;
    // How long a peer may be silent before its first operation, and after an operation.
    Timeout first_patience = kPeerTimeout;
    Timeout idle_patience = std::chrono::seconds(4);
    // How long a connection waits for a thread.
    Timeout queue_patience = std::chrono::seconds(10);
  };
  // Runs operations. True if the peer is silent and may send another one.
  using Run = std::function<bool(OpenConnection&)>;

  // The counters outlive the pool, and so does what `run` uses.
  ConnectionPool(const Options& options, TransferCounters& counters, Run run);
  // Stops.
  ~ConnectionPool();
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

  // To be called before Add. kBusy if the process is out of descriptors.
  [[nodiscard]] Status Start();
  // Takes a new connection. At the limit this waits for a while until a place is free.
  void Add(Socket socket, ShortCircuitRegistry* short_circuit);
  // Closes the connections that write blocks: how many.
  std::size_t CloseWriters();
  // Closes all connections, and waits for the threads.
  void Stop();

  [[nodiscard]] std::size_t open() const { return open_count_; }
  [[nodiscard]] std::size_t running() const { return running_; }

 private:
  using State = OpenConnection::State;
  using Lock = std::unique_lock<std::mutex>;

  void WaitForPeers();
  void Arrive(OpenConnection& opened);
  void RefuseTheLate();
  void Work();
  void Close(OpenConnection& opened);
  [[nodiscard]] bool MakeRoom(Lock& lock);
  // These are called under the lock.
  void Employ();
  // Waits for the peer. False if the process lacks what that needs.
  [[nodiscard]] bool Park(OpenConnection& opened);
  // The connection in one of the states whose peer has owed an operation for the longest time; null
  // if there is none.
  [[nodiscard]] OpenConnection* Oldest(bool parked_too);
  [[nodiscard]] std::unique_ptr<OpenConnection> Take(OpenConnection& opened);

  const Options options_;
  TransferCounters& counters_;
  const Run run_;
  Readiness readiness_;
  std::thread waiter_;
  std::atomic<std::size_t> open_count_ = 0;
  std::atomic<std::size_t> running_ = 0;
  std::mutex mutex_;
  // A connection or a thread has ended.
  std::condition_variable ended_;
  bool stopping_ = false;
  std::unordered_map<OpenConnection*, std::unique_ptr<OpenConnection>> open_;
  std::deque<OpenConnection*> queued_;
};

}  // namespace ebb::transfer
