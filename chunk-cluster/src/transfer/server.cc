#include "transfer/server.h"

#include <spdlog/spdlog.h>

#include <new>
#include <string_view>
#include <utility>

#include "common/domain_socket.h"
#include "transfer/connection.h"
#include "transfer/peer.h"

namespace ebb::transfer {

TransferServer::TransferServer(Options options, BlockStore& store, MissingBlockReader* missing)
    : options_(std::move(options)),
      store_(store),
      missing_(missing),
      throttler_(options_.balance),
      lanes_(options_.max_lanes,
             [this](const auto& server) { return ConnectToLaneServer(server); }),
      pool_({.max_connections = options_.max_connections, .max_running = options_.max_operations},
            counters_, [this](OpenConnection& opened) { return RunOperations(opened); }) {}

TransferServer::~TransferServer() { Stop(); }

Status TransferServer::Listen() {
  EBB_ASSIGN(listener_, Listener::Listen(options_.host, options_.port));
  if (!options_.domain_socket.empty()) EBB_TRY(ListenAtPath());
  return pool_.Start();
}

Status TransferServer::ListenAtPath() {
  std::string path = options_.domain_socket;
  constexpr std::string_view kPort = "_PORT";
  if (const auto at = path.find(kPort); at != std::string::npos) {
    path.replace(at, kPort.size(), std::to_string(port()));
  }
  EBB_TRY(CheckSocketPath(path));
  EBB_ASSIGN(local_listener_, Listener::ListenAtPath(path));
  spdlog::info("clients on this machine get the files of replicas through {}", path);
  return {};
}

void TransferServer::Serve() {
  acceptor_ = std::thread([this] { AcceptLoop(listener_, nullptr); });
  if (local_listener_.valid() && short_circuit_ != nullptr) {
    local_acceptor_ = std::thread([this] { AcceptLoop(local_listener_, short_circuit_); });
  }
}

void TransferServer::AcceptLoop(Listener& listener, ShortCircuitRegistry* short_circuit) {
  for (;;) {
    auto socket = listener.Accept();
    if (!socket) {
      if (socket.error().code == ErrorCode::kShutdown) return;
      spdlog::warn("{}", socket.error().message);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until descriptors are free
      continue;
    }
    pool_.Add(std::move(socket).value(), short_circuit);
  }
}

bool TransferServer::RunOperations(OpenConnection& opened) {
  try {
    Connection::Patience patience{options_.ready_patience, stop_.get_token()};
    const Connection::Services services{store_,     missing_, peer_listener_,       counters_,
                                        throttler_, lanes_,   opened.short_circuit};
    Connection connection(opened, services, std::move(patience));
    return connection.Run() == Connection::End::kIdle;
  } catch (const std::bad_alloc&) {
    spdlog::warn("no memory for an operation of {}; the connection is closed",
                 opened.socket.peer());
    return false;
  }
}

Result<Socket> TransferServer::ConnectToLaneServer(const hadoop::hdfs::DatanodeIDProto& server) {
  if (server.datanodeuuid() != store_.server_uuid()) return ConnectTo(server);
  EBB_ASSIGN(auto ends, Socket::Pair());
  pool_.Add(std::move(ends.second), nullptr);
  return std::move(ends.first);
}

std::size_t TransferServer::EvictWriters() {
  const std::size_t closed = pool_.CloseWriters();
  // Waits for lanes that are being opened.
  lanes_.BreakAll("an administrator evicts the writers of the server");
  return closed;
}

void TransferServer::Stop() {
  listener_.Shutdown();
  local_listener_.Shutdown();
  stop_.request_stop();
  lanes_.BreakAll("the server stops");
  pool_.Stop();
  if (acceptor_.joinable()) acceptor_.join();
  if (local_acceptor_.joinable()) local_acceptor_.join();
}

}  // namespace ebb::transfer
