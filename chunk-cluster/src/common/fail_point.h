// Named places at which a test may make this process die, stall or fail. See docs/faults.md.
//
// A process that was started with the environment variable EBBFS_FAIL_POINTS looks, when it passes
// a point, for a file of the point's name in that directory. Whoever takes the file away first does
// what it says. Without the variable a point costs one comparison.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/error.h"

namespace ebb::fail_point {

inline constexpr std::string_view kSourceHalf = "chunk-source-half";
inline constexpr std::string_view kCombineCreate = "chunk-combine-create";
inline constexpr std::string_view kCombineHalf = "chunk-combine-half";
inline constexpr std::string_view kCombineFinalize = "chunk-combine-finalize";
inline constexpr std::string_view kCombineAnswer = "chunk-combine-answer";
inline constexpr std::string_view kTargetCreate = "chunk-target-create";
inline constexpr std::string_view kTargetHalf = "chunk-target-half";
inline constexpr std::string_view kTargetFinalize = "chunk-target-finalize";
inline constexpr std::string_view kTargetAnswer = "chunk-target-answer";

// Empty: switched off.
extern const std::string kDirectory;

// With fail points switched on. Does not return if the point is armed to kill; kIo if as an error.
[[nodiscard]] Status Pass(const std::string& directory, std::string_view point,
                          std::string_view process);

// Thread-safe.
[[nodiscard]] Status Reach(std::string_view point);

// True the first time that `done` of `total` bytes are at least half of them.
class Half {
 public:
  [[nodiscard]] bool ReachedBy(std::uint64_t done, std::uint64_t total) {
    if (reached_ || done * 2 < total) return false;
    return reached_ = true;
  }

 private:
  bool reached_ = false;
};

}  // namespace ebb::fail_point
