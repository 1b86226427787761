// The recovery of a block group whose writer is gone (HDFS: RecoveryTaskStriped).
#pragma once

#include "DatanodeProtocol.pb.h"
#include "common/error.h"
#include "disk/block_store.h"
#include "server/active_namenode.h"

namespace ebb::server {

// Leads the recovery as its primary. Asks the holders for the lengths of their blocks, has the
// blocks cut to whole rows of cells that can be read, and tells the namenode how many bytes of data
// that are. A group with no such row is given up, unless holders that did not answer may have the
// blocks that are missing. After an error the namenode starts another recovery.
[[nodiscard]] Status RecoverGroup(BlockStore& store, const ActiveNamenode& namenode,
                                  const hadoop::hdfs::RecoveringBlockProto& recovering);

}  // namespace ebb::server
