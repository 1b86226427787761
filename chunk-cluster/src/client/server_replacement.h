// Gives a block that is being written another server in place of one that failed.
#pragma once

#include <cstdint>
#include <expected>

#include "client/configuration.h"
#include "client/write_pipeline.h"
#include "common/error.h"
#include "hdfs.pb.h"

namespace ebb::client {

// When a block gets another server. The rules and the keys are those of HDFS's client.
struct ReplacementPolicy {
  enum class Rule : std::uint8_t { kNever, kDefault, kAlways };
  Rule rule = Rule::kDefault;
  // If no server can be added, the write goes on with the servers that are left. Otherwise it
  // fails.
  bool best_effort = false;

  // Whether a block that should have `replication` replicas, and that has `live` servers, gets
  // another one. `visible`: readers may know bytes of the block, since it was opened for appending
  // or flushed.
  [[nodiscard]] bool Wants(int replication, int live, bool visible) const;
};

// dfs.client.block.write.replace-datanode-on-failure.enable, .policy and .best-effort. kInvalid
// names a policy that is unknown.
[[nodiscard]] Result<ReplacementPolicy> ReplacementPolicyOf(const Configuration& configuration);

struct CopyFailure {
  Error error;
  // The source could not be reached, or ended the connection without an answer: the new server may
  // be well. Otherwise either of the two may be at fault.
  bool by_source = false;
};

// Has server `source` of the target copy its replica to server `added` of `offer`, which becomes a
// server of the pipeline. `offer` is what getAdditionalDatanode answered. Returns when the new
// server has the bytes. After an error the target is as before.
[[nodiscard]] std::expected<void, CopyFailure> CopyToNewServer(
    PipelineTarget& target, int source, const hadoop::hdfs::LocatedBlockProto& offer, int added);

}  // namespace ebb::client
