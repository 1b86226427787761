// DatanodeProtocol of one namenode, with one function for each call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "DatanodeProtocol.pb.h"
#include "common/error.h"
#include "rpc/client.h"

namespace ebb::server {

// True if the namenode does not know this server any more: it must register again.
[[nodiscard]] bool IsUnregistered(const Error& error);

// The entry of one disk in heartbeats and reports.
void FillStorage(hadoop::hdfs::DatanodeStorageProto& storage, const std::string& uuid);

// Thread-safe.
class NamenodeClient {
 public:
  NamenodeClient(std::string host, std::uint16_t port);

  [[nodiscard]] Result<hadoop::hdfs::NamespaceInfoProto> GetVersion();
  [[nodiscard]] Result<hadoop::hdfs::datanode::DatanodeRegistrationProto> Register(
      const hadoop::hdfs::datanode::DatanodeRegistrationProto& registration);
  [[nodiscard]] Result<hadoop::hdfs::datanode::HeartbeatResponseProto> Heartbeat(
      const hadoop::hdfs::datanode::HeartbeatRequestProto& request);
  [[nodiscard]] Result<hadoop::hdfs::datanode::BlockReportResponseProto> BlockReport(
      const hadoop::hdfs::datanode::BlockReportRequestProto& request);
  [[nodiscard]] Status BlockReceivedAndDeleted(
      const hadoop::hdfs::datanode::BlockReceivedAndDeletedRequestProto& request);
  [[nodiscard]] Status ReportBadBlocks(
      const hadoop::hdfs::datanode::ReportBadBlocksRequestProto& request);
  [[nodiscard]] Status ErrorReport(const hadoop::hdfs::datanode::ErrorReportRequestProto& request);
  [[nodiscard]] Status CommitBlockSynchronization(
      const hadoop::hdfs::datanode::CommitBlockSynchronizationRequestProto& request);

  [[nodiscard]] std::string address() const { return client_.server(); }

 private:
  RpcClient client_;
};

}  // namespace ebb::server
