// ClientDatanodeProtocol, the HDFS protocol between clients and a datanode's IPC port.
#pragma once

#include <functional>

#include "disk/block_store.h"
#include "rpc/server.h"

namespace ebb::server {

// Offers the visible length of a block that is being written, facts about this server, its volumes,
// and the request for a block report. Other calls fail as not supported. `store` outlives
// the server.
void RegisterClientDatanodeProtocol(RpcServer& server, BlockStore& store,
                                    std::function<void()> request_block_report);

}  // namespace ebb::server
