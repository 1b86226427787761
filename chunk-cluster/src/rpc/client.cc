#include "rpc/client.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "IpcConnectionContext.pb.h"
#include "ProtobufRpcEngine2.pb.h"
#include "RpcHeader.pb.h"
#include "rpc/sasl_negotiation.h"
#include "rpc/wire.h"

namespace ebb {

namespace {

using Clock = std::chrono::steady_clock;
using hadoop::common::RpcRequestHeaderProto;
using hadoop::common::RpcResponseHeaderProto;

// Between frames the reader waits again and again. The time-outs of the calls detect a silent
// server.
constexpr Timeout kReaderWait = std::chrono::hours(1);
constexpr Timeout kFrameTimeout = std::chrono::seconds(60);
constexpr char kAccessDenied[] = "org.apache.hadoop.security.AccessControlException";

std::string SystemUser() {
  if (const char* name = std::getenv("USER"); name != nullptr && *name != '\0') return name;
  return UserOfProcess();
}

// Why a server ends the connection. Whoever lacks an authenticator learns that.
Error FatalError(const RpcResponseHeaderProto& header, const std::string& server,
                 bool authenticates) {
  Error error = rpc_wire::ExceptionOf(header, server);
  if (!authenticates && header.errordetail() == RpcResponseHeaderProto::FATAL_UNAUTHORIZED &&
      error.exception_class == kAccessDenied) {
    error.message +=
        "; this client tells its name only: give it an Authenticator, or use 'hdfs dfs'";
  }
  return error;
}

}  // namespace

std::string UserOfProcess() {
  passwd entry = {};
  passwd* found = nullptr;
  char buffer[4096];
  getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found);
  return found != nullptr ? entry.pw_name : std::to_string(geteuid());
}

bool IsStandby(const Error& error) {
  return error.exception_class == "org.apache.hadoop.ipc.StandbyException";
}

// One connection and the thread that reads its answers. Callers write under write_mutex_, then wait
// until their entry of pending_ is filled. A failed connection stays failed.
class RpcClient::Connection {
 public:
  Connection(Socket socket, std::string server, const Options& options)
      : socket_(std::move(socket)),
        server_(std::move(server)),
        max_response_bytes_(options.max_response_bytes),
        authenticates_(options.authentication.authenticator != nullptr),
        on_lost_(options.on_lost),
        reader_([this] { ReadLoop(); }) {}

  // kBusy if the process has no thread left.
  static Result<std::shared_ptr<Connection>> Start(Socket socket, const std::string& server,
                                                   const Options& options) {
    try {
      return std::make_shared<Connection>(std::move(socket), server, options);
    } catch (const std::system_error& error) {
      return Fail(ErrorCode::kBusy,
                  fmt::format("no thread is left to read the answers of {}: {}; raise this "
                              "process's limit on threads",
                              server, error.what()));
    }
  }

  ~Connection() {
    Break(Error{ErrorCode::kShutdown, fmt::format("the RPC client of {} is closing", server_)});
    reader_.join();
  }

  [[nodiscard]] bool broken() {
    const std::lock_guard lock(mutex_);
    return failure_.has_value();
  }

  // Makes all waiting and later calls fail. False if the connection was broken before.
  bool Break(Error error) {
    const std::lock_guard lock(mutex_);
    if (failure_) return false;
    failure_ = std::move(error);
    socket_.Shutdown();
    answered_.notify_all();
    return true;
  }

  [[nodiscard]] Result<std::string> Exchange(std::int32_t call_id, std::string_view frame,
                                             std::string_view method, Timeout timeout) {
    const auto start = Clock::now();
    const auto deadline = start + timeout;
    {
      const std::lock_guard lock(mutex_);
      if (failure_) return std::unexpected(*failure_);
      pending_.emplace(call_id, std::nullopt);
    }
    Send(frame, deadline);
    std::unique_lock lock(mutex_);
    const auto done = [&] { return failure_.has_value() || pending_.at(call_id).has_value(); };
    const bool in_time = answered_.wait_until(lock, deadline, done);
    const auto entry = pending_.extract(call_id);
    if (entry.mapped()) return std::move(*entry.mapped());
    if (in_time) return std::unexpected(*failure_);
    const bool silent = last_received_ < start;
    lock.unlock();
    Error error{ErrorCode::kTimeout,
                fmt::format("{} did not answer {} within {} ms; is it overloaded or gone?", server_,
                            method, timeout.count())};
    if (silent) Break(Error{ErrorCode::kNetwork, error.message});
    return std::unexpected(std::move(error));
  }

