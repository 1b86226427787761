// Begins to read a block at one server.
#pragma once

#include <cstdint>
#include <memory>

#include "common/error.h"
#include "hdfs.pb.h"
#include "transfer/block_reader.h"
#include "transfer/wire.h"

namespace ebb::client {

// Reads the bytes of the block from `begin` to `end`.
[[nodiscard]] Result<std::unique_ptr<transfer::BlockReader>> OpenBlock(
    const hadoop::hdfs::LocatedBlockProto& block, const hadoop::hdfs::DatanodeIDProto& server,
    std::uint64_t begin, std::uint64_t end, const transfer::ReadHooks& hooks = {});

}  // namespace ebb::client
