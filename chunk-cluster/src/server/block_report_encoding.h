// The encoding of full block reports in HDFS 3 (BlockListAsLongs with buffers).
#pragma once

#include <cstdint>
#include <vector>

#include "DatanodeProtocol.pb.h"
#include "disk/replica.h"

namespace ebb::server {

// Adds the replicas to the report of one storage.
void EncodeBlockReport(const std::vector<ReplicaInfo>& replicas,
                       hadoop::hdfs::datanode::StorageBlockReportProto& report);

}  // namespace ebb::server
