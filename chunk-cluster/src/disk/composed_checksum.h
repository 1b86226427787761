// The checksum of a whole block, composed of the checksums of its chunks.
#pragma once

#include <cstdint>
#include <optional>

#include "common/error.h"
#include "disk/block_store.h"

namespace ebb {

// CRC32C of the first length() bytes of the replica according to its meta file. The data are not
// read, so the result does not tell whether the data are intact. Empty if the checksums have
// another type, or if there are none. kCorrupt if the meta file ends early.
[[nodiscard]] Result<std::optional<std::uint32_t>> ComposeCrc32c(const ReplicaReader& replica);

}  // namespace ebb
