#include "server/client_datanode_service.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <chrono>

#include "ClientDatanodeProtocol.pb.h"
#include "rpc/client.h"
#include "server/hdfs_version.h"

namespace ebb::server {

namespace {

using namespace hadoop::hdfs;

constexpr char kClientDatanodeProtocol[] = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";

std::unexpected<Error> NotFound(std::uint64_t block_id) {
  return std::unexpected(Error{ErrorCode::kNotFound,
                               fmt::format("block {} is not on this server", block_id),
                               "org.apache.hadoop.hdfs.server.datanode.ReplicaNotFoundException"});
}

Result<GetReplicaVisibleLengthResponseProto> GetVisibleLength(
    BlockStore& store, const GetReplicaVisibleLengthRequestProto& request) {
  const auto reader =
      store.OpenReader(request.block().blockid(), request.block().generationstamp());
  if (!reader && reader.error().code == ErrorCode::kNotFound) {
    return NotFound(request.block().blockid());
  }
  if (!reader) return std::unexpected(reader.error());
  GetReplicaVisibleLengthResponseProto response;
  response.set_length((*reader)->info().length_bytes);
  return response;
}

GetVolumeReportResponseProto GetVolumes(const BlockStore& store) {
  GetVolumeReportResponseProto response;
  for (const auto& disk : store.Disks()) {
    auto& volume = *response.add_volumeinfo();
    volume.set_path(disk.directory);
    volume.set_storagetype(static_cast<StorageTypeProto>(disk.type));
    volume.set_usedspace(disk.used_bytes);
    volume.set_freespace(disk.remaining_bytes);
    volume.set_reservedspace(0);
    volume.set_reservedspaceforreplicas(0);
    volume.set_numblocks(disk.blocks);
  }
  return response;
}

// As for a DataNode of HDFS, the superuser is the user of the process.
Status CheckSuperuser(const RpcCaller& caller) {
  const std::string superuser = UserOfProcess();
  if (caller.user == superuser) return {};
  return std::unexpected(
      Error{ErrorCode::kInvalid,
            fmt::format("Access denied for user {}. Superuser privilege is required: call as {}",
                        caller.user, superuser),
            "org.apache.hadoop.security.AccessControlException"});
}

// The same call for the superuser only. HDFS guards the same calls.
RpcHandler ForSuperuser(RpcHandler handler) {
  return [handler = std::move(handler)](const RpcCaller& caller,
                                        std::string_view request) -> Result<std::string> {
    EBB_TRY(CheckSuperuser(caller));
    return handler(caller, request);
  };
}

// A call for what chunk servers do not have. The user is told why, whatever the request is.
RpcHandler Refusal(std::string reason) {
  return [reason = std::move(reason)](const RpcCaller&, std::string_view) -> Result<std::string> {
    return std::unexpected(
        Error{ErrorCode::kUnsupported, reason, "java.lang.UnsupportedOperationException"});
  };
}

// docs/protocols.md ("Refused calls") lists them.
void RegisterRefusals(RpcHandlers& handlers) {
  handlers["getBlockLocalPathInfo"] = Refusal(
      "a chunk server tells no paths of its replicas: set dfs.client.use.legacy.blockreader.local "
      "to false, and use dfs.domain.socket.path for short-circuit reads");
  handlers["shutdownDatanode"] =
      ForSuperuser(Refusal("a chunk server is not stopped by a call: stop its process"));
  handlers["refreshNamenodes"] = ForSuperuser(
      Refusal("a chunk server reads the addresses of its namenodes when it starts: change "
              "'namenodes' in cluster.yaml and restart its process"));
  handlers["deleteBlockPool"] = ForSuperuser(
      Refusal("a chunk server has one block pool, and the namenode orders which replicas go: drain "
              "the server with 'ebb admin evict', stop its process and empty its disks"));
  for (const char* call :
       {"startReconfiguration", "getReconfigurationStatus", "listReconfigurableProperties"}) {
    handlers[call] = ForSuperuser(
        Refusal("a chunk server reads its configuration when it starts: change chunk-server.yaml "
                "and restart its process"));
  }
  for (const char* call : {"submitDiskBalancerPlan", "cancelDiskBalancerPlan",
                           "queryDiskBalancerPlan", "getDiskBalancerSetting"}) {
    handlers[call] = ForSuperuser(
        Refusal("EbbFS levels the disks of its servers by itself: use 'ebb admin rebalance'"));
  }
}

}  // namespace

void RegisterClientDatanodeProtocol(RpcServer& server, BlockStore& store,
                                    ClientDatanodeParts parts) {
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
        info.set_softwareversion(kSoftwareVersion);
        info.set_configversion("core-3.0.0,hdfs-1");
        info.set_uptime(static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                                       std::chrono::steady_clock::now() - started)
                                                       .count()));
        return response;
      });
  handlers["getVolumeReport"] = ForSuperuser(MakeRpcHandler<GetVolumeReportRequestProto>(
      [&store](const RpcCaller&, const auto&) -> Result<GetVolumeReportResponseProto> {
        return GetVolumes(store);
      }));
  handlers["triggerBlockReport"] = ForSuperuser(MakeRpcHandler<TriggerBlockReportRequestProto>(
      [full = std::move(parts.request_block_report),
       incremental = std::move(parts.request_incremental_report)](
          const RpcCaller&, const TriggerBlockReportRequestProto& request)
          -> Result<TriggerBlockReportResponseProto> {
        request.incremental() ? incremental() : full();
        return TriggerBlockReportResponseProto();
      }));
  handlers["evictWriters"] = ForSuperuser(MakeRpcHandler<EvictWritersRequestProto>(
      [evict = std::move(parts.evict_writers)](
          const RpcCaller& caller, const auto&) -> Result<EvictWritersResponseProto> {
        spdlog::info("{} evicts the writers of this server: {} pipelines ended", caller.user,
                     evict());
        return EvictWritersResponseProto();
      }));
  RegisterRefusals(handlers);
  handlers["getBalancerBandwidth"] = MakeRpcHandler<GetBalancerBandwidthRequestProto>(
      [bandwidth = std::move(parts.balancer_bandwidth)](
          const RpcCaller&, const auto&) -> Result<GetBalancerBandwidthResponseProto> {
        GetBalancerBandwidthResponseProto response;
        response.set_bandwidth(bandwidth());
        return response;
      });
  server.RegisterService(kClientDatanodeProtocol, 1, std::move(handlers));
}

}  // namespace ebb::server
