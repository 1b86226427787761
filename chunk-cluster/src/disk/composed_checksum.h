// The checksum of a whole block out of its checksum file.
#pragma once

#include <cstdint>
#include <optional>

#include "common/error.h"
#include "disk/block_store.h"

namespace ebb {

// CRC32C of the first length() bytes of the replica, as its checksum file has them: no data is
// read, so nothing is said about the data. Nothing if the checksums are of another type, or there
// are none. kCorrupt if the checksum file ends early.
[[nodiscard]] Result<std::optional<std::uint32_t>> ComposeCrc32c(const ReplicaReader& replica);

}  // namespace ebb
