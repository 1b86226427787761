// Writing the output of a combine to a peer: the client side of OP_WRITE_BLOCK, without a pipeline.
#pragma once

#include <memory>
#include <string>

#include "common/block_stream.h"
#include "common/error.h"
#include "hdfs.pb.h"

namespace ebb::transfer {

// Writes a new block to the named storage of the peer.
[[nodiscard]] Result<std::unique_ptr<BlockSink>> OpenRemoteSink(
    const hadoop::hdfs::DatanodeIDProto& peer, const hadoop::hdfs::ExtendedBlockProto& block,
    const std::string& storage_uuid);

}  // namespace ebb::transfer
