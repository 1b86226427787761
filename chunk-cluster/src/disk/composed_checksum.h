// The checksum of a whole block or of pieces of it, composed of the checksums of its chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/error.h"
#include "disk/block_store.h"

namespace ebb {

// CRC32C of the first length() bytes of the replica according to its meta file. The data are not
// read, so the result does not tell whether the data are intact. Empty if the checksums have
// another type, or if there are none. kCorrupt if the meta file ends early.
[[nodiscard]] Result<std::optional<std::uint32_t>> ComposeCrc32c(const ReplicaReader& replica);

// The same of each piece of `piece_bytes`; the last one may be shorter. Also empty if a piece does not
// end where a chunk ends.
[[nodiscard]] Result<std::optional<std::vector<std::uint32_t>>> ComposePieceCrc32cs(
    const ReplicaReader& replica, std::uint64_t piece_bytes);

}  // namespace ebb
