// The client side of DataTransferProtocol: reading a block from a peer, writing one to a peer, and
// the pipeline behind us. A peer is a chunk server or a stock HDFS DataNode.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "combine/block_io.h"
#include "common/error.h"
#include "common/socket.h"
#include "disk/block_store.h"
#include "hdfs.pb.h"
#include "transfer/wire.h"

namespace ebb::transfer {

using hadoop::hdfs::DatanodeIDProto;
using hadoop::hdfs::ExtendedBlockProto;
using hadoop::hdfs::OpWriteBlockProto;

// Reads [offset, end) of the block, whose length is block.numBytes; every packet is verified.
// kNotFound if the peer answers that it cannot.
[[nodiscard]] Result<std::unique_ptr<BlockSource>> OpenRemoteSource(const DatanodeIDProto& peer,
                                                                    const ExtendedBlockProto& block,
                                                                    std::uint64_t offset,
                                                                    std::uint64_t end);

// Writes a new block to the named storage of the peer.
[[nodiscard]] Result<std::unique_ptr<BlockSink>> OpenRemoteSink(const DatanodeIDProto& peer,
                                                                const ExtendedBlockProto& block,
                                                                const std::string& storage_uuid);

// Connects to a peer and sends the operation.
[[nodiscard]] Result<Socket> StartWrite(const DatanodeIDProto& peer, const OpWriteBlockProto& op);

struct CopyTargets {
  // The first gets the copy from us and hands it on to the second, and so forth.
  std::vector<hadoop::hdfs::DatanodeInfoProto> servers;
  std::vector<std::string> storage_uuids;
};

// Copies a replica to other servers. With a client's name it is for pipeline recovery, and the
// first target says when it has the block; without, nobody does and the namenode hears of it.
[[nodiscard]] Status CopyReplica(const ReplicaReader& replica, const std::string& block_pool_id,
                                 const CopyTargets& targets, const std::string& client_name);

}  // namespace ebb::transfer
