// What one connection does in a row of the benchmark.
#pragma once

#include <chrono>
#include <string_view>

#include "common/error.h"
#include "hdfs.pb.h"
#include "metadata_load/calls.h"

namespace ebb::metadata_load {

// What a worker wants next. What the pointers point to belongs to the worker and is valid until
// the worker's next use.
struct Step {
  enum class Kind : std::uint8_t { kCall, kWriteBlock, kPause, kEnd };

  Kind kind = Kind::kEnd;
  const Call* call = nullptr;
  // The block to which the small data of a file is written.
  const hadoop::hdfs::LocatedBlockProto* block = nullptr;
  std::chrono::milliseconds pause = {};

  [[nodiscard]] static Step Send(const Call& call) { return {Kind::kCall, &call, nullptr, {}}; }
  [[nodiscard]] static Step Write(const hadoop::hdfs::LocatedBlockProto& block) {
    return {Kind::kWriteBlock, nullptr, &block, {}};
  }
  [[nodiscard]] static Step Pause(std::chrono::milliseconds pause) {
    return {Kind::kPause, nullptr, nullptr, pause};
  }
  [[nodiscard]] static Step End() { return {}; }
};

// An operation is one call, or several steps one after the other. One thread uses it.
class Worker {
 public:
  virtual ~Worker() = default;
  // The first call of the next operation. Null once no operation is left.
  [[nodiscard]] virtual const Call* Begin() = 0;
  // Takes the answer to the call before; it is empty after a write or a pause. Returns the next
  // step of the same operation, or End() after its last. An error: the answer is not what the
  // operation must get.
  [[nodiscard]] virtual Result<Step> Proceed(std::string_view answer) = 0;
};

}  // namespace ebb::metadata_load
