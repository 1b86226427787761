// The ledger of a lane: which records lie where in its block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transfer/ledger_entry.h"

namespace ebb::client {

// The chunk server that leads the lane writes the ledger (transfer/ledger_entry.h).
struct LaneLedger {
  std::vector<transfer::LedgerEntry> entries;

  // The entries up to the first one that is torn.
  [[nodiscard]] static LaneLedger Decode(std::span<const std::byte> bytes);

  // The length of the whole batches in a block of this length.
  [[nodiscard]] std::uint64_t WholeBytes(std::uint64_t block_bytes) const;
  // Whether the batch lies in the first bytes of the block.
  [[nodiscard]] bool Holds(const transfer::WriterId& writer, std::uint64_t first_record,
                           std::uint64_t sealed_bytes) const;
};

}  // namespace ebb::client
