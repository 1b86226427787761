// The end of the patience of a writer that appends records.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string>

#include "common/error.h"
#include "common/socket.h"

namespace ebb::client {

class AppendDeadline {
 public:
  explicit AppendDeadline(Timeout patience)
      : patience_(patience), end_(std::chrono::steady_clock::now() + patience) {}

  [[nodiscard]] bool IsOver() const { return std::chrono::steady_clock::now() > end_; }

  // kTimeout if the time has come. `what` is not done; `cause`, which may be empty, is the last
  // reason.
  [[nodiscard]] Status Check(const std::string& what, const std::string& cause) const {
    if (!IsOver()) return {};
    return Fail(ErrorCode::kTimeout, fmt::format("{} after {} ms{}{}", what, patience_.count(),
                                                 cause.empty() ? "" : ": ", cause));
  }

 private:
  Timeout patience_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace ebb::client
