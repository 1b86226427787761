#include "server/namenode_client.h"

#include <utility>

namespace ebb::server {

namespace {

using namespace hadoop::hdfs::datanode;

constexpr char kDatanodeProtocol[] = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";

template <typename Response>
Result<Response> Call(RpcClient& client, const char* method,
                      const google::protobuf::MessageLite& request, Timeout timeout) {
  Response response;
  EBB_TRY(client.Call(method, request, response, timeout));
  return response;
}

template <typename Response>
Status CallForNothing(RpcClient& client, const char* method,
                      const google::protobuf::MessageLite& request) {
  Response response;
  return client.Call(method, request, response);
}

}  // namespace

bool IsUnregistered(const Error& error) {
  return error.exception_class.ends_with("UnregisteredNodeException");
}

void FillStorage(hadoop::hdfs::DatanodeStorageProto& storage, const std::string& uuid,
                 StorageType type) {
  storage.set_storageuuid(uuid);
  storage.set_state(hadoop::hdfs::DatanodeStorageProto::NORMAL);
  storage.set_storagetype(static_cast<hadoop::hdfs::StorageTypeProto>(type));
}

NamenodeClient::NamenodeClient(const RpcAddress& address, const NamenodePatience& patience,
                               std::function<void()> on_lost)
    : address_(address),
      patience_(patience),
      calls_(address.host, address.port, kDatanodeProtocol, 1, {},
             {.connect_timeout = patience.connect, .on_lost = std::move(on_lost)}),
      reports_(address.host, address.port, kDatanodeProtocol, 1, {},
               {.connect_timeout = patience.connect}) {}

void NamenodeClient::Close() {
  calls_.Close();
  reports_.Close();
}

Result<hadoop::hdfs::NamespaceInfoProto> NamenodeClient::GetVersion() {
  EBB_ASSIGN(const auto response,
             Call<hadoop::hdfs::VersionResponseProto>(
                 calls_, "versionRequest", hadoop::hdfs::VersionRequestProto(), patience_.answer));
  return response.info();
}

Result<DatanodeRegistrationProto> NamenodeClient::Register(
    const DatanodeRegistrationProto& registration) {
  RegisterDatanodeRequestProto request;
  *request.mutable_registration() = registration;
  EBB_ASSIGN(const auto response, Call<RegisterDatanodeResponseProto>(
                                      calls_, "registerDatanode", request, patience_.registration));
  return response.registration();
}

Result<HeartbeatResponseProto> NamenodeClient::Heartbeat(const HeartbeatRequestProto& request) {
  return Call<HeartbeatResponseProto>(calls_, "sendHeartbeat", request, patience_.answer);
}

Result<BlockReportResponseProto> NamenodeClient::BlockReport(
    const BlockReportRequestProto& request) {
  BlockReportResponseProto response;
  EBB_TRY(reports_.Call("blockReport", request, response));
  return response;
}

Status NamenodeClient::BlockReceivedAndDeleted(const BlockReceivedAndDeletedRequestProto& request) {
  return CallForNothing<BlockReceivedAndDeletedResponseProto>(calls_, "blockReceivedAndDeleted",
                                                              request);
}

Status NamenodeClient::ReportBadBlocks(const ReportBadBlocksRequestProto& request) {
  return CallForNothing<ReportBadBlocksResponseProto>(calls_, "reportBadBlocks", request);
}

Status NamenodeClient::ErrorReport(const ErrorReportRequestProto& request) {
  return CallForNothing<ErrorReportResponseProto>(calls_, "errorReport", request);
}

Status NamenodeClient::CommitBlockSynchronization(
    const CommitBlockSynchronizationRequestProto& request) {
  return CallForNothing<CommitBlockSynchronizationResponseProto>(
      calls_, "commitBlockSynchronization", request);
}

}  // namespace ebb::server
