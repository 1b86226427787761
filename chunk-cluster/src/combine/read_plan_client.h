// How a degraded read gets its plan: it asks the namenode, which makes the plan (in Java).
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "coding.pb.h"
#include "common/error.h"
#include "rpc/address.h"
#include "rpc/authenticator.h"
#include "rpc/client.h"
#include "rpc/service_key.h"

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

// Asks the namenode: CodingProtocol.getReadPlan. Of several namenodes it asks the one that answered
// last, and then the others. Thread-safe.
class ReadPlanClient final : public ReadPlanSource {
 public:
  // `namenodes` has at least one. `timeout` is how long the client goes on asking several
  // namenodes, or the time-out of each of two calls of one alone. `key` proves to the namenode that
  // the caller belongs to the cluster. An empty user stands for that of the process.
  ReadPlanClient(const std::vector<RpcAddress>& namenodes, Timeout timeout, ServiceKey key = {},
                 const std::string& user = {}, const Authentication& authentication = {});

  [[nodiscard]] Result<ebbfs::GetReadPlanResponseProto> GetReadPlan(
      const ebbfs::GetReadPlanRequestProto& request) override;

 private:
  // Whether the namenode gave the answer of the namenodes, be it an error.
  [[nodiscard]] static bool Answered(const Status& status);
  [[nodiscard]] Status AskAll(const ebbfs::GetReadPlanRequestProto& request,
                              ebbfs::GetReadPlanResponseProto& response);

  const Timeout timeout_;
  std::vector<std::unique_ptr<RpcClient>> namenodes_;
  // The index of the namenode that answered last.
  std::atomic<std::size_t> preferred_ = 0;
};

}  // namespace ebb
