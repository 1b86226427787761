// What one connection does in a row of the benchmark.
#pragma once

#include <string_view>

#include "common/error.h"
#include "metadata_load/calls.h"

namespace ebb::metadata_load {

// An operation is one call, or several calls one after the other. A call that a worker returns
// belongs to the worker and is valid until the worker's next use. One thread uses it.
class Worker {
 public:
  virtual ~Worker() = default;
  // The first call of the next operation. Null once no operation is left.
  [[nodiscard]] virtual const Call* Begin() = 0;
  // Takes the answer to the call before. Returns the next call of the same operation, or null
  // after its last. An error: the answer is not what the operation must get.
  [[nodiscard]] virtual Result<const Call*> Proceed(std::string_view answer) = 0;
};

}  // namespace ebb::metadata_load
