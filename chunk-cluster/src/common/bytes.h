// Big-endian integers in byte buffers. The HDFS formats use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ebb {

[[nodiscard]] inline std::uint16_t LoadBig16(const std::byte* p) {
  std::uint16_t value;
  std::memcpy(&value, p, sizeof value);
  return __builtin_bswap16(value);
}

[[nodiscard]] inline std::uint32_t LoadBig32(const std::byte* p) {
  std::uint32_t value;
  std::memcpy(&value, p, sizeof value);
  return __builtin_bswap32(value);
}

inline void StoreBig16(std::byte* p, std::uint16_t value) {
  value = __builtin_bswap16(value);
  std::memcpy(p, &value, sizeof value);
}

inline void StoreBig32(std::byte* p, std::uint32_t value) {
  value = __builtin_bswap32(value);
  std::memcpy(p, &value, sizeof value);
}

}  // namespace ebb
