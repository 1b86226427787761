#include "server/hdfs_services.h"

#include <fmt/core.h>

#include <chrono>

#include "ClientDatanodeProtocol.pb.h"
#include "InterDatanodeProtocol.pb.h"

namespace ebb::server {

namespace {

using namespace hadoop::hdfs;

constexpr char kClientProtocol[] = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";
constexpr char kInterProtocol[] = "org.apache.hadoop.hdfs.server.protocol.InterDatanodeProtocol";

std::unexpected<Error> NotFound(std::uint64_t block_id) {
  return std::unexpected(Error{ErrorCode::kNotFound,
                               fmt::format("block {} is not on this server", block_id),
                               "org.apache.hadoop.hdfs.server.datanode.ReplicaNotFoundException"});
}

Result<GetReplicaVisibleLengthResponseProto> GetVisibleLength(
    BlockStore& store, const GetReplicaVisibleLengthRequestProto& request) {
  const auto reader = store.OpenReader(request.block().blockid(),
                                       request.block().generationstamp());
  if (!reader) return NotFound(request.block().blockid());
  GetReplicaVisibleLengthResponseProto response;
  response.set_length((*reader)->info().length_bytes);
  return response;
}

GetVolumeReportResponseProto GetVolumes(const BlockStore& store) {
  GetVolumeReportResponseProto response;
  for (const auto& disk : store.Disks()) {
    auto& volume = *response.add_volumeinfo();
    volume.set_path(disk.directory);
    volume.set_storagetype(DISK);
    volume.set_usedspace(disk.used_bytes);
    volume.set_freespace(disk.remaining_bytes);
    volume.set_reservedspace(0);
    volume.set_reservedspaceforreplicas(0);
    volume.set_numblocks(disk.blocks);
  }
  return response;
}

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

void RegisterClientDatanodeProtocol(RpcServer& server, BlockStore& store,
                                    std::function<void()> request_block_report) {
  const auto started = std::chrono::steady_clock::now();
  RpcHandlers handlers;
  handlers["getReplicaVisibleLength"] = MakeRpcHandler<GetReplicaVisibleLengthRequestProto>(
      [&store](const RpcCaller&, const GetReplicaVisibleLengthRequestProto& request) {
        return GetVisibleLength(store, request);
      });
  handlers["getDatanodeInfo"] = MakeRpcHandler<GetDatanodeInfoRequestProto>(
      [started](const RpcCaller&, const auto&) -> Result<GetDatanodeInfoResponseProto> {
        GetDatanodeInfoResponseProto response;
        auto& info = *response.mutable_localinfo();
        info.set_softwareversion("3.5.0");
        info.set_configversion("core-3.0.0,hdfs-1");
        info.set_uptime(static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() -
                                                             started)
                .count()));
        return response;
      });
  handlers["getVolumeReport"] = MakeRpcHandler<GetVolumeReportRequestProto>(
      [&store](const RpcCaller&, const auto&) -> Result<GetVolumeReportResponseProto> {
        return GetVolumes(store);
      });
  handlers["triggerBlockReport"] = MakeRpcHandler<TriggerBlockReportRequestProto>(
      [request_block_report = std::move(request_block_report)](
          const RpcCaller&, const auto&) -> Result<TriggerBlockReportResponseProto> {
        request_block_report();
        return TriggerBlockReportResponseProto();
      });
  server.RegisterService(kClientProtocol, 1, std::move(handlers));
}

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
  server.RegisterService(kInterProtocol, 1, std::move(handlers));
}

}  // namespace ebb::server
