// How the data of a block group lie in its data blocks. A client cuts the data into cells, which go
// round over the data blocks; a parity has the length of the longest data block.
#pragma once

#include <cstdint>
#include <vector>

#include "common/error.h"
#include "hdfs.pb.h"

namespace ebb::transfer {

struct GroupLayout {
  // HDFS gives each group as many block ids.
  static constexpr std::uint64_t kMaxUnits = 16;

  std::uint64_t data_units = 0;
  std::uint64_t cell_bytes = 0;

  // The length of a data block of a group with so many bytes of data.
  [[nodiscard]] std::uint64_t BlockBytes(std::uint64_t group_bytes, std::uint64_t index) const;
  [[nodiscard]] std::uint64_t CellsOf(std::uint64_t bytes) const {
    return bytes / cell_bytes + (bytes % cell_bytes == 0 ? 0 : 1);
  }
  // The bytes of data of a group, given the lengths of some of its blocks, data or parity, up to
  // which every cell is in one of them or can be decoded: that many whole rows of cells.
  [[nodiscard]] std::uint64_t SafeBytes(std::vector<std::uint64_t> block_bytes) const;
};

// kInvalid if the policy is unknown. A client names a policy of HDFS by its id alone.
[[nodiscard]] Result<GroupLayout> LayoutOf(const hadoop::hdfs::ErasureCodingPolicyProto& policy);

}  // namespace ebb::transfer
