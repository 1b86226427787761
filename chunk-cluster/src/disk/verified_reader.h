// Reading replicas of this server's disks with their checksums verified. Combines, degraded reads,
// verification by ChunkProtocol and the block scrub read through here. A stock client's read does
// not: the transfer server sends data and checksums as they are, and the client verifies them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/block_stream.h"
#include "common/error.h"
#include "disk/block_store.h"

namespace ebb {

// Fills `out` with the bytes of the replica from `offset` on. `offset` begins a chunk, and the
// range ends a chunk or the replica. kCorrupt, with the position, if a chunk contradicts its
// checksum. `sums` is scratch memory. Reports nothing to the store.
[[nodiscard]] Status ReadVerified(const ReplicaReader& replica, std::uint64_t offset,
                                  std::span<std::byte> out, std::vector<std::byte>& sums);

// Tells the store of a replica that could not be read, if `error` says that it is corrupt or
// unreadable. `error` becomes kCannotTell if nothing is known of the replica: the whole disk has
// failed, or somebody has cut or replaced the replica since it was opened.
void ReportBad(BlockStore& store, const ReplicaReader& replica, Error& error);

// Reads a finalized replica of this server from `offset` to its end, in pieces of any length, and
// verifies every chunk. The store hears of a corrupt or unreadable replica, as by ReportBad.
// `length` is the length that the block should have: kCorrupt if the replica has another length.
// The store outlives the source.
[[nodiscard]] Result<std::unique_ptr<BlockSource>> OpenVerifiedReader(
    BlockStore& store, std::uint64_t block_id, std::uint64_t generation_stamp, std::uint64_t length,
    std::uint64_t offset);

}  // namespace ebb
