#include "combine/read_plan_client.h"

#include <utility>

namespace ebb {

namespace {
constexpr char kCodingProtocol[] = "io.ebbfs.protocol.CodingProtocol";
constexpr std::uint64_t kCodingProtocolVersion = 1;
constexpr char kBlockMissing[] = "org.apache.hadoop.hdfs.BlockMissingException";
}  // namespace

ReadPlanClient::ReadPlanClient(std::string host, std::uint16_t port, Timeout timeout,
                               ServiceKey key)
    : timeout_(timeout),
      client_(std::move(host), port, kCodingProtocol, kCodingProtocolVersion, {},
              {.key = std::move(key)}) {}

Result<ebbfs::GetReadPlanResponseProto> ReadPlanClient::GetReadPlan(
    const ebbfs::GetReadPlanRequestProto& request) {
  ebbfs::GetReadPlanResponseProto response;
  auto status = client_.Call("getReadPlan", request, response, timeout_);
  if (!status && status.error().code == ErrorCode::kNetwork) {
    // The namenode may have been restarted. The call changes nothing, so that it is safe to repeat.
    status = client_.Call("getReadPlan", request, response, timeout_);
  }
  if (status) return response;
  Error error = std::move(status).error();
  if (error.exception_class == kBlockMissing) error.code = ErrorCode::kNotFound;
  return std::unexpected(std::move(error));
}

}  // namespace ebb
