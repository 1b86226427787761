// A combine request, checked and cut down to what has to be done. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "chunk.pb.h"
#include "common/error.h"
#include "gf/linear_map.h"

namespace ebb {

struct CombineLimits {
  std::size_t max_sources = 255;
  std::size_t max_targets = 64;
  std::size_t default_slice_bytes = std::size_t{128} << 10;
  std::size_t min_slice_bytes = std::size_t{4} << 10;
  std::size_t max_slice_bytes = std::size_t{1} << 20;
  // Buffers of one combine. Slices become shorter where they would exceed it.
  std::size_t max_combine_bytes = std::size_t{24} << 20;
  // No HDFS block is longer than a client could ever want one.
  std::uint64_t max_block_bytes = std::uint64_t{1} << 40;
  // What multiplies; no limit, but chosen at the same place.
  gf::Backend backend = gf::DefaultBackend();
};

struct CombinePlan {
  // Indices into the request of the sources with a non-zero coefficient: only these are read.
  std::vector<std::size_t> used;
  // From the used sources to all targets.
  gf::LinearMap map;
  // Of the longest target.
  std::uint64_t length_bytes;
  std::size_t slice_bytes;
  // All buffers of the combine.
  std::size_t memory_bytes;
};

// kInvalid saying how the request contradicts itself or exceeds a limit.
[[nodiscard]] Result<CombinePlan> PlanCombine(const ebbfs::CombineRequestProto& request,
                                              const CombineLimits& limits);

}  // namespace ebb
