#include "transfer/server.h"

#include <spdlog/spdlog.h>

#include "transfer/connection.h"

namespace ebb::transfer {

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
    if (connections_ >= options_.max_connections) {
      ++counters_.refused_connections;
      spdlog::warn("refused a connection from {}: {} connections are open; raise --max-connections",
                   socket->peer(), options_.max_connections);
      continue;
    }
    auto held = std::make_unique<Socket>(std::move(socket).value());
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      open_.insert(held.get());
      ++connections_;
    }
    std::thread([this, held = std::move(held)] { RunConnection(*held); }).detach();
  }
}

void TransferServer::RunConnection(Socket& socket) {
  Connection::Patience patience{options_.ready_patience, stop_.get_token()};
  Connection(socket, store_, missing_, counters_, std::move(patience)).Run();
  const std::lock_guard lock(mutex_);
  open_.erase(&socket);
  --connections_;
  if (open_.empty()) all_gone_.notify_all();
}

void TransferServer::Stop() {
  listener_.Shutdown();
  stop_.request_stop();
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    for (Socket* socket : open_) socket->Shutdown();
    all_gone_.wait(lock, [this] { return open_.empty(); });
  }
  if (acceptor_.joinable()) acceptor_.join();
}

}  // namespace ebb::transfer
