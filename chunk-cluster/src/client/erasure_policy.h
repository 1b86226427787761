// A policy of HDFS by which clients encode files: the code, and the sizes of its block groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/error.h"
#include "hdfs.pb.h"

namespace ebb::client {

struct ErasurePolicy {
  // "RS-6-3-1024k".
  std::string name;
  // "rs", "rs-legacy" or "xor"; other codecs are unknown here.
  std::string codec;
  std::size_t data_units = 0;
  std::size_t parity_units = 0;
  std::uint64_t cell_bytes = 0;

  [[nodiscard]] std::size_t units() const { return data_units + parity_units; }
  // The data of a row of cells, one in each data block.
  [[nodiscard]] std::uint64_t row_bytes() const { return data_units * cell_bytes; }
  // The length of block `index` of a group with so many bytes of data. A parity block has the
  // length of the first data block, which is the longest.
  [[nodiscard]] std::uint64_t BlockBytes(std::uint64_t group_bytes, std::size_t index) const;
};

// Nothing for replication. Namenodes send policies of HDFS by their id alone.
[[nodiscard]] std::optional<ErasurePolicy> ToErasurePolicy(
    const hadoop::hdfs::ErasureCodingPolicyProto& proto);

// For messages: the ids of groups of HDFS are negative, as HDFS itself prints them.
[[nodiscard]] inline std::int64_t ShownId(std::uint64_t block_id) {
  return static_cast<std::int64_t>(block_id);
}

// kUnsupported if this client does not know the codec, or if the sizes make no sense.
[[nodiscard]] Status CheckKnown(const ErasurePolicy& policy, const std::string& path);

}  // namespace ebb::client
