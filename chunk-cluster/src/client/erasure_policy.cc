#include "client/erasure_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "transfer/group_layout.h"

namespace ebb::client {

namespace {

constexpr std::uint64_t kCellBytes = 1 << 20;

struct KnownPolicy {
  const char* name;
  const char* codec;
  std::size_t data_units;
  std::size_t parity_units;
};
// The policies of HDFS by their ids; 0 is replication.
constexpr std::array<KnownPolicy, 6> kPolicies = {{{"replication", "", 0, 0},
                                                   {"RS-6-3-1024k", "rs", 6, 3},
                                                   {"RS-3-2-1024k", "rs", 3, 2},
                                                   {"RS-LEGACY-6-3-1024k", "rs-legacy", 6, 3},
                                                   {"XOR-2-1-1024k", "xor", 2, 1},
                                                   {"RS-10-4-1024k", "rs", 10, 4}}};

bool IsKnown(const ErasurePolicy& policy) {
  const bool codec = policy.codec == "rs" || policy.codec == "rs-legacy" ||
                     (policy.codec == "xor" && policy.parity_units == 1);
  return codec && policy.data_units > 0 && policy.parity_units > 0 && policy.cell_bytes > 0 &&
         policy.units() <= transfer::GroupLayout::kMaxUnits;
}

}  // namespace

std::uint64_t ErasurePolicy::BlockBytes(std::uint64_t group_bytes, std::size_t index) const {
  return transfer::GroupLayout{data_units, cell_bytes}.BlockBytes(group_bytes,
                                                                  index < data_units ? index : 0);
}

std::optional<ErasurePolicy> ToErasurePolicy(const hadoop::hdfs::ErasureCodingPolicyProto& proto) {
  if (proto.id() == 0) return std::nullopt;
  if (proto.has_schema()) {
    const auto& schema = proto.schema();
    return ErasurePolicy{proto.name(), schema.codecname(), schema.dataunits(), schema.parityunits(),
                         proto.cellsize()};
  }
  if (proto.id() >= kPolicies.size()) {
    return ErasurePolicy{.name = fmt::format("policy {}", proto.id()), .codec = "?"};
  }
  const auto& known = kPolicies[proto.id()];
  return ErasurePolicy{known.name, known.codec, known.data_units, known.parity_units, kCellBytes};
}

Status CheckKnown(const ErasurePolicy& policy, const std::string& path) {
  if (IsKnown(policy)) return {};
  return Fail(
      ErrorCode::kUnsupported,
      fmt::format("clients encode {} by {} (codec '{}', {} data and {} parity units), which "
                  "this client cannot do; use 'hdfs dfs'",
                  path, policy.name, policy.codec, policy.data_units, policy.parity_units));
}

}  // namespace ebb::client
