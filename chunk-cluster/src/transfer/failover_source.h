// Reads a block from one of its locations, and from the next one after a failure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "chunk.pb.h"
#include "common/block_stream.h"
#include "common/error.h"
#include "transfer/peer_listener.h"

namespace ebb::transfer {

// Opens the bytes [offset, end) of the block at one of its locations.
using OpenAtLocation = std::function<Result<std::unique_ptr<BlockSource>>(
    const ebbfs::BlockLocationProto& location, std::uint64_t offset, std::uint64_t end)>;

// The locations are tried in their order. If a location fails in the middle, the source continues
// at the next location. `listener`, which may be null, hears of corrupt replicas of peers; it
// outlives the source, and so does what `open` uses.
[[nodiscard]] Result<std::unique_ptr<BlockSource>> OpenFailoverSource(ebbfs::SourceProto source,
                                                                      std::uint64_t offset,
                                                                      std::uint64_t end,
                                                                      OpenAtLocation open,
                                                                      PeerListener* listener);

}  // namespace ebb::transfer
