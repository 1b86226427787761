#include "transfer/replica_copier.h"

#include "common/socket.h"
#include "common/socket_reader.h"
#include "transfer/block_sender.h"
#include "transfer/peer.h"
#include "transfer/wire.h"

namespace ebb::transfer {

using namespace hadoop::hdfs;

namespace {

StorageTypeProto TypeOf(const CopyTargets& targets, std::size_t target) {
  return target < targets.storage_types.size() ? targets.storage_types[target] : DISK;
}

}  // namespace

ebb::Status CopyReplica(const ReplicaReader& replica, const std::string& block_pool_id,
                        const CopyTargets& targets, const std::string& client_name) {
  const auto& info = replica.info();
  if (targets.servers.empty())
    return Fail(ErrorCode::kInvalid, "a copy of a replica needs at least one target");
  ExtendedBlockProto block;
  block.set_poolid(block_pool_id);
  block.set_blockid(info.block_id);
  block.set_generationstamp(info.generation_stamp);
  block.set_numbytes(replica.length());
  OpWriteBlockProto op;
  FillHeader(*op.mutable_header(), block, client_name);
  for (std::size_t i = 1; i < targets.servers.size(); ++i) {
    *op.add_targets() = targets.servers[i];
    op.add_targetstoragetypes(TypeOf(targets, i));
    if (i < targets.storage_uuids.size()) op.add_targetstorageids(targets.storage_uuids[i]);
  }
  op.set_stage(client_name.empty()                      ? OpWriteBlockProto::PIPELINE_SETUP_CREATE
               : info.state == ReplicaState::kFinalized ? OpWriteBlockProto::TRANSFER_FINALIZED
                                                        : OpWriteBlockProto::TRANSFER_RBW);
  if (targets.source) *op.mutable_source()->mutable_id() = *targets.source;
  op.set_pipelinesize(0);
  op.set_minbytesrcvd(0);
  op.set_maxbytesrcvd(0);
  op.set_latestgenerationstamp(0);
  *op.mutable_requestedchecksum() = ToProto(replica.checksum());
  op.set_storagetype(TypeOf(targets, 0));
  if (!targets.storage_uuids.empty()) op.set_storageid(targets.storage_uuids.front());
  EBB_ASSIGN(auto socket, StartWrite(targets.servers.front().id(), op));
  const SendRange range = {.offset = 0,
                           .end = replica.length(),
                           .with_checksums = true,
                           .sync = false,
                           .timeout = PipelineTimeout(static_cast<int>(targets.servers.size()))};
  EBB_TRY(SendReplica(socket, replica, range, {}));
  if (client_name.empty()) return {};
  SocketReader reader(socket);
  BlockOpResponseProto response;
  EBB_TRY(ReadMessage(reader, response, range.timeout));
  return CheckResponse(response, socket.peer(), info.block_id, "take");
}

}  // namespace ebb::transfer
