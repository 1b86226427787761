// ClientDatanodeProtocol, the HDFS protocol between clients and a datanode's IPC port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "disk/block_store.h"
#include "rpc/server.h"

namespace ebb::server {

// What the calls need of other parts.
struct ClientDatanodeParts {
  // Full.
  std::function<void()> request_block_report;
  std::function<void()> request_incremental_report;
  // In bytes per second.
  std::function<std::uint64_t()> balancer_bandwidth;
  // Returns how many connections were closed.
  std::function<std::size_t()> evict_writers;
};

// Offers the visible length of a block that is being written, facts about this server, its volumes,
// the bandwidth of a balancer, the request for a block report, and the eviction of writers.
// Volumes, reports and eviction are for the superuser. Each other call is refused with a reason and
// a remedy. `store` outlives the server.
void RegisterClientDatanodeProtocol(RpcServer& server, BlockStore& store,
                                    ClientDatanodeParts parts);

}  // namespace ebb::server
