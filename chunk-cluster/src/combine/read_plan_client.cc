#include "combine/read_plan_client.h"

#include <chrono>
#include <thread>
#include <utility>

namespace ebb {

namespace {
constexpr char kCodingProtocol[] = "io.ebbfs.protocol.CodingProtocol";
constexpr std::uint64_t kCodingProtocolVersion = 1;
// Of several namenodes, each call may take this part of the time.
constexpr int kAttempts = 4;
constexpr std::chrono::milliseconds kRoundPause{200};
constexpr char kBlockMissing[] = "org.apache.hadoop.hdfs.BlockMissingException";
}  // namespace

ReadPlanClient::ReadPlanClient(const std::vector<RpcAddress>& namenodes, Timeout timeout,
                               ServiceKey key, const std::string& user,
                               const Authentication& authentication)
    : timeout_(timeout) {
  const bool several = namenodes.size() > 1;
  for (const auto& namenode : namenodes) {
    RpcClientOptions options;
    options.key = key;
    options.authentication = authentication;
    options.call_timeout = several ? timeout / kAttempts : timeout;
    if (several) options.connect_timeout = options.call_timeout;
    namenodes_.push_back(std::make_unique<RpcClient>(namenode.host, namenode.port, kCodingProtocol,
                                                     kCodingProtocolVersion, user, options));
  }
}

bool ReadPlanClient::Answered(const Status& status) {
  return status || (status.error().code == ErrorCode::kRemote && !IsStandby(status.error()));
}

// The call changes nothing, so that it is safe to repeat.
Status ReadPlanClient::AskAll(const ebbfs::GetReadPlanRequestProto& request,
                              ebbfs::GetReadPlanResponseProto& response) {
  const auto deadline = std::chrono::steady_clock::now() + timeout_;
  for (;;) {
    const std::size_t first = preferred_;
    Status status;
    for (std::size_t i = 0; i < namenodes_.size(); ++i) {
      const std::size_t at = (first + i) % namenodes_.size();
      status = namenodes_[at]->Call("getReadPlan", request, response);
      if (Answered(status)) {
        preferred_ = at;
        return status;
      }
    }
    if (std::chrono::steady_clock::now() + kRoundPause >= deadline) return status;
    std::this_thread::sleep_for(kRoundPause);
  }
}

Result<ebbfs::GetReadPlanResponseProto> ReadPlanClient::GetReadPlan(
    const ebbfs::GetReadPlanRequestProto& request) {
  ebbfs::GetReadPlanResponseProto response;
  Status status;
  if (namenodes_.size() > 1) {
    status = AskAll(request, response);
  } else {
    status = namenodes_.front()->Call("getReadPlan", request, response);
    if (!status && status.error().code == ErrorCode::kNetwork) {
      // The namenode may have been restarted.
      status = namenodes_.front()->Call("getReadPlan", request, response);
    }
  }
  if (status) return response;
  Error error = std::move(status).error();
  if (error.exception_class == kBlockMissing) error.code = ErrorCode::kNotFound;
  return std::unexpected(std::move(error));
}

}  // namespace ebb
