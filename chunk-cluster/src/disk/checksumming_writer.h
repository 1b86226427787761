// Writing the output of a combine to a disk of this server. The checksums are computed here.
#pragma once

#include <memory>

#include "common/block_stream.h"
#include "disk/block_store.h"

namespace ebb {

// A sink over a new writer. Finish() returns once the replica is durable.
[[nodiscard]] std::unique_ptr<BlockSink> MakeChecksummingWriter(
    std::unique_ptr<ReplicaWriter> writer);

}  // namespace ebb
