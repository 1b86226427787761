// What stands in for a target that is there already.
#pragma once

#include <memory>

#include "combine/block_io.h"

namespace ebb {

// A sink that writes nothing: it compares what is written with the bytes of a block that an earlier
// attempt of the same combine has finished. kInvalid at the first difference.
[[nodiscard]] std::unique_ptr<BlockSink> MakeExistingBlockSink(std::unique_ptr<BlockSource> block);

}  // namespace ebb
