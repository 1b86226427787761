#include "transfer/server.h"

#include <spdlog/spdlog.h>

#include <new>
#include <string_view>
#include <system_error>

#include "common/domain_socket.h"
#include "transfer/connection.h"

namespace ebb::transfer {

namespace {

// A displaced connection ends as soon as its thread runs.
constexpr auto kDisplacePatience = std::chrono::seconds(5);

}  // namespace

struct TransferServer::OpenConnection {
  OpenConnection(Socket accepted, ShortCircuitRegistry* registry)
      : socket(std::move(accepted)), short_circuit(registry) {}
  Socket socket;
  ShortCircuitRegistry* short_circuit;
  Waiting waiting;
};

TransferServer::TransferServer(Options options, BlockStore& store, MissingBlockReader* missing)
    : options_(std::move(options)),
      store_(store),
      missing_(missing),
      throttler_(options_.balance),
      lanes_(options_.max_lanes) {}

TransferServer::~TransferServer() { Stop(); }

Status TransferServer::Listen() {
  EBB_ASSIGN(listener_, Listener::Listen(options_.host, options_.port));
  if (!options_.domain_socket.empty()) EBB_TRY(ListenAtPath());
  return {};
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
    if (!MakeRoom()) {
      ++counters_.refused_connections;
      spdlog::warn(
          "refused a connection from {}: {} operations are running; raise --max-connections",
          socket->peer(), options_.max_connections);
      continue;
    }
    if (!Open(std::move(socket).value(), short_circuit)) return;
  }
}

bool TransferServer::MakeRoom() {
  std::unique_lock lock(mutex_);
  if (open_.size() < options_.max_connections) return true;
  OpenConnection* oldest = nullptr;
  auto since = Waiting::Clock::time_point::max();
  for (OpenConnection* const opened : open_) {
    const auto begun = opened->waiting.since();
    if (!begun || *begun >= since) continue;
    oldest = opened;
    since = *begun;
  }
  if (oldest == nullptr) return false;
  ++counters_.displaced_connections;
  oldest->socket.Shutdown();
  return ended_.wait_for(lock, kDisplacePatience,
                         [this] { return stopping_ || open_.size() < options_.max_connections; });
}

bool TransferServer::Open(Socket socket, ShortCircuitRegistry* short_circuit) {
  const auto opened = std::make_shared<OpenConnection>(std::move(socket), short_circuit);
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    open_.insert(opened.get());
    ++connections_;
  }
  try {
    std::thread([this, opened] { RunConnection(*opened); }).detach();
  } catch (const std::system_error& failure) {
    spdlog::warn(
        "no thread for a connection: {}; raise the limit of threads or lower "
        "--max-connections",
        failure.what());
    Forget(*opened);
  }
  return true;
}

void TransferServer::RunConnection(OpenConnection& opened) {
  try {
    Connection::Patience patience{options_.ready_patience, stop_.get_token()};
    const Connection::Services services{store_,     missing_, peer_listener_,       counters_,
                                        throttler_, lanes_,   opened.short_circuit};
    Connection(opened.socket, services, opened.waiting, std::move(patience)).Run();
  } catch (const std::bad_alloc&) {
    spdlog::warn("no memory for an operation of {}; the connection is closed",
                 opened.socket.peer());
  }
  Forget(opened);
}

void TransferServer::Forget(OpenConnection& opened) {
  const std::lock_guard lock(mutex_);
  open_.erase(&opened);
  --connections_;
  ended_.notify_all();
}

void TransferServer::Stop() {
  listener_.Shutdown();
  local_listener_.Shutdown();
  stop_.request_stop();
  lanes_.BreakAll();
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    for (OpenConnection* const opened : open_) opened->socket.Shutdown();
    ended_.wait(lock, [this] { return open_.empty(); });
  }
  if (acceptor_.joinable()) acceptor_.join();
  if (local_acceptor_.joinable()) local_acceptor_.join();
}

}  // namespace ebb::transfer
