// The sink for a target that exists already.
#pragma once

#include <memory>

#include "transfer/block_io.h"

namespace ebb {

// A sink that stores nothing. It compares the written bytes with a block that an earlier attempt of
// the same combine has finished. kInvalid at the first difference.
[[nodiscard]] std::unique_ptr<BlockSink> MakeComparingSink(std::unique_ptr<BlockSource> block);

}  // namespace ebb
