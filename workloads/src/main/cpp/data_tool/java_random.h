// The random numbers of java.util.Random, by the algorithm that its Javadoc lays down: a program in
// Java and this one choose the same bytes and offsets from the same seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ebb::data_tool {

// Not thread-safe.
class JavaRandom {
 public:
  explicit JavaRandom(std::int64_t seed);

  void FillBytes(std::span<std::byte> out);
  // From 0 up to 1, without 1.
  [[nodiscard]] double NextDouble();

 private:
  [[nodiscard]] std::uint32_t Next(int bits);

  std::uint64_t state_;
};

}  // namespace ebb::data_tool
