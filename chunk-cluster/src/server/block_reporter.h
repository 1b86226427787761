// What the namenode is told about this server's blocks: full block reports, incremental reports
// (blockReceivedAndDeleted) and reports of corrupt blocks.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "DatanodeProtocol.pb.h"
#include "common/error.h"
#include "disk/block_store.h"
#include "server/active_namenode.h"

namespace ebb::server {

struct BlockReporterOptions {
  std::chrono::seconds full_report_interval = std::chrono::hours(6);
};

// Thread-safe. Reports go to the namenode of the last SetRegistered. A thread of its own sends
// incremental reports as soon as there are changes. Another thread sends full reports, one call for
// each disk: the namenode may
// take long for them. Heartbeats never wait for a report, and incremental reports at most for the
// report of one disk.
//
// The namenode limits the number of servers that report at a time. A heartbeat asks for a lease
// while WantsLease, and the thread reports once GrantLease was called.
class BlockReporter {
 public:
  using Client = ActiveNamenode::Client;

  struct Events {
    // The namenode does not know this server any more. Called without a lock held.
    std::function<void(const Client&)> on_unregistered;
    // A report failed. Called without a lock held.
    std::function<void()> on_failed;
    // A full report is due and needs a lease. Called without a lock held.
    std::function<void()> on_full_report_due;
    // The namenode answered a full report with a command. Called without a lock held.
    std::function<void(const Client&, const hadoop::hdfs::datanode::DatanodeCommandProto&)>
        on_command;
  };

  // `store` outlives the reporter.
  BlockReporter(BlockReporterOptions options, BlockStore& store, Events events);
  // Stops.
  ~BlockReporter();
  BlockReporter(const BlockReporter&) = delete;
  BlockReporter& operator=(const BlockReporter&) = delete;

  void Start();
  void Stop();

  // Incremental reports go to this namenode from now on, with this registration, and a full report
  // is due.
  void SetRegistered(Client namenode,
                     const hadoop::hdfs::datanode::DatanodeRegistrationProto& registration);
  // Incremental reports wait until the next SetRegistered.
  void SetUnregistered();

  // A full report is due, whatever the schedule says.
  void RequestFullReport();
  // Changes that wait because a report failed are told at once. Other changes never wait, so
  // without such changes nothing is sent.
  void RequestIncrementalReport();
  // A full report is due, and no lease was granted for it.
  [[nodiscard]] bool WantsLease() const;
  // The namenode allows a full report with this lease. 0 for a namenode that gives no leases.
  void GrantLease(std::uint64_t lease);

  // Queues the change, then waits up to 100 ms until the namenode was told. So the namenode usually
  // knows a block before the client tries to close the file.
  void ReportStored(const ReplicaInfo& replica);
  // Queues the change.
  void ReportDeleted(const ReplicaInfo& replica);
  // Tells the namenode at once, on the calling thread.
  [[nodiscard]] Status ReportCorrupt(const ReplicaInfo& replica);
  // For a replica of another server. No disk is named: the namenode asks the holder.
  [[nodiscard]] Status ReportCorruptAt(const hadoop::hdfs::DatanodeIDProto& peer,
                                       const hadoop::hdfs::ExtendedBlockProto& block);

 private:
  using BlockChange = hadoop::hdfs::datanode::ReceivedDeletedBlockInfoProto;

  // By storage, oldest first.
  using Changes = std::map<std::string, std::vector<BlockChange>>;
  using Clock = std::chrono::steady_clock;

  // Where reports go, and the registration that they name.
  struct Session {
    Client namenode;
    hadoop::hdfs::datanode::DatanodeRegistrationProto registration;
    // Grows with each registration.
    std::uint64_t number = 0;
  };

  void RunIncremental();
  // Sends all changes that wait, in as many calls as needed. The caller holds sending_.
  [[nodiscard]] Status SendIncremental(const Session& session);
  // Sends as many changes as one call may have, those of a storage in their order, and removes
  // them.
  [[nodiscard]] Status SendFirst(const Session& session, Changes& changes);
  void RunFull();
  // Reports every disk under one lease.
  [[nodiscard]] Status SendFull(const Session& session, std::uint64_t lease);
  [[nodiscard]] Status SendDisk(const Session& session, const std::string& storage_uuid,
                                const hadoop::hdfs::datanode::BlockReportContextProto& context);
  // Without a holder this server is meant. Without a storage the holder is suspected only.
  [[nodiscard]] Status ReportBad(const hadoop::hdfs::ExtendedBlockProto& block,
                                 const std::optional<hadoop::hdfs::DatanodeIDProto>& holder,
                                 const std::string& storage_uuid);
  void Enqueue(const ReplicaInfo& replica, BlockChange::BlockStatus status);

  const BlockReporterOptions options_;
  BlockStore& store_;
  const Events events_;

  // Held while one call of a report is sent. A full report that overtakes an incremental one would
  // bring a deleted block back at the namenode. Taken before mutex_.
  std::mutex sending_;

  mutable std::mutex mutex_;
  bool stopping_ = false;
  bool registered_ = false;
  Session session_;
  // Changes that the namenode was not told of.
  Changes changes_;
  std::size_t change_count_ = 0;
  // Changes are numbered from 1. `delivered_` is the number up to which the namenode was told.
  std::uint64_t enqueued_ = 0;
  std::uint64_t delivered_ = 0;
  // The last incremental report failed.
  bool failing_ = false;
  // The next incremental report does not wait after a failure.
  bool tell_now_ = false;
  // Of full reports.
  bool full_due_ = false;
  std::optional<std::uint64_t> lease_;
  std::condition_variable full_wake_;
  std::condition_variable changes_wake_;
  std::condition_variable delivered_wake_;

  std::thread incremental_thread_;
  std::thread full_thread_;
};

}  // namespace ebb::server
