#include "server/heartbeat.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ebb::server {

using namespace hadoop::hdfs::datanode;

std::map<std::string, double> QueueMeter::Measure(const std::vector<DiskStatus>& disks,
                                                  Clock::time_point now) {
  const auto micros = std::chrono::duration<double, std::micro>(now - last_).count();
  std::map<std::string, double> means;
  std::map<std::string, std::uint64_t> seen;
  for (const auto& disk : disks) {
    const auto before = call_micros_.find(disk.storage_uuid);
    if (before != call_micros_.end() && micros > 0) {
      means[disk.storage_uuid] =
          static_cast<double>(disk.load.call_micros - before->second) / micros;
    }
    seen[disk.storage_uuid] = disk.load.call_micros;
  }
  call_micros_ = std::move(seen);
  last_ = now;
  return means;
}

namespace {

std::uint64_t Hundredths(double value) {
  return static_cast<std::uint64_t>(std::llround(100 * value));
}

// Adds a field that the message's own definition does not have.
void AddUnknown(std::string& fields, int number, std::uint64_t value) {
  google::protobuf::io::StringOutputStream bytes(&fields);
  google::protobuf::io::CodedOutputStream out(&bytes);
  out.WriteTag(static_cast<std::uint32_t>(number) << 3U);  // wire type 0: a varint
  out.WriteVarint64(value);
}

}  // namespace

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
    if (const auto queued = load.queued_calls.find(disk.storage_uuid);
        queued != load.queued_calls.end()) {
      AddUnknown(*report.mutable_unknown_fields(), kQueuedCallsField, Hundredths(queued->second));
    }
    if (const auto errors = Hundredths(disk.recent_errors); errors > 0) {
      AddUnknown(*report.mutable_unknown_fields(), kRecentErrorsField, errors);
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
