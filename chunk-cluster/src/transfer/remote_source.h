// Reading a block from a peer: the client side of OP_READ_BLOCK.
#pragma once

#include <cstdint>
#include <memory>

#include "common/block_stream.h"
#include "common/error.h"
#include "hdfs.pb.h"
#include "transfer/block_reader.h"

namespace ebb::transfer {

// Reads [offset, end) of the block, whose length is block.numBytes. Every packet is verified
// against the checksums that the peer sends. kNotFound if the peer refuses.
[[nodiscard]] Result<std::unique_ptr<BlockSource>> OpenRemoteSource(
    const hadoop::hdfs::DatanodeIDProto& peer, const hadoop::hdfs::ExtendedBlockProto& block,
    std::uint64_t offset, std::uint64_t end, const ReadHooks& hooks = {});

}  // namespace ebb::transfer
