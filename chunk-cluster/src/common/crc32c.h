// CRC-32C (Castagnoli, RFC 3720) and CRC-32 (ISO 3309, as in zlib), the two checksums of HDFS.
// Every function is pure and thread-safe. CRC-32C uses SSE4.2 where the processor has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ebb {

// Continues a checksum: `crc` covers the bytes before `data`. Start from 0.
[[nodiscard]] std::uint32_t Crc32c(std::uint32_t crc, std::span<const std::byte> data);
[[nodiscard]] std::uint32_t Crc32(std::uint32_t crc, std::span<const std::byte> data);

// The checksum of A followed by B, computed from the checksums of A and B and the length of B in
// bytes.
[[nodiscard]] std::uint32_t Crc32cConcat(std::uint32_t crc_a, std::uint32_t crc_b,
                                         std::uint64_t length_b);
[[nodiscard]] std::uint32_t Crc32Concat(std::uint32_t crc_a, std::uint32_t crc_b,
                                        std::uint64_t length_b);

// Composes the checksum of a block from the checksums of its chunks. Crc32cConcat for each chunk
// costs more, because it computes the power for the chunk's length each time.
class Crc32cComposer {
 public:
  explicit Crc32cComposer(std::uint64_t chunk_bytes);
  // `crc` covers the next chunk, which has `length` bytes. Only the last chunk may be shorter than
  // chunk_bytes.
  void Append(std::uint32_t crc, std::uint64_t length);
  [[nodiscard]] std::uint32_t value() const { return value_; }

 private:
  const std::uint64_t chunk_bytes_;
  const std::uint32_t shift_;
  std::uint32_t value_ = 0;
};

// Writes the big-endian checksum of every `chunk` bytes of `data` to `out`, 4 bytes each. The last
// chunk may be shorter. Three chunks are computed at a time, because the processor can run three
// CRC instructions in parallel.
void Crc32cChunks(std::span<const std::byte> data, std::size_t chunk, std::byte* out);

// The portable implementation for processors without SSE4.2. Public for tests.
[[nodiscard]] std::uint32_t Crc32cPortable(std::uint32_t crc, std::span<const std::byte> data);

}  // namespace ebb
