// The heartbeat of this server: DatanodeProtocol.sendHeartbeat.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
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
  // Calls that were queued at each disk on average, by the uuid of its storage; see QueueMeter.
  std::map<std::string, double> queued_calls = {};
};

// The number of a field that EbbFS adds to HDFS's StorageReportProto: the mean number of queued
// calls of the disk since the last heartbeat, in hundredths, as a varint. A stock namenode ignores
// it.
inline constexpr int kQueuedCallsField = 1060;

// The same for the calls of the disk that have failed lately: see RecentErrors. A disk without such
// calls has no field.
inline constexpr int kRecentErrorsField = 1061;

// Turns the call times of disks into the mean number of queued calls since the last measurement.
// Not thread-safe.
class QueueMeter {
 public:
  using Clock = std::chrono::steady_clock;
  // Disks without an earlier measurement are left out.
  [[nodiscard]] std::map<std::string, double> Measure(const std::vector<DiskStatus>& disks,
                                                      Clock::time_point now);

 private:
  Clock::time_point last_ = {};
  std::map<std::string, std::uint64_t> call_micros_;
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
