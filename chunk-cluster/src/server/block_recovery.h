// Block recovery (HDFS: BlockRecoveryWorker), which ends lease recovery: the writer of a block is
// gone, and the servers that hold its replicas agree on a length. Or its file is truncated within
// the block, and all replicas are cut to the length that the namenode names.
#pragma once

#include "DatanodeProtocol.pb.h"
#include "common/error.h"
#include "disk/block_store.h"
#include "server/active_namenode.h"

namespace ebb::server {

// Leads the recovery as its primary. Asks all holders for their replicas, chooses the length, has
// every holder cut and finalize its replica, and tells the namenode that is
// followed by then. After an error the namenode starts another recovery.
[[nodiscard]] Status RecoverBlock(BlockStore& store, const ActiveNamenode& namenode,
                                  const hadoop::hdfs::RecoveringBlockProto& recovering);

}  // namespace ebb::server