 private:
  void Send(std::string_view frame, Clock::time_point deadline) {
    const std::lock_guard lock(write_mutex_);
    const auto left = std::chrono::ceil<Timeout>(deadline - Clock::now());
    // After any failure the frame may be sent in part, so that the connection cannot be used any
    // more.
    auto status = rpc_wire::WriteBytes(socket_, frame, std::max(left, Timeout(1)));
    if (!status) Break(Lost(status.error()));
  }

  Error Lost(const Error& cause) const {
    return Error{ErrorCode::kNetwork,
                 fmt::format("the RPC connection to {} was lost: {}", server_, cause.message)};
  }

  void ReadLoop() {
    for (;;) {
      auto status = ReadAnswer();
      if (!status) {
        if (Break(std::move(status).error()) && on_lost_) on_lost_();
        return;
      }
    }
  }

  [[nodiscard]] Status ReadAnswer() {
    for (;;) {
      auto ready = socket_.WaitReadable(kReaderWait);
      if (!ready) return std::unexpected(Lost(ready.error()));
      if (*ready) break;
    }
    auto frame = rpc_wire::ReadFrame(socket_, max_response_bytes_, kFrameTimeout);
    if (!frame) return std::unexpected(Lost(frame.error()));
    rpc_wire::Cursor cursor(*frame);
    RpcResponseHeaderProto header;
    if (auto status = cursor.Next(header, "an RPC response header"); !status) {
      return std::unexpected(Lost(status.error()));
    }
    if (header.status() == RpcResponseHeaderProto::FATAL) {
      return std::unexpected(FatalError(header, server_, authenticates_));
    }
    if (header.status() == RpcResponseHeaderProto::ERROR) {
      Deliver(header, std::unexpected(rpc_wire::ExceptionOf(header, server_)));
      return {};
    }
    const auto body = cursor.Next();
    if (!body) return std::unexpected(Lost(body.error()));
    Deliver(header, std::string(*body));
    return {};
  }

  // Drops an answer if its call has timed out.
  void Deliver(const RpcResponseHeaderProto& header, Result<std::string> answer) {
    const std::lock_guard lock(mutex_);
    last_received_ = Clock::now();
    const auto found = pending_.find(static_cast<std::int32_t>(header.callid()));
    if (found == pending_.end()) return;
    found->second.emplace(std::move(answer));
    answered_.notify_all();
  }

  Socket socket_;
  const std::string server_;
  const std::size_t max_response_bytes_;
  const bool authenticates_;
  const std::function<void()> on_lost_;
  std::mutex write_mutex_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::unordered_map<std::int32_t, std::optional<Result<std::string>>> pending_;
  std::optional<Error> failure_;
  Clock::time_point last_received_ = Clock::now();
  std::thread reader_;
};

RpcClient::RpcClient(std::string host, std::uint16_t port, std::string protocol,
                     std::uint64_t version, std::string user, Options options)
    : host_(std::move(host)),
      port_(port),
      protocol_(std::move(protocol)),
      version_(version),
      user_(user.empty() ? SystemUser() : std::move(user)),
      options_(std::move(options)),
      client_id_(options_.client_id.empty() ? rpc_wire::NewClientId() : options_.client_id) {}

RpcClient::~RpcClient() { Close(); }

void RpcClient::Close() {
  std::shared_ptr<Connection> connection;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    connection = std::move(connection_);
  }
  if (connection) connection->Break(Closed());
}

Error RpcClient::Closed() const {
  return Error{ErrorCode::kShutdown, fmt::format("the RPC client of {} is closed", server())};
}

std::string RpcClient::server() const { return fmt::format("{}:{}", host_, port_); }

