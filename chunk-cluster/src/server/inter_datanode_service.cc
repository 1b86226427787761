#include "server/inter_datanode_service.h"

#include "InterDatanodeProtocol.pb.h"

namespace ebb::server {

namespace {

using namespace hadoop::hdfs;

Result<InitReplicaRecoveryResponseProto> StartRecovery(
    BlockStore& store, const InitReplicaRecoveryRequestProto& request) {
  const auto& block = request.block().block().b();
  EBB_ASSIGN(const auto found, store.StartRecovery(block.blockid(), block.generationstamp(),
                                                   request.block().newgenstamp()));
  InitReplicaRecoveryResponseProto response;
  response.set_replicafound(found.has_value());
  if (!found) return response;
  response.set_state(static_cast<ReplicaStateProto>(found->state));
  response.mutable_block()->set_blockid(found->block_id);
  response.mutable_block()->set_genstamp(found->generation_stamp);
  response.mutable_block()->set_numbytes(found->length_bytes);
  return response;
}

Result<UpdateReplicaUnderRecoveryResponseProto> FinishRecovery(
    BlockStore& store, const UpdateReplicaUnderRecoveryRequestProto& request) {
  if (request.newblockid() != 0 && request.newblockid() != request.block().blockid()) {
    return Fail(ErrorCode::kUnsupported, "recovery to a copy of the block is not supported");
  }
  EBB_ASSIGN(const auto info, store.FinishRecovery(request.block().blockid(), request.recoveryid(),
                                                   request.newlength()));
  UpdateReplicaUnderRecoveryResponseProto response;
  response.set_storageuuid(info.storage_uuid);
  return response;
}

}  // namespace

void RegisterInterDatanodeProtocol(RpcServer& server, BlockStore& store) {
  RpcHandlers handlers;
  handlers["initReplicaRecovery"] = MakeRpcHandler<InitReplicaRecoveryRequestProto>(
      [&store](const RpcCaller&, const InitReplicaRecoveryRequestProto& request) {
        return StartRecovery(store, request);
      });
  handlers["updateReplicaUnderRecovery"] = MakeRpcHandler<UpdateReplicaUnderRecoveryRequestProto>(
      [&store](const RpcCaller&, const UpdateReplicaUnderRecoveryRequestProto& request) {
        return FinishRecovery(store, request);
      });
  server.RegisterService(kInterDatanodeProtocol, 1, std::move(handlers));
}

}  // namespace ebb::server
