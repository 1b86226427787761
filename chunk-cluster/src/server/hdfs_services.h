// The HDFS protocols that a data node offers at its IPC port.
#pragma once

#include <functional>

#include "disk/block_store.h"
#include "rpc/server.h"

namespace ebb::server {

// ClientDatanodeProtocol: the visible length of a block that is being written, facts about this
// server, and the request for a block report. Other calls are answered as not supported.
void RegisterClientDatanodeProtocol(RpcServer& server, BlockStore& store,
                                    std::function<void()> request_block_report);

// InterDatanodeProtocol: block recovery led by another server.
void RegisterInterDatanodeProtocol(RpcServer& server, BlockStore& store);

}  // namespace ebb::server
