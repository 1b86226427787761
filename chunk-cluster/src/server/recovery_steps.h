// The two steps of a block recovery at each holder of a replica, be it this server or another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "DatanodeProtocol.pb.h"
#include "common/error.h"
#include "disk/block_store.h"

namespace ebb::server {

// A replica that may take part, and its holder.
struct Candidate {
  hadoop::hdfs::DatanodeIDProto server;
  ReplicaInfo replica;
};

// Takes a step at each of `count` holders at the same time, so that several silent ones cost no
// more time than one. Returns the results in the order of the holders.
template <typename Step>
[[nodiscard]] auto AtTheSameTime(std::size_t count, const Step& step) {
  std::vector<std::future<decltype(step(count))>> running;
  // A step for which the process has no thread runs when its result is asked for.
  constexpr auto kPolicy = std::launch::async | std::launch::deferred;
  for (std::size_t i = 0; i < count; ++i) {
    running.push_back(std::async(kPolicy, [&step, i] { return step(i); }));
  }
  std::vector<decltype(step(count))> results;
  for (auto& result : running) results.push_back(result.get());
  return results;
}

// True if the holder may have a replica, but has not scanned its disks yet, or could not be asked
// because this server lacks threads or descriptors. A later attempt may reach the holder.
[[nodiscard]] bool IsNotReady(const Error& error);

// First step: stops the writer at the holder and describes its replica. Empty if it has no such
// replica.
[[nodiscard]] Result<std::optional<ReplicaInfo>> InitReplicaRecovery(
    BlockStore& store, const hadoop::hdfs::DatanodeIDProto& holder,
    const hadoop::hdfs::RecoveringBlockProto& recovering);

// Second step: the holder cuts its replica to `length` and finalizes it. Returns the replica's
// storage.
[[nodiscard]] Result<std::string> UpdateReplica(BlockStore& store, const Candidate& candidate,
                                                const hadoop::hdfs::ExtendedBlockProto& block,
                                                std::uint64_t recovery_id, std::uint64_t length);

}  // namespace ebb::server
