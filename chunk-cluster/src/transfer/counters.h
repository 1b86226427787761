// What the transfer server counts.
#pragma once

#include <atomic>
#include <cstdint>

namespace ebb::transfer {

// Counts since the start of the process.
struct TransferCounters {
  std::atomic<std::uint64_t> reads = 0;
  std::atomic<std::uint64_t> writes = 0;
  std::atomic<std::uint64_t> reads_of_missing_blocks = 0;
  // Requests for the files of a replica.
  std::atomic<std::uint64_t> short_circuit_requests = 0;
  // Replicas that were sent to, and fetched from, other servers for a balancer.
  std::atomic<std::uint64_t> moves_out = 0;
  std::atomic<std::uint64_t> moves_in = 0;
  // Bytes of blocks that other servers sent here in the background: copies of replicas, and outputs
  // of combines. What clients write is not part of it, nor what is fetched for a balancer.
  std::atomic<std::uint64_t> background_bytes = 0;
  std::atomic<std::uint64_t> refused_connections = 0;
  // Connections that were closed in favour of a new one.
  std::atomic<std::uint64_t> displaced_connections = 0;
};

}  // namespace ebb::transfer
