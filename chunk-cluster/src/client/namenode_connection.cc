#include "client/namenode_connection.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "rpc/wire.h"

namespace ebb::client {

namespace {

constexpr char kClientProtocol[] = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
constexpr char kRetriable[] = "org.apache.hadoop.ipc.RetriableException";
constexpr int kMostDoublings = 20;

}  // namespace

std::string CurrentUser() {
  if (const char* name = std::getenv("HADOOP_USER_NAME"); name != nullptr && *name != '\0') {
    return name;
  }
  passwd entry = {};
  passwd* found = nullptr;
  char buffer[4096];
  getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found);
  return found != nullptr ? entry.pw_name : std::to_string(geteuid());
}

Result<RetryPolicy> RetryPolicyOf(const Configuration& configuration, std::size_t namenodes) {
  RetryPolicy policy;
  const bool several = namenodes > 1;
  EBB_ASSIGN(const auto retries, several
                                     ? configuration.Number("dfs.client.failover.max.attempts", 15)
                                     : configuration.Number("ipc.client.connect.max.retries", 10));
  EBB_ASSIGN(const auto base,
             several ? configuration.Number("dfs.client.failover.sleep.base.millis", 500)
                     : configuration.Number("ipc.client.connect.retry.interval", 1000));
  EBB_ASSIGN(const auto most,
             several ? configuration.Number("dfs.client.failover.sleep.max.millis", 15'000)
                     : configuration.Number("ipc.client.connect.retry.interval", 1000));
  EBB_ASSIGN(const auto call, configuration.Number("ipc.client.rpc-timeout.ms", 120'000));
  EBB_ASSIGN(const auto connect, configuration.Number("ipc.client.connect.timeout", 20'000, 1));
  policy.most_retries = static_cast<int>(std::min<std::int64_t>(retries, 1'000'000));
  policy.base = Timeout(base);
  policy.most = Timeout(most);
  if (call > 0) policy.call = Timeout(call);
  policy.connect = Timeout(connect);
  EBB_ASSIGN(const auto deadline, configuration.Number("ebbfs.client.call.deadline.ms", 0));
  policy.deadline = Timeout(deadline);
  return policy;
}

NamenodeConnection::NamenodeConnection(const std::vector<RpcAddress>& namenodes,
                                       const RetryPolicy& policy, std::string user,
                                       const Authentication& authentication)
    : policy_(policy), user_(std::move(user)) {
  const std::string client_id = rpc_wire::NewClientId();
  for (const auto& address : namenodes) {
    clients_.push_back(std::make_unique<RpcClient>(
        address.host, address.port, kClientProtocol, 1, user_,
        RpcClientOptions{.connect_timeout = policy.connect,
                         .authentication = authentication,
                         .client_id = client_id}));
  }
}

NamenodeConnection::Next NamenodeConnection::After(const Error& error) {
  if (IsStandby(error)) return Next::kOther;
  if (error.exception_class == kRetriable) return Next::kSame;
  // kBusy: this process could make no connection.
  const bool unanswered = error.code == ErrorCode::kNetwork || error.code == ErrorCode::kTimeout ||
                          error.code == ErrorCode::kBusy;
  return unanswered ? Next::kOther : Next::kStop;
}

Status NamenodeConnection::Call(std::string_view method,
                                const google::protobuf::MessageLite& request,
                                google::protobuf::MessageLite& response) {
  const auto started = std::chrono::steady_clock::now();
  const auto left = [&] {
    if (policy_.deadline == Timeout(0)) return Timeout::max();
    const auto spent = std::chrono::steady_clock::now() - started;
    return policy_.deadline - std::chrono::duration_cast<Timeout>(spent);
  };
  RpcAttempt attempt{.call_id = static_cast<std::int32_t>(next_call_id_++ & 0x7FFFFFFF)};
  for (;; ++attempt.retry) {
    std::size_t at = current_;
    auto status =
        clients_[at]->Call(method, request, response, std::min(policy_.call, left()), attempt);
    if (status) return status;
    const Next next = After(status.error());
    if (next == Next::kStop) return status;
    if (attempt.retry >= policy_.most_retries || left() <= policy_.base) {
      status.error().message =
          fmt::format("{} (after {} attempts at {} namenodes)", status.error().message,
                      attempt.retry + 1, clients_.size());
      return status;
    }
    // Another thread may have gone on to the next namenode already.
    if (next == Next::kOther) current_.compare_exchange_strong(at, (at + 1) % clients_.size());
    if (!Wait(attempt.retry, next)) return status;
  }
}

bool NamenodeConnection::Wait(int retries, Next next) {
  Timeout wait(0);
  if (retries > 0 || next == Next::kSame || clients_.size() == 1) {
    wait = std::min(policy_.base * (1L << std::min(retries, kMostDoublings)), policy_.most);
  }
  std::unique_lock lock(mutex_);
  return !closing_.wait_for(lock, wait, [&] { return closed_; });
}

void NamenodeConnection::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  closing_.notify_all();
  for (const auto& client : clients_) client->Close();
}

}  // namespace ebb::client
