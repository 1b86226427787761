// What the files of the benchmark of data hold. testbed/stock-client's DataTool writes and expects
// the same bytes: either program reads what the other one wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"

namespace ebb::data_tool {

// Bytes that are written or compared at a time, as in DataTool.
inline constexpr std::size_t kPieceBytes = std::size_t{128} << 10;

// Random bytes that repeat after a prime number of them, and begin elsewhere for each name of a
// file, so that bytes of another block, chunk or file are different bytes. Thread-safe.
class Content {
 public:
  Content();

  // The bytes of a file from an offset on: at most kPieceBytes. They live as long as this object.
  // `path` is absolute; its last name is ASCII.
  [[nodiscard]] std::span<const std::byte> At(const std::string& path, std::uint64_t offset,
                                              std::size_t count) const;
  // kCorrupt names the first offset at which `found` is not what the file holds from `offset` on.
  [[nodiscard]] Status Check(const std::string& path, std::uint64_t offset,
                             std::span<const std::byte> found) const;

 private:
  std::vector<std::byte> pattern_;
};

}  // namespace ebb::data_tool
