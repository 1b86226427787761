// DatanodeProtocol at one namenode, with one function for each call.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "DatanodeProtocol.pb.h"
#include "common/error.h"
#include "disk/storage_type.h"
#include "rpc/address.h"
#include "rpc/client.h"

namespace ebb::server {

// True if the namenode does not know this server any more: it must register again.
[[nodiscard]] bool IsUnregistered(const Error& error);

// The entry of one disk in heartbeats and reports.
void FillStorage(hadoop::hdfs::DatanodeStorageProto& storage, const std::string& uuid,
                 StorageType type);

// How long a namenode may take. Reports have the time-out of other calls.
struct NamenodePatience {
  Timeout connect = std::chrono::seconds(10);
  // Of versionRequest and sendHeartbeat.
  Timeout answer = std::chrono::seconds(60);
  Timeout registration = std::chrono::seconds(60);
};

// Thread-safe. One object is one session with the namenode: after Close every call fails with
// kShutdown, and no answer arrives any more.
class NamenodeClient {
 public:
  // `on_lost` is called if the namenode ends the connection of calls other than full reports.
  explicit NamenodeClient(const RpcAddress& address, const NamenodePatience& patience = {},
                          std::function<void()> on_lost = {});

  void Close();

  [[nodiscard]] Result<hadoop::hdfs::NamespaceInfoProto> GetVersion();
  [[nodiscard]] Result<hadoop::hdfs::datanode::DatanodeRegistrationProto> Register(
      const hadoop::hdfs::datanode::DatanodeRegistrationProto& registration);
  [[nodiscard]] Result<hadoop::hdfs::datanode::HeartbeatResponseProto> Heartbeat(
      const hadoop::hdfs::datanode::HeartbeatRequestProto& request);
  // Over a connection of its own: the namenode may take long for it.
  [[nodiscard]] Result<hadoop::hdfs::datanode::BlockReportResponseProto> BlockReport(
      const hadoop::hdfs::datanode::BlockReportRequestProto& request);
  [[nodiscard]] Status BlockReceivedAndDeleted(
      const hadoop::hdfs::datanode::BlockReceivedAndDeletedRequestProto& request);
  [[nodiscard]] Status ReportBadBlocks(
      const hadoop::hdfs::datanode::ReportBadBlocksRequestProto& request);
  [[nodiscard]] Status ErrorReport(const hadoop::hdfs::datanode::ErrorReportRequestProto& request);
  [[nodiscard]] Status CommitBlockSynchronization(
      const hadoop::hdfs::datanode::CommitBlockSynchronizationRequestProto& request);

  [[nodiscard]] const RpcAddress& address() const { return address_; }

 private:
  const RpcAddress address_;
  const NamenodePatience patience_;
  RpcClient calls_;
  RpcClient reports_;
};

}  // namespace ebb::server
