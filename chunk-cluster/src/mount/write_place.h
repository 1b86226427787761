// The rule of writes: a file of HDFS's protocols grows at its end, and never changes elsewhere.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "common/error.h"

namespace ebb::mount {

// Whether a write at `offset` of a file with `length` bytes can be done. `appends`: the file was
// opened with O_APPEND, so that the offset is what the kernel believes to be the end. kUnsupported
// says why not.
[[nodiscard]] inline Status CheckWritePlace(const std::string& path, std::uint64_t offset,
                                            std::uint64_t length, bool appends) {
  if (appends || offset == length) return {};
  return Fail(ErrorCode::kUnsupported,
              fmt::format("a write of {} at byte {} was refused: the file has {} bytes, and HDFS "
                          "can write behind the last byte only; write the file in order, or "
                          "elsewhere first and copy it here",
                          path, offset, length));
}

}  // namespace ebb::mount
