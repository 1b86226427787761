// ClientProtocol at the namenode that serves, or at the one of several that does.
#pragma once

#include <google/protobuf/message_lite.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "client/configuration.h"
#include "common/error.h"
#include "rpc/authenticator.h"
#include "rpc/client.h"

namespace ebb::client {

// How often a call is repeated, and how long the client waits in between. The waits double from
// `base` up to `most`; the first change to another namenode comes without a wait.
struct RetryPolicy {
  int most_retries = 10;
  Timeout base = std::chrono::seconds(1);
  Timeout most = std::chrono::seconds(1);
  Timeout call = std::chrono::seconds(120);
  Timeout connect = std::chrono::seconds(20);
  // The longest time of a call with all its repetitions; 0 for no bound. A connection that is being
  // made when the time ends may add the time-out of a connection.
  Timeout deadline = Timeout(0);
};

// The policy of a configuration: dfs.client.failover.* for several namenodes, else
// ipc.client.connect.*; the deadline is ebbfs.client.call.deadline.ms.
[[nodiscard]] Result<RetryPolicy> RetryPolicyOf(const Configuration& configuration,
                                                std::size_t namenodes);

// The user that calls are made for: HADOOP_USER_NAME, or else the user of the process.
[[nodiscard]] std::string CurrentUser();

// Thread-safe. A call that got no answer is repeated with the same name, so that it takes effect
// once; an answer of a namenode in standby sends it to the next one.
class NamenodeConnection {
 public:
  NamenodeConnection(const std::vector<RpcAddress>& namenodes, const RetryPolicy& policy,
                     std::string user, const Authentication& authentication = {});
  NamenodeConnection(const NamenodeConnection&) = delete;
  NamenodeConnection& operator=(const NamenodeConnection&) = delete;
  ~NamenodeConnection() { Close(); }

  // kRemote if a namenode has executed the call and refused; else the error of the last attempt.
  [[nodiscard]] Status Call(std::string_view method, const google::protobuf::MessageLite& request,
                            google::protobuf::MessageLite& response);
  template <typename Response>
  [[nodiscard]] Result<Response> Ask(std::string_view method,
                                     const google::protobuf::MessageLite& request) {
    Response response;
    EBB_TRY(Call(method, request, response));
    return response;
  }

  // Running calls and later calls fail with kShutdown.
  void Close();

  [[nodiscard]] const std::string& user() const { return user_; }

 private:
  enum class Next { kStop, kSame, kOther };
  [[nodiscard]] static Next After(const Error& error);
  // False if the connection is closed meanwhile.
  [[nodiscard]] bool Wait(int retries, Next next);

  const RetryPolicy policy_;
  const std::string user_;
  std::vector<std::unique_ptr<RpcClient>> clients_;
  std::atomic<std::size_t> current_ = 0;
  std::atomic<std::uint32_t> next_call_id_ = 0;
  std::mutex mutex_;
  std::condition_variable closing_;
  bool closed_ = false;
};

}  // namespace ebb::client
