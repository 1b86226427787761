// ClientDatanodeProtocol, the HDFS protocol between clients and a datanode's IPC port.
#pragma once

#include <cstdint>
#include <functional>

#include "disk/block_store.h"
#include "rpc/server.h"

namespace ebb::server {

// What the calls need of other parts.
struct ClientDatanodeParts {
  std::function<void()> request_block_report;
  // In bytes per second.
  std::function<std::uint64_t()> balancer_bandwidth;
};

// Offers the visible length of a block that is being written, facts about this server, its volumes,
// the bandwidth of a balancer, and the request for a block report. Other calls fail as not
// supported. `store` outlives the server.
void RegisterClientDatanodeProtocol(RpcServer& server, BlockStore& store,
                                    ClientDatanodeParts parts);

}  // namespace ebb::server
