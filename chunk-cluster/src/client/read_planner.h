// Asks the namenodes how to decode a block.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "combine/read_plan_client.h"
#include "rpc/address.h"

namespace ebb::client {

// One of a file system. A namenode that does not know the call, or that does not answer it to this
// client, is not asked again. Thread-safe.
class ReadPlanner final : public ReadPlanSource {
 public:
  ReadPlanner(const std::vector<RpcAddress>& namenodes, const std::string& user,
              const Authentication& authentication = {});

  // kUnsupported if a namenode has refused; else see ReadPlanClient.
  [[nodiscard]] Result<ebbfs::GetReadPlanResponseProto> GetReadPlan(
      const ebbfs::GetReadPlanRequestProto& request) override;
  [[nodiscard]] bool refused() const { return refused_; }

 private:
  ReadPlanClient client_;
  std::atomic<bool> refused_ = false;
};

}  // namespace ebb::client
