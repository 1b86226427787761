#include "server/heartbeat.h"

#include <algorithm>
#include <utility>

namespace ebb::server {

using namespace hadoop::hdfs::datanode;

HeartbeatRequestProto MakeHeartbeat(const DatanodeRegistrationProto& registration,
                                    const std::vector<DiskStatus>& disks,
                                    const HeartbeatLoad& load) {
  HeartbeatRequestProto request;
  *request.mutable_registration() = registration;
  VolumeFailureSummaryProto failures;
  std::uint64_t last_failure = 0;
  for (const auto& disk : disks) {
    if (disk.failed) {
      failures.add_failedstoragelocations(disk.directory);
      last_failure = std::max(last_failure, disk.failed_at_millis);
      if (disk.storage_uuid.empty()) continue;
    }
    auto& report = *request.add_reports();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // HDFS still requires this field
    report.set_storageuuid(disk.storage_uuid);
#pragma GCC diagnostic pop
    report.set_failed(disk.failed);
    report.set_capacity(disk.capacity_bytes);
    report.set_dfsused(disk.used_bytes);
    report.set_blockpoolused(disk.used_bytes);
    // Nobody should write to a disk that does not answer.
    report.set_remaining(disk.slow ? 0 : disk.remaining_bytes);
    if (disk.slow) {
      auto& slow = *request.add_slowdisks();
      slow.set_basepath(disk.directory);
      slow.set_meanwriteiolatency(static_cast<double>(disk.probe_millis));
    }
    const std::uint64_t known = disk.used_bytes + disk.remaining_bytes;
    report.set_nondfsused(disk.capacity_bytes > known ? disk.capacity_bytes - known : 0);
    FillStorage(*report.mutable_storage(), disk.storage_uuid, disk.type);
  }
  request.set_failedvolumes(static_cast<std::uint32_t>(failures.failedstoragelocations_size()));
  if (request.failedvolumes() > 0) {
    failures.set_lastvolumefailuredate(last_failure);
    failures.set_estimatedcapacitylosttotal(0);
    *request.mutable_volumefailuresummary() = std::move(failures);
  }
  request.set_xceivercount(static_cast<std::uint32_t>(load.transfers));
  request.set_xmitsinprogress(load.copies);
  if (load.wants_report_lease) request.set_requestfullblockreportlease(true);
  return request;
}

Result<HeartbeatResponseProto> SendHeartbeat(NamenodeClient& namenode,
                                             const DatanodeRegistrationProto& registration,
                                             const std::vector<DiskStatus>& disks,
                                             const HeartbeatLoad& load) {
  return namenode.Heartbeat(MakeHeartbeat(registration, disks, load));
}

}  // namespace ebb::server
