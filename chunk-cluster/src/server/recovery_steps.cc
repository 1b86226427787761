#include "server/recovery_steps.h"

#include <chrono>

#include "InterDatanodeProtocol.pb.h"
#include "rpc/client.h"
#include "server/inter_datanode_service.h"

namespace ebb::server {

using namespace hadoop::hdfs;

namespace {

// The namenode repeats a recovery after 30 s, and later after 60 and 90 s: a silent holder must not
// take that long.
constexpr Timeout kConnectTimeout = std::chrono::seconds(5);
constexpr Timeout kAskTimeout = std::chrono::seconds(12);
constexpr Timeout kCutTimeout = std::chrono::seconds(20);

Status Call(const DatanodeIDProto& holder, const char* method,
            const google::protobuf::MessageLite& request, google::protobuf::MessageLite& response,
            Timeout timeout) {
  RpcClient client(holder.ipaddr(), static_cast<std::uint16_t>(holder.ipcport()),
                   kInterDatanodeProtocol, 1, {}, {.connect_timeout = kConnectTimeout});
  auto called = client.Call(method, request, response, timeout);
  // For lack of threads or descriptors here, nothing is known of the holder.
  if (!called && called.error().code == ErrorCode::kBusy) {
    called.error().code = ErrorCode::kNotReady;
  }
  return called;
}

}  // namespace

bool IsNotReady(const Error& error) {
  return error.code == ErrorCode::kNotReady ||
         error.exception_class.ends_with("RetriableException");
}

Result<std::optional<ReplicaInfo>> InitReplicaRecovery(BlockStore& store,
                                                       const DatanodeIDProto& holder,
                                                       const RecoveringBlockProto& recovering) {
  const auto& block = recovering.block().b();
  if (holder.datanodeuuid() == store.server_uuid()) {
    return store.StartRecovery(block.blockid(), block.generationstamp(), recovering.newgenstamp());
  }
  InitReplicaRecoveryRequestProto request;
  *request.mutable_block() = recovering;
  InitReplicaRecoveryResponseProto response;
  EBB_TRY(Call(holder, "initReplicaRecovery", request, response, kAskTimeout));
  if (!response.replicafound()) return std::nullopt;
  return ReplicaInfo{response.block().blockid(),
                     response.block().genstamp(),
                     response.block().numbytes(),
                     static_cast<ReplicaState>(response.state()),
                     {}};
}

Result<std::string> UpdateReplica(BlockStore& store, const Candidate& candidate,
                                  const ExtendedBlockProto& block, std::uint64_t recovery_id,
                                  std::uint64_t length) {
  if (candidate.server.datanodeuuid() == store.server_uuid()) {
    EBB_ASSIGN(const auto info, store.FinishRecovery(block.blockid(), recovery_id, length));
    return info.storage_uuid;
  }
  UpdateReplicaUnderRecoveryRequestProto request;
  *request.mutable_block() = block;
  request.mutable_block()->set_generationstamp(candidate.replica.generation_stamp);
  request.mutable_block()->set_numbytes(candidate.replica.length_bytes);
  request.set_recoveryid(recovery_id);
  request.set_newlength(length);
  UpdateReplicaUnderRecoveryResponseProto response;
  EBB_TRY(Call(candidate.server, "updateReplicaUnderRecovery", request, response, kCutTimeout));
  return response.storageuuid();
}

}  // namespace ebb::server
