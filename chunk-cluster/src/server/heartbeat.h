// The heartbeat of this server: DatanodeProtocol.sendHeartbeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "DatanodeProtocol.pb.h"
#include "common/error.h"
#include "disk/disk.h"
#include "server/namenode_client.h"

namespace ebb::server {

struct HeartbeatLoad {
  // Connections of the transfer server. The namenode calls them xceivers.
  std::size_t transfers = 0;
  // Copies of blocks to other servers that are under way.
  std::uint32_t copies = 0;
  // A full block report is due.
  bool wants_report_lease = false;
};

// Space and failures of every disk, and the load. Pure.
[[nodiscard]] hadoop::hdfs::datanode::HeartbeatRequestProto MakeHeartbeat(
    const hadoop::hdfs::datanode::DatanodeRegistrationProto& registration,
    const std::vector<DiskStatus>& disks, const HeartbeatLoad& load);

// Sends one heartbeat. The response holds the commands of the namenode.
[[nodiscard]] Result<hadoop::hdfs::datanode::HeartbeatResponseProto> SendHeartbeat(
    NamenodeClient& namenode, const hadoop::hdfs::datanode::DatanodeRegistrationProto& registration,
    const std::vector<DiskStatus>& disks, const HeartbeatLoad& load);

}  // namespace ebb::server
