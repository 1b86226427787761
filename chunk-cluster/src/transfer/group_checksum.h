// The checksum of a block group, the blocks that a client has encoded together: the server side of
// OP_BLOCK_GROUP_CHECKSUM. docs/protocols.md, "Block groups", describes it.
#pragma once

#include "common/error.h"
#include "datatransfer.pb.h"
#include "disk/block_store.h"
#include "transfer/missing_block_reader.h"

namespace ebb::transfer {

// The checksum of the first op.requestedNumBytes bytes of data of the group, of one of two kinds:
// the MD5 of the MD5s of its data blocks, or the CRC of the data. The checksum of a block comes
// from this server, or from the server that the request names for it. A block of which no server
// answers is decoded through `missing`, which may be null. kInvalid for a request that makes no
// sense.
[[nodiscard]] Result<hadoop::hdfs::OpBlockChecksumResponseProto> ChecksumOfGroup(
    BlockStore& store, MissingBlockReader* missing,
    const hadoop::hdfs::OpBlockGroupChecksumProto& op);

}  // namespace ebb::transfer
