#include "transfer/server.h"

#include <spdlog/spdlog.h>

#include <new>
#include <system_error>

#include "transfer/connection.h"

namespace ebb::transfer {

namespace {

// A displaced connection ends as soon as its thread runs.
constexpr auto kDisplacePatience = std::chrono::seconds(5);

}  // namespace

struct TransferServer::OpenConnection {
  explicit OpenConnection(Socket accepted) : socket(std::move(accepted)) {}
  Socket socket;
  Waiting waiting;
};

TransferServer::TransferServer(Options options, BlockStore& store, MissingBlockReader* missing)
    : options_(std::move(options)), store_(store), missing_(missing) {}

TransferServer::~TransferServer() { Stop(); }

Status TransferServer::Listen() {
  EBB_ASSIGN(listener_, Listener::Listen(options_.host, options_.port));
  return {};
}

void TransferServer::Serve() {
  acceptor_ = std::thread([this] { AcceptLoop(); });
}

void TransferServer::AcceptLoop() {
  for (;;) {
    auto socket = listener_.Accept();
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
    if (!Open(std::move(socket).value())) return;
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

bool TransferServer::Open(Socket socket) {
  const auto opened = std::make_shared<OpenConnection>(std::move(socket));
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
    Connection(opened.socket, store_, missing_, peer_listener_, counters_, opened.waiting,
               std::move(patience))
        .Run();
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
  stop_.request_stop();
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    for (OpenConnection* const opened : open_) opened->socket.Shutdown();
    ended_.wait(lock, [this] { return open_.empty(); });
  }
  if (acceptor_.joinable()) acceptor_.join();
}

}  // namespace ebb::transfer
