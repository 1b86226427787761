// The version of HDFS whose protocols a chunk server speaks.
#pragma once

namespace ebb::server {

// Told to the namenode at each registration, and to `hdfs dfsadmin -getDatanodeInfo`. HDFS compares
// this version: its namenode refuses a server that is older than
// dfs.namenode.min.supported.datanode.version, and logs one that differs from its own. So the version
// is that of HDFS, as the namenode of EbbFS also tells it, and not that of EbbFS.
inline constexpr char kSoftwareVersion[] = "3.5.0";

}  // namespace ebb::server
