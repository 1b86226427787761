// InterDatanodeProtocol, the HDFS protocol of block recovery. The primary of a recovery
// (block_recovery.h) calls it at every server that holds a replica.
#pragma once

#include "disk/block_store.h"
#include "rpc/server.h"

namespace ebb::server {

inline constexpr char kInterDatanodeProtocol[] =
    "org.apache.hadoop.hdfs.server.protocol.InterDatanodeProtocol";

// `store` outlives the server.
void RegisterInterDatanodeProtocol(RpcServer& server, BlockStore& store);

}  // namespace ebb::server
