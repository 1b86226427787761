// CRC-32C (Castagnoli, RFC 3720) and CRC-32 (ISO 3309, as in zlib), the two checksums of HDFS.
// Every function is pure and thread-safe. CRC-32C uses SSE4.2 where the processor has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ebb {

// The checksum of what `crc` covers followed by `data`; start from 0.
[[nodiscard]] std::uint32_t Crc32c(std::uint32_t crc, std::span<const std::byte> data);
[[nodiscard]] std::uint32_t Crc32(std::uint32_t crc, std::span<const std::byte> data);

// The checksum of A followed by B, from those of A and B and the length of B in bytes.
[[nodiscard]] std::uint32_t Crc32cConcat(std::uint32_t crc_a, std::uint32_t crc_b,
                                         std::uint64_t length_b);
[[nodiscard]] std::uint32_t Crc32Concat(std::uint32_t crc_a, std::uint32_t crc_b,
                                        std::uint64_t length_b);

// The checksum of many equal chunks, one after the other, composed from theirs: cheaper than
// Crc32cConcat for each, since the power of the chunk's length is computed once.
class Crc32cComposer {
 public:
  explicit Crc32cComposer(std::uint64_t chunk_bytes);
  // `length` is that of the chunk that `crc` covers; only the last one may be shorter.
  void Append(std::uint32_t crc, std::uint64_t length);
  [[nodiscard]] std::uint32_t value() const { return value_; }

 private:
  const std::uint64_t chunk_bytes_;
  const std::uint32_t shift_;
  std::uint32_t value_ = 0;
};

// Writes the big-endian checksum of every `chunk` bytes of `data` (the last chunk may be shorter)
// to `out`, 4 bytes each. Three chunks run side by side, which is what the processor is fast at.
void Crc32cChunks(std::span<const std::byte> data, std::size_t chunk, std::byte* out);

// The portable form that runs where SSE4.2 is missing; for tests.
[[nodiscard]] std::uint32_t Crc32cPortable(std::uint32_t crc, std::span<const std::byte> data);

}  // namespace ebb
