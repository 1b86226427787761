// The check of a combine request, and the work that remains of it: sources with a non-zero
// coefficient, slice length and memory. Pure. (The control plane in Java plans what to combine.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "chunk.pb.h"
#include "combine/output_check.h"
#include "common/error.h"
#include "gf/linear_map.h"

namespace ebb {

struct CombineLimits {
  std::size_t max_sources = 255;
  std::size_t max_targets = 64;
  std::size_t default_slice_bytes = std::size_t{128} << 10;
  std::size_t min_slice_bytes = std::size_t{4} << 10;
  std::size_t max_slice_bytes = std::size_t{1} << 20;
  // Buffers of one combine. Slices become shorter to stay below this limit.
  std::size_t max_combine_bytes = std::size_t{24} << 20;
  // No HDFS block is longer.
  std::uint64_t max_block_bytes = std::uint64_t{1} << 40;
  // The kernel that multiplies. It is no limit, but it is configured at the same place.
  gf::Backend backend = gf::DefaultBackend();
};

struct CheckedCombine {
  // The sources with a non-zero coefficient, as indices into the request. Only these are read.
  std::vector<std::size_t> used;
  // Computes all targets from the used sources.
  gf::LinearMap map;
  // Checks the outputs before they are written, if the request asks for it. All sources are used.
  std::optional<OutputCheck> check;
  // The length of the longest target.
  std::uint64_t length_bytes;
  std::size_t slice_bytes;
  // Bytes of all buffers of the combine.
  std::size_t memory_bytes;
};

// kInvalid if the request contradicts itself or exceeds a limit.
[[nodiscard]] Result<CheckedCombine> CheckCombine(const ebbfs::CombineRequestProto& request,
                                                  const CombineLimits& limits);

}  // namespace ebb
