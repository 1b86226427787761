#include "client/lane_ledger.h"

#include <algorithm>
#include <cstring>

#include "common/bytes.h"
#include "common/crc32c.h"

namespace ebb::client {

using transfer::LedgerEntry;

namespace {

constexpr std::size_t kCheckedBytes = LedgerEntry::kBytes - 4;

std::uint64_t LoadBig64(const std::byte* p) {
  return std::uint64_t{LoadBig32(p)} << 32 | LoadBig32(p + 4);
}

}  // namespace

LaneLedger LaneLedger::Decode(std::span<const std::byte> bytes) {
  LaneLedger ledger;
  std::uint64_t end = 0;
  for (; bytes.size() >= LedgerEntry::kBytes; bytes = bytes.subspan(LedgerEntry::kBytes)) {
    const std::byte* const in = bytes.data();
    LedgerEntry entry = {};
    std::memcpy(entry.writer.data(), in, entry.writer.size());
    entry.first_record = LoadBig64(in + 16);
    entry.records = LoadBig32(in + 24);
    entry.length_bytes = LoadBig32(in + 28);
    entry.end = LoadBig64(in + 32);
    entry.checksum = LoadBig32(in + 40);
    const bool whole = LoadBig32(in + kCheckedBytes) == Crc32c(0, bytes.first(kCheckedBytes));
    if (!whole || entry.end != end + entry.length_bytes) break;
    end = entry.end;
    ledger.entries.push_back(entry);
  }
  return ledger;
}

std::uint64_t LaneLedger::WholeBytes(std::uint64_t block_bytes) const {
  std::uint64_t whole = 0;
  for (const auto& entry : entries) {
    if (entry.end <= block_bytes) whole = std::max(whole, entry.end);
  }
  return whole;
}

bool LaneLedger::Holds(const transfer::WriterId& writer, std::uint64_t first_record,
                       std::uint64_t sealed_bytes) const {
  return std::ranges::any_of(entries, [&](const LedgerEntry& entry) {
    return entry.end <= sealed_bytes && entry.writer == writer &&
           entry.first_record == first_record;
  });
}

}  // namespace ebb::client
