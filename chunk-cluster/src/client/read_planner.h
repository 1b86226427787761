// Asks the namenodes how to decode a block.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "client/configuration.h"
#include "combine/read_plan_client.h"
#include "rpc/address.h"

namespace ebb::client {

// One of a file system. A namenode that does not know the call, or that does not answer it to this
// client, is not asked again. Thread-safe.
class ReadPlanner final : public ReadPlanSource {
 public:
  // `key` may be absent. Namenodes then answer only if they have none either, and run on this
  // machine.
  ReadPlanner(const std::vector<RpcAddress>& namenodes, const ServiceKey& key,
              const std::string& user);

  // kUnsupported if a namenode has refused; else see ReadPlanClient.
  [[nodiscard]] Result<ebbfs::GetReadPlanResponseProto> GetReadPlan(
      const ebbfs::GetReadPlanRequestProto& request) override;
  [[nodiscard]] bool refused() const { return refused_; }

 private:
  ReadPlanClient client_;
  std::atomic<bool> refused_ = false;
};

// The key in the file that ebbfs.client.service.key names. None if there is no such setting, or if
// this user cannot read the file: the reads go to proxies then.
[[nodiscard]] ServiceKey ServiceKeyOf(const Configuration& configuration);

}  // namespace ebb::client
