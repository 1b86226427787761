// The DataTransferProtocol server: HDFS clients, other chunk servers and stock DataNodes read and
// write blocks here. It accepts plain connections only, and ignores block tokens.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <thread>

#include "common/error.h"
#include "common/socket.h"
#include "disk/block_store.h"
#include "transfer/balance_throttler.h"
#include "transfer/connection_pool.h"
#include "transfer/counters.h"
#include "transfer/missing_block_reader.h"
#include "transfer/peer_listener.h"
#include "transfer/record_lane.h"
#include "transfer/short_circuit_registry.h"

namespace ebb::transfer {

// A thread accepts connections, and a connection has a thread only while its peer has sent an
// operation: ConnectionPool tells how many, and what happens at the limits.
class TransferServer {
 public:
  struct Options {
    std::string host = "127.0.0.1";
    // With 0 the kernel chooses a port.
    std::uint16_t port = 0;
    // Connections that are open; those of silent peers have no thread.
    std::size_t max_connections = 16384;
    // How long an operation waits for the scan of the disks. A DataNode of HDFS waits as long.
    Timeout ready_patience = std::chrono::seconds(20);
    BalanceThrottler::Options balance = {};
    // The most lanes of record appends that this server leads. Each one has two threads and up to
    // 20 MiB, and 1 MiB for each writer whose batch is not whole yet.
    std::size_t max_lanes = 64;
    // The path of a Unix domain socket through which clients on this machine get the files of
    // replicas. `_PORT` in it stands for the port. Empty for none.
    std::string domain_socket = {};
    // Operations that run at a time, with one thread each.
    std::size_t max_operations = 4096;
  };

  // `missing` serves blocks that this server does not hold. It may be null: then reading such a
  // block is an error. `store` and `missing` outlive the server.
  TransferServer(Options options, BlockStore& store, MissingBlockReader* missing);
  // Stops.
  ~TransferServer();
  TransferServer(const TransferServer&) = delete;
  TransferServer& operator=(const TransferServer&) = delete;

  // Not thread-safe: to be called before Serve. The listener outlives the server.
  void SetListener(PeerListener* listener) { peer_listener_ = listener; }

  // The same. Needed for a domain socket. The registry outlives the server.
  void SetShortCircuit(ShortCircuitRegistry* registry) { short_circuit_ = registry; }

  // Opens the port, and the domain socket if there is to be one. kNetwork if one of them is in use,
  // kInvalid if the path of the socket is not safe.
  [[nodiscard]] Status Listen();
  // Accepts connections from now on. If the store is not ready, an operation waits for
  // `ready_patience` and is then refused with a message that begins with kNotReadyPrefix.
  void Serve();
  // Closes the connections of the pipelines that write blocks here, whoever their peer is, and breaks
  // the lanes of record appends. Clients go on with the other servers of their pipelines. Returns
  // how many connections were closed.
  std::size_t EvictWriters();
  // Closes all connections and waits for their threads.
  void Stop();

  [[nodiscard]] std::uint16_t port() const { return listener_.port(); }
  // Connections that are open, and operations that run.
  [[nodiscard]] std::size_t connections() const { return pool_.open(); }
  [[nodiscard]] std::size_t operations() const { return pool_.running(); }
  [[nodiscard]] const TransferCounters& counters() const { return counters_; }
  [[nodiscard]] BalanceThrottler& throttler() { return throttler_; }

 private:
  [[nodiscard]] Status ListenAtPath();
  // Accepts the connections of one listener. They may use the registry, if there is one.
  void AcceptLoop(Listener& listener, ShortCircuitRegistry* short_circuit);
  // True if the peer may send another operation.
  [[nodiscard]] bool RunOperations(OpenConnection& opened);
  // A connection to a server. One to this server does not go through the network.
  [[nodiscard]] Result<Socket> ConnectToLaneServer(const hadoop::hdfs::DatanodeIDProto& server);

  const Options options_;
  BlockStore& store_;
  MissingBlockReader* const missing_;
  PeerListener* peer_listener_ = nullptr;
  TransferCounters counters_;
  BalanceThrottler throttler_;
  RecordLanes lanes_;
  ShortCircuitRegistry* short_circuit_ = nullptr;
  Listener listener_;
  std::thread acceptor_;
  Listener local_listener_;
  std::thread local_acceptor_;
  std::stop_source stop_;
  ConnectionPool pool_;
};

}  // namespace ebb::transfer
