#include "rpc/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "ProtobufRpcEngine2.pb.h"
#include "rpc/server_connection.h"
#include "rpc/wire.h"

namespace ebb {

namespace rpc_internal {

Status ParseRequest(google::protobuf::MessageLite& request, std::string_view bytes) {
  return rpc_wire::Parse(request, bytes, "the request");
}

Result<std::string> Serialize(const google::protobuf::MessageLite& response) {
  if (!response.IsInitialized()) {
    return Fail(ErrorCode::kInvalid, fmt::format("the response lacks required fields: {}",
                                                 response.InitializationErrorString()));
  }
  return response.SerializeAsString();
}

}  // namespace rpc_internal

namespace {

using hadoop::common::RpcResponseHeaderProto;
using rpc_internal::IncomingCall;
using rpc_internal::RpcException;
using rpc_internal::ServerConnection;

constexpr char kDefaultException[] = "java.io.IOException";
// A Java client knows by this class that the same call may succeed later.
constexpr char kRetriableException[] = "org.apache.hadoop.ipc.RetriableException";
constexpr auto kPauseWithoutDescriptors = std::chrono::milliseconds(100);
// A displaced connection ends as soon as its thread runs.
constexpr auto kDisplacePatience = std::chrono::seconds(5);

}  // namespace

class RpcServer::Core {
 public:
  explicit Core(Options options) : options_(std::move(options)) {}
  ~Core() { Stop(); }

  void RegisterService(std::string protocol, std::uint64_t version, RpcHandlers handlers,
                       std::optional<ServiceKey> key) {
    services_.insert_or_assign(std::move(protocol),
                               Service{version, std::move(handlers), std::move(key)});
  }

