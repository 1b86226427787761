// Copying a replica of this server to other servers: replication that the namenode ordered, and the
// transfer that a client asks for during pipeline recovery. HDFS calls it DataTransfer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "disk/block_store.h"
#include "hdfs.pb.h"

namespace ebb::transfer {

struct CopyTargets {
  // This server sends to the first target, the first to the second, and so forth.
  std::vector<hadoop::hdfs::DatanodeInfoProto> servers;
  std::vector<std::string> storage_uuids;
  // This server. A target to which corrupt bytes come reports it by this. Empty if unknown.
  std::optional<hadoop::hdfs::DatanodeIDProto> source = {};
  // Of the storages; those that are missing are of type DISK.
  std::vector<hadoop::hdfs::StorageTypeProto> storage_types = {};
};

// With a client's name the copy is for pipeline recovery: it returns once the first target says
// that it has the block. Without a name no target answers, and the namenode hears of the copies
// from them.
[[nodiscard]] Status CopyReplica(const ReplicaReader& replica, const std::string& block_pool_id,
                                 const CopyTargets& targets, const std::string& client_name);

}  // namespace ebb::transfer
