#include "server/namenode_client.h"

namespace ebb::server {

namespace {

using namespace hadoop::hdfs::datanode;

constexpr char kDatanodeProtocol[] = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";

template <typename Response>
Result<Response> Call(RpcClient& client, const char* method,
                      const google::protobuf::MessageLite& request) {
  Response response;
  EBB_TRY(client.Call(method, request, response));
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

void FillStorage(hadoop::hdfs::DatanodeStorageProto& storage, const std::string& uuid) {
  storage.set_storageuuid(uuid);
  storage.set_state(hadoop::hdfs::DatanodeStorageProto::NORMAL);
  storage.set_storagetype(hadoop::hdfs::DISK);
}

NamenodeClient::NamenodeClient(std::string host, std::uint16_t port)
    : client_(std::move(host), port, kDatanodeProtocol, 1) {}

Result<hadoop::hdfs::NamespaceInfoProto> NamenodeClient::GetVersion() {
  EBB_ASSIGN(const auto response,
             Call<hadoop::hdfs::VersionResponseProto>(client_, "versionRequest",
                                                      hadoop::hdfs::VersionRequestProto()));
  return response.info();
}

Result<DatanodeRegistrationProto> NamenodeClient::Register(
    const DatanodeRegistrationProto& registration) {
  RegisterDatanodeRequestProto request;
  *request.mutable_registration() = registration;
  EBB_ASSIGN(const auto response,
             Call<RegisterDatanodeResponseProto>(client_, "registerDatanode", request));
  return response.registration();
}

Result<HeartbeatResponseProto> NamenodeClient::Heartbeat(const HeartbeatRequestProto& request) {
  return Call<HeartbeatResponseProto>(client_, "sendHeartbeat", request);
}

Result<BlockReportResponseProto> NamenodeClient::BlockReport(
    const BlockReportRequestProto& request) {
  return Call<BlockReportResponseProto>(client_, "blockReport", request);
}

Status NamenodeClient::BlockReceivedAndDeleted(const BlockReceivedAndDeletedRequestProto& request) {
  return CallForNothing<BlockReceivedAndDeletedResponseProto>(client_, "blockReceivedAndDeleted",
                                                              request);
}

Status NamenodeClient::ReportBadBlocks(const ReportBadBlocksRequestProto& request) {
  return CallForNothing<ReportBadBlocksResponseProto>(client_, "reportBadBlocks", request);
}

Status NamenodeClient::ErrorReport(const ErrorReportRequestProto& request) {
  return CallForNothing<ErrorReportResponseProto>(client_, "errorReport", request);
}

Status NamenodeClient::CommitBlockSynchronization(
    const CommitBlockSynchronizationRequestProto& request) {
  return CallForNothing<CommitBlockSynchronizationResponseProto>(
      client_, "commitBlockSynchronization", request);
}

}  // namespace ebb::server
