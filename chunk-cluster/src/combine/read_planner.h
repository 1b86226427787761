// Where a degraded read learns what to read.
#pragma once

#include <string>

#include "coding.pb.h"
#include "common/error.h"
#include "rpc/client.h"

namespace ebb {

// Thread-safe.
class ReadPlanner {
 public:
  virtual ~ReadPlanner() = default;
  // How to make the block out of others. kNotFound if nobody knows the block, or if what is left and
  // not excluded does not determine it.
  [[nodiscard]] virtual Result<ebbfs::GetReadPlanResponseProto> GetReadPlan(
      const ebbfs::GetReadPlanRequestProto& request) = 0;
};

// Asks the namenode: CodingProtocol.getReadPlan.
class NamenodeReadPlanner final : public ReadPlanner {
 public:
  NamenodeReadPlanner(std::string host, std::uint16_t port, Timeout timeout);

  [[nodiscard]] Result<ebbfs::GetReadPlanResponseProto> GetReadPlan(
      const ebbfs::GetReadPlanRequestProto& request) override;

 private:
  const Timeout timeout_;
  RpcClient client_;
};

}  // namespace ebb
