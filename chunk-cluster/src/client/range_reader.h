// The bytes of a range of a block, wherever they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/error.h"
#include "hdfs.pb.h"

namespace ebb::client {

// [offset, end) of a block of a file.
struct BlockRange {
  std::string path;
  hadoop::hdfs::LocatedBlockProto block;
  std::uint64_t offset = 0;
  std::uint64_t end = 0;
};

// One thread at a time, except for Shutdown().
class RangeReader {
 public:
  virtual ~RangeReader() = default;
  // To be called once, before Next.
  [[nodiscard]] virtual Status Start() = 0;
  // The next bytes of the range, at most `most`; none at its end. They are valid until the next
  // call.
  [[nodiscard]] virtual Result<std::span<const std::byte>> Next(std::size_t most) = 0;
  // Whether the bytes of the last Next come from other blocks.
  [[nodiscard]] virtual bool decoded() const = 0;
  // Makes running and later calls fail. Thread-safe.
  virtual void Shutdown() = 0;
};

}  // namespace ebb::client
