// Block recovery as HDFS does it: the replicas of a block whose writer is gone agree on a length.
#pragma once

#include "DatanodeProtocol.pb.h"
#include "common/error.h"
#include "disk/block_store.h"
#include "server/namenode_client.h"

namespace ebb::server {

// This server leads the recovery: it asks every holder what it has, makes them agree, and tells the
// namenode. An error leaves it to the namenode to begin another one.
[[nodiscard]] Status RecoverBlock(BlockStore& store, NamenodeClient& namenode,
                                  const hadoop::hdfs::RecoveringBlockProto& recovering);

}  // namespace ebb::server
