// The entries of the ledger of a lane. An entry tells which records lie where in the block of the lane.
// docs/record-append.md describes the same, and io.ebbfs.client.LaneLedger reads it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "common/bytes.h"
#include "common/crc32c.h"

namespace ebb::transfer {

using WriterId = std::array<std::byte, 16>;

struct LedgerEntry {
  static constexpr std::size_t kBytes = 48;

  WriterId writer;
  std::uint64_t first_record;
  std::uint32_t records;
  std::uint32_t length_bytes;
  // The length of the block after these records.
  std::uint64_t end;
  // CRC-32C of the bytes of the records.
  std::uint32_t checksum;

  // Big-endian numbers. The last 4 bytes are the CRC-32C of the others.
  void Encode(std::span<std::byte, kBytes> out) const {
    const auto big64 = [](std::byte* p, std::uint64_t value) {
      StoreBig32(p, static_cast<std::uint32_t>(value >> 32));
      StoreBig32(p + 4, static_cast<std::uint32_t>(value));
    };
    std::memcpy(out.data(), writer.data(), writer.size());
    big64(out.data() + 16, first_record);
    StoreBig32(out.data() + 24, records);
    StoreBig32(out.data() + 28, length_bytes);
    big64(out.data() + 32, end);
    StoreBig32(out.data() + 40, checksum);
    StoreBig32(out.data() + 44, Crc32c(0, out.first<44>()));
  }
};

}  // namespace ebb::transfer
