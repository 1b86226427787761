#include "client/append_options.h"

#include <fmt/format.h>

#include <limits>

namespace ebb::client {

namespace {

constexpr std::uint64_t kMostLanes = 64;
constexpr std::uint64_t kMostReplicas = std::numeric_limits<std::int16_t>::max();
constexpr std::uint64_t kMostUnacknowledgedBytes = 1 << 30;
constexpr std::uint64_t kMostIdleMillis = 30'000;
// A year. A time point in nanoseconds has room for it.
constexpr std::uint64_t kMostPatienceMillis = std::uint64_t{365} * 24 * 3'600'000;

Status CheckBounds(const char* name, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
  if (value >= least && value <= most) return {};
  return Fail(ErrorCode::kInvalid, fmt::format("{} is {}; choose a value from {} to {}", name,
                                               value, least, most));
}

}  // namespace

Status AppendOptions::Check() const {
  if (lanes < 1) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("lanes is {}; choose a value from 1 to {}", lanes, kMostLanes));
  }
  EBB_TRY(CheckBounds("lanes", static_cast<std::uint64_t>(lanes), 1, kMostLanes));
  EBB_TRY(CheckBounds("replication", replication, 0, kMostReplicas));
  EBB_TRY(CheckBounds("batch_bytes", batch_bytes, 1, kMostRecordBytes));
  EBB_TRY(CheckBounds("unacknowledged_bytes", unacknowledged_bytes, batch_bytes,
                      kMostUnacknowledgedBytes));
  EBB_TRY(CheckBounds("idle_millis", idle_millis, 1, kMostIdleMillis));
  EBB_TRY(CheckBounds("age_millis", age_millis, 1, std::numeric_limits<std::int32_t>::max()));
  EBB_TRY(CheckBounds("patience_millis", patience_millis, 1, kMostPatienceMillis));
  if (block_bytes == 0) return {};
  return CheckBounds("block_bytes", block_bytes, kMostRecordBytes,
                     std::numeric_limits<std::int64_t>::max());
}

}  // namespace ebb::client
