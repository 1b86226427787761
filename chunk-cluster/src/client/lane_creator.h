// Creates a lane.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "append.pb.h"
#include "client/append_options.h"
#include "client/lane_connection.h"
#include "client/lane_files.h"
#include "client/lane_name.h"
#include "client/pending_batches.h"
#include "common/error.h"
#include "hdfs.pb.h"
#include "transfer/ledger_entry.h"

namespace ebb::client {

// A lane that a writer has joined.
struct JoinedLane {
  LaneName name;
  ebbfs::LaneProto lane;
  std::unique_ptr<LaneConnection> connection;
  // Whether this writer has created the lane, and so has to seal the older lanes of its slot.
  bool created = false;
};

// Creates a lane: its two files, a block of each, and the pipelines of both. Others learn of the
// lane only when all servers have it, so that whoever seals the lane finds replicas that stop the
// leader. One thread at a time.
class LaneCreator {
 public:
  // Nothing if another writer creates the lane, or has given it up.
  using Created = Result<std::optional<JoinedLane>>;

  // `files` outlives the creator.
  LaneCreator(const LaneFiles& files, const AppendOptions& options)
      : files_(files), idle_millis_(options.idle_millis), age_millis_(options.age_millis) {}

  // Creates the first lane of a slot that has no ledger. Its name is not the only one that writers
  // may choose, so that two writers may do this at once: the older ledger stays then.
  [[nodiscard]] Created CreateFirst(const LaneName& name, const transfer::WriterId& writer,
                                    PendingBatches& batches);
  [[nodiscard]] Created Create(const LaneName& name, const transfer::WriterId& writer,
                               PendingBatches& batches);

 private:
  using Clock = std::chrono::steady_clock;
  using Server = hadoop::hdfs::DatanodeInfoProto;

  [[nodiscard]] Created CreateBlock(const LaneName& name, const transfer::WriterId& writer,
                                    PendingBatches& batches);
  [[nodiscard]] Created OpenAndTell(const LaneName& name, const transfer::WriterId& writer,
                                    PendingBatches& batches);
  // The block goes only if nobody can know the lane.
  [[nodiscard]] Status GiveUp(const LaneName& name) const;
  [[nodiscard]] Result<JoinedLane> Open(const LaneName& name, const transfer::WriterId& writer,
                                        PendingBatches& batches);
  [[nodiscard]] Result<hadoop::hdfs::LocatedBlockProto> AddBlockTo(const std::string& path);
  // Excludes the servers that the refusal names, or else the leader.
  void ExcludeAfter(const LaneRefusal& refusal, const hadoop::hdfs::LocatedBlockProto& block,
                    const hadoop::hdfs::LocatedBlockProto& ledger);
  void Exclude(const Server& server);

  const LaneFiles& files_;
  const std::uint32_t idle_millis_;
  const std::uint32_t age_millis_;
  // Servers that could not be used, and how long they are not asked for.
  std::vector<std::pair<Server, Clock::time_point>> excluded_;
};

}  // namespace ebb::client