  Status Start() {
    EBB_ASSIGN(listener_, Listener::Listen(options_.address, options_.port));
    for (std::size_t i = 0; i < std::max<std::size_t>(1, options_.handler_threads); ++i) {
      handlers_.emplace_back([this] { HandleLoop(); });
    }
    acceptor_ = std::thread([this] { AcceptLoop(); });
    return {};
  }

  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      for (const Reader& reader : readers_) {
        if (!reader.done) reader.connection->Shutdown();
      }
    }
    changed_.notify_all();
    listener_.Shutdown();
    if (acceptor_.joinable()) acceptor_.join();
    for (Reader& reader : readers_) reader.thread.join();
    readers_.clear();
    for (std::thread& handler : handlers_) handler.join();
    handlers_.clear();
    queue_.clear();
  }

  std::uint16_t port() const { return listener_.port(); }

  std::size_t connections() {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(readers_.begin(), readers_.end(), [](const Reader& r) { return !r.done; }));
  }

 private:
  struct Reader {
    std::shared_ptr<ServerConnection> connection;
    std::thread thread;
    bool done = false;
  };

  struct Service {
    std::uint64_t version = 0;
    RpcHandlers handlers;
    // Set if the protocol is for services only.
    std::optional<ServiceKey> key;
  };

  struct QueuedCall {
    std::shared_ptr<ServerConnection> connection;
    IncomingCall call;
  };

  void AcceptLoop() {
    for (;;) {
      auto socket = listener_.Accept();
      std::unique_lock lock(mutex_);
      if (stopping_) return;
      if (!socket) {
        changed_.wait_for(lock, kPauseWithoutDescriptors, [&] { return stopping_; });
        continue;
      }
      JoinFinishedReaders();
      if (!MakeRoom(lock)) continue;  // closes the socket
      Reader& reader = readers_.emplace_back();
      reader.connection = std::make_shared<ServerConnection>(std::move(*socket), options_);
      try {
        reader.thread = std::thread([this, &reader] { ReadLoop(reader); });
      } catch (const std::system_error&) {  // out of threads: the client may come again
        readers_.pop_back();
      }
    }
  }

  // Displaces a connection if the limit is reached. The caller holds the lock. False if every
  // connection has a call under way, or when stopping.
  bool MakeRoom(std::unique_lock<std::mutex>& lock) {
    if (readers_.size() < options_.max_connections) return true;
    // Oldest connection first, so that the first one without any call is the oldest of its kind.
    ServerConnection* displaced = nullptr;
    for (const Reader& reader : readers_) {
      if (reader.done || reader.connection->calls_under_way != 0) continue;
      if (displaced == nullptr || reader.connection->last_call < displaced->last_call) {
        displaced = reader.connection.get();
      }
    }
    if (displaced == nullptr) return false;
    displaced->Shutdown();
    changed_.wait_for(lock, kDisplacePatience, [&] {
      return stopping_ ||
             std::any_of(readers_.begin(), readers_.end(), [](const Reader& r) { return r.done; });
    });
    if (stopping_) return false;
    JoinFinishedReaders();
    return readers_.size() < options_.max_connections;
  }

  // Joining is quick: a reader that is done returns at once.
  void JoinFinishedReaders() {
    for (auto it = readers_.begin(); it != readers_.end();) {
      if (!it->done) {
        ++it;
        continue;
      }
      it->thread.join();
      it = readers_.erase(it);
    }
  }

  void ReadLoop(Reader& reader) {
    const std::shared_ptr<ServerConnection> connection = reader.connection;
    try {
      Receive(connection);
    } catch (const std::bad_alloc&) {  // closes this connection only
    }
    connection->Shutdown();
    {
      const std::lock_guard lock(mutex_);
      reader.connection.reset();  // the socket closes after its last answer
      reader.done = true;
    }
    changed_.notify_all();
  }

  void Receive(const std::shared_ptr<ServerConnection>& connection) {
    if (!connection->Handshake()) return;
    for (;;) {
      auto call = connection->NextCall();
      if (!call || !Enqueue({connection, std::move(*call)})) return;
    }
  }

  // Waits for room in the queue. Meanwhile the client's socket fills up, which slows the client
  // down. False if stopping.
  bool Enqueue(QueuedCall call) {
    const std::size_t bytes = call.call.frame.size();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return stopping_ || queue_.empty() ||
             (queue_.size() < options_.max_queued_calls &&
              queued_bytes_ + bytes <= options_.max_queued_bytes);
    });
    if (stopping_) return false;
    ++call.connection->calls_under_way;
    queued_bytes_ += bytes;
    queue_.push_back(std::move(call));
    lock.unlock();
    changed_.notify_all();
    return true;
  }

  std::optional<QueuedCall> Dequeue() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (stopping_) return std::nullopt;
    QueuedCall call = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= call.call.frame.size();
    lock.unlock();
    changed_.notify_all();
    return call;
  }

  void HandleLoop() {
    while (auto queued = Dequeue()) {
      try {
        auto result = Execute(queued->call);
        if (result) {
          queued->connection->Answer(queued->call.caller, *result);
        } else {
          queued->connection->Answer(queued->call.caller, result.error());
        }
      } catch (const std::bad_alloc&) {  // no memory for an answer
        queued->connection->Shutdown();
      }
      --queued->connection->calls_under_way;
    }
  }

  std::expected<std::string, RpcException> Execute(const IncomingCall& call) {
    const auto refuse = [](std::string java_class, std::string message,
                           rpc_internal::RpcErrorCode code) {
      return std::unexpected(RpcException{std::move(java_class), std::move(message), code});
    };
    rpc_wire::Cursor cursor(std::string_view(call.frame).substr(call.body_offset));
    hadoop::common::RequestHeaderProto header;
    auto status = cursor.Next(header, "the header of the call");
    auto request = status ? cursor.Next() : std::unexpected(status.error());
    if (!request) {
      return refuse("org.apache.hadoop.ipc.RpcServerException", request.error().message,
                    RpcResponseHeaderProto::ERROR_RPC_SERVER);
    }
    const auto service = services_.find(header.declaringclassprotocolname());
    if (service == services_.end()) {
      return refuse("org.apache.hadoop.ipc.RpcNoSuchProtocolException",
                    fmt::format("Unknown protocol: {}", header.declaringclassprotocolname()),
                    RpcResponseHeaderProto::ERROR_NO_SUCH_PROTOCOL);
    }
    if (service->second.version != header.clientprotocolversion()) {
      return refuse(
          "org.apache.hadoop.ipc.RPC$VersionMismatch",
          fmt::format("Protocol {} version mismatch. (client = {}, server = {})", service->first,
                      header.clientprotocolversion(), service->second.version),
          RpcResponseHeaderProto::ERROR_RPC_VERSION_MISMATCH);
    }
    if (service->second.key) {
      auto known = service->second.key->Check(call.caller.context, service->first, call.caller.peer);
      if (!known) {
        return refuse(known.error().exception_class, known.error().message,
                      RpcResponseHeaderProto::ERROR_APPLICATION);
      }
    }
    const auto handler = service->second.handlers.find(header.methodname());
    if (handler == service->second.handlers.end()) {
      return refuse("org.apache.hadoop.ipc.RpcNoSuchMethodException",
                    fmt::format("Unknown method {} called on {} protocol.", header.methodname(),
                                service->first),
                    RpcResponseHeaderProto::ERROR_NO_SUCH_METHOD);
    }
    return Invoke(handler->second, call.caller, *request);
  }

  static std::expected<std::string, RpcException> Invoke(const RpcHandler& handler,
                                                         const RpcCaller& caller,
                                                         std::string_view request) {
    try {
      auto response = handler(caller, request);
      if (response) return std::move(*response);
      Error& error = response.error();
      if (error.exception_class.empty()) {
        error.exception_class =
            error.code == ErrorCode::kNotReady ? kRetriableException : kDefaultException;
      }
      return std::unexpected(
          RpcException{std::move(error.exception_class), std::move(error.message)});
    } catch (const std::exception& failure) {  // out of memory: this call fails, not the server
      return std::unexpected(RpcException{
          kDefaultException, fmt::format("the call failed: {}; try again later", failure.what())});
    }
  }

  const Options options_;
  std::map<std::string, Service, std::less<>> services_;
  Listener listener_;
  std::thread acceptor_;
  std::vector<std::thread> handlers_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::list<Reader> readers_;
  std::deque<QueuedCall> queue_;
  std::size_t queued_bytes_ = 0;
};

RpcServer::RpcServer(Options options) : core_(std::make_unique<Core>(std::move(options))) {}
RpcServer::~RpcServer() = default;

void RpcServer::RegisterService(std::string protocol, std::uint64_t version, RpcHandlers handlers) {
  core_->RegisterService(std::move(protocol), version, std::move(handlers), std::nullopt);
}

void RpcServer::RegisterService(std::string protocol, std::uint64_t version, RpcHandlers handlers,
                                ServiceKey key) {
  core_->RegisterService(std::move(protocol), version, std::move(handlers), std::move(key));
}

Status RpcServer::Start() { return core_->Start(); }
void RpcServer::Stop() { core_->Stop(); }
std::uint16_t RpcServer::port() const { return core_->port(); }
std::size_t RpcServer::connections() const { return core_->connections(); }

}  // namespace ebb
