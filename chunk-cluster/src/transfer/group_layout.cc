#include "transfer/group_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>

namespace ebb::transfer {

std::uint64_t GroupLayout::BlockBytes(std::uint64_t group_bytes, std::uint64_t index) const {
  const std::uint64_t row_bytes = data_units * cell_bytes;
  const std::uint64_t rest = group_bytes % row_bytes;
  return group_bytes / row_bytes * cell_bytes +
         std::min(cell_bytes, rest - std::min(rest, index * cell_bytes));
}

std::uint64_t GroupLayout::SafeBytes(std::vector<std::uint64_t> block_bytes) const {
  if (block_bytes.size() < data_units) return 0;
  std::ranges::sort(block_bytes, std::greater());
  return block_bytes[data_units - 1] / cell_bytes * cell_bytes * data_units;
}

Result<GroupLayout> LayoutOf(const hadoop::hdfs::ErasureCodingPolicyProto& policy) {
  constexpr std::uint64_t kCell = 1 << 20;
  constexpr std::array<std::uint64_t, 6> kDataUnits = {0, 6, 3, 6, 2, 10};
  GroupLayout layout;
  if (policy.has_schema()) {
    layout = {policy.schema().dataunits(), policy.cellsize()};
  } else if (policy.id() < kDataUnits.size()) {
    layout = {kDataUnits[policy.id()], kCell};
  }
  if (layout.cell_bytes != 0 && layout.data_units != 0 &&
      layout.data_units <= GroupLayout::kMaxUnits) {
    return layout;
  }
  return Fail(ErrorCode::kInvalid,
              fmt::format("a block group has no erasure coding policy with the id {}, {} data "
                          "units and cells of {} bytes",
                          policy.id(), layout.data_units, layout.cell_bytes));
}

}  // namespace ebb::transfer
