// Fail points: named places in the code at which a test can make this process die, stall or fail.
// See docs/faults.md.
//
// The environment variable EBBFS_FAIL_POINTS names a directory. When a process reaches a point, it
// looks there for a file with the point's name. The first process or thread that renames the file
// executes its content. Without the variable a point costs one comparison.
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

// The directory of the environment variable. Empty if fail points are switched off.
extern const std::string kDirectory;

// Reach with the directory and the name of this process given. Does not return if the file says
// "kill". kIo if it says "error".
[[nodiscard]] Status Pass(const std::string& directory, std::string_view point,
                          std::string_view process);

// To be called at the fail point. Thread-safe.
[[nodiscard]] Status Reach(std::string_view point);

// Tells when an operation is half done. True once: when `done` is at least half of `total` for the
// first time.
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