Status RpcClient::Greet(Socket& socket) const {
  const Timeout timeout = options_.connect_timeout;
  if (!options_.authentication.authenticator) {
    const auto preamble = rpc_wire::Preamble();
    return rpc_wire::WriteBytes(
        socket, std::string(preamble.data(), preamble.size()) + ConnectionContextFrame(true),
        timeout);
  }
  const auto preamble = rpc_wire::Preamble(rpc_wire::kAuthSasl);
  EBB_TRY(rpc_wire::WriteBytes(socket, {preamble.data(), preamble.size()}, timeout));
  rpc_internal::SaslNegotiation negotiation(socket, options_.authentication, server(), client_id_,
                                            timeout);
  EBB_ASSIGN(const bool authenticated, negotiation.Run());
  return rpc_wire::WriteBytes(socket, ConnectionContextFrame(!authenticated), timeout);
}

std::string RpcClient::ConnectionContextFrame(bool with_user) const {
  hadoop::common::IpcConnectionContextProto context;
  // To a server that knows the user, another name would mean that the user acts for somebody else.
  if (with_user) context.mutable_userinfo()->set_effectiveuser(user_);
  context.set_protocol(protocol_);
  std::string frame = rpc_wire::BeginFrame();
  rpc_wire::AppendDelimited(
      frame, rpc_wire::RequestHeader(rpc_wire::kCallIdConnectionContext, client_id_));
  rpc_wire::AppendDelimited(frame, context);
  rpc_wire::EndFrame(frame);
  return frame;
}

std::string RpcClient::CallFrame(const RpcAttempt& attempt, std::string_view method,
                                 const google::protobuf::MessageLite& request) const {
  hadoop::common::RequestHeaderProto call;
  call.set_methodname(std::string(method));
  call.set_declaringclassprotocolname(protocol_);
  call.set_clientprotocolversion(version_);
  std::string frame = rpc_wire::BeginFrame();
  RpcRequestHeaderProto header = rpc_wire::RequestHeader(attempt.call_id, client_id_);
  header.set_retrycount(attempt.retry);
  options_.key.Sign(header, protocol_);
  rpc_wire::AppendDelimited(frame, header);
  rpc_wire::AppendDelimited(frame, call);
  rpc_wire::AppendDelimited(frame, request);
  rpc_wire::EndFrame(frame);
  return frame;
}

Result<std::shared_ptr<RpcClient::Connection>> RpcClient::Existing() {
  const std::lock_guard lock(mutex_);
  if (closed_) return std::unexpected(Closed());
  if (connection_ && connection_->broken()) connection_.reset();
  return connection_;
}

Result<std::shared_ptr<RpcClient::Connection>> RpcClient::Connected() {
  const std::lock_guard connecting(connecting_);
  EBB_ASSIGN(auto existing, Existing());
  if (existing) return existing;
  EBB_ASSIGN(Socket socket, Socket::Connect(host_, port_, options_.connect_timeout));
  EBB_TRY(Greet(socket));
  EBB_ASSIGN(auto made, Connection::Start(std::move(socket), server(), options_));
  const std::lock_guard lock(mutex_);
  if (closed_) return std::unexpected(Closed());
  connection_ = std::move(made);
  return connection_;
}

Status RpcClient::Call(std::string_view method, const google::protobuf::MessageLite& request,
                       google::protobuf::MessageLite& response) {
  return Call(method, request, response, options_.call_timeout);
}

Status RpcClient::Call(std::string_view method, const google::protobuf::MessageLite& request,
                       google::protobuf::MessageLite& response, Timeout timeout) {
  const auto call_id = static_cast<std::int32_t>(next_call_id_.fetch_add(1) & 0x7FFFFFFF);
  return Call(method, request, response, timeout, {.call_id = call_id});
}

Status RpcClient::Call(std::string_view method, const google::protobuf::MessageLite& request,
                       google::protobuf::MessageLite& response, Timeout timeout,
                       const RpcAttempt& attempt) {
  if (!request.IsInitialized()) {
    return Fail(ErrorCode::kInvalid, fmt::format("the request of {} lacks required fields: {}",
                                                 method, request.InitializationErrorString()));
  }
  const std::string frame = CallFrame(attempt, method, request);
  EBB_ASSIGN(const std::shared_ptr<Connection> connection, Connected());
  EBB_ASSIGN(const std::string body, connection->Exchange(attempt.call_id, frame, method, timeout));
  auto status =
      rpc_wire::Parse(response, body, fmt::format("the answer of {} to {}", server(), method));
  // A malformed answer is the peer's mistake: kInvalid would blame the caller.
  if (!status) status.error().code = ErrorCode::kNetwork;
  return status;
}

}  // namespace ebb
