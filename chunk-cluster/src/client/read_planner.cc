#include "client/read_planner.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ebb::client {

namespace {

constexpr Timeout kPlanTimeout = std::chrono::seconds(5);
// What namenodes without the call, HDFS's ones, and those that answer it to services only say. The
// last class also means that the user may not read the file, which has been opened, however.
constexpr std::array<std::string_view, 3> kRefusals = {
    "org.apache.hadoop.ipc.RpcNoSuchProtocolException",
    "org.apache.hadoop.ipc.RpcNoSuchMethodException",
    "org.apache.hadoop.security.AccessControlException"};

}  // namespace

ReadPlanner::ReadPlanner(const std::vector<RpcAddress>& namenodes, const std::string& user,
                         const Authentication& authentication)
    : client_(namenodes, kPlanTimeout, {}, user, authentication) {}

Result<ebbfs::GetReadPlanResponseProto> ReadPlanner::GetReadPlan(
    const ebbfs::GetReadPlanRequestProto& request) {
  if (refused_) return Fail(ErrorCode::kUnsupported, "the namenode refuses read plans");
  auto plan = client_.GetReadPlan(request);
  if (!plan && std::ranges::find(kRefusals, plan.error().exception_class) != kRefusals.end()) {
    refused_ = true;
    plan.error().code = ErrorCode::kUnsupported;
  }
  return plan;
}

}  // namespace ebb::client
