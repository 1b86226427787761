// How a degraded read gets its plan: it asks the namenode, which makes the plan (in Java).
#pragma once

#include <string>

#include "coding.pb.h"
#include "common/error.h"
#include "rpc/client.h"

namespace ebb {

// The seam for tests. Thread-safe.
class ReadPlanSource {
 public:
  virtual ~ReadPlanSource() = default;
  // The blocks to read, and their coefficients. kNotFound if the block is unknown, or if it cannot
  // be decoded without the excluded servers and blocks.
  [[nodiscard]] virtual Result<ebbfs::GetReadPlanResponseProto> GetReadPlan(
      const ebbfs::GetReadPlanRequestProto& request) = 0;
};

// Asks the namenode: CodingProtocol.getReadPlan.
class ReadPlanClient final : public ReadPlanSource {
 public:
  // `key` proves to the namenode that this server belongs to the cluster.
  ReadPlanClient(std::string host, std::uint16_t port, Timeout timeout, ServiceKey key = {});

  [[nodiscard]] Result<ebbfs::GetReadPlanResponseProto> GetReadPlan(
      const ebbfs::GetReadPlanRequestProto& request) override;

 private:
  const Timeout timeout_;
  RpcClient client_;
};

}  // namespace ebb
