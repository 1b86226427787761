// What the namenode is told about this server's blocks: full block reports, incremental reports
// (blockReceivedAndDeleted) and reports of corrupt blocks.
#pragma once

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
#include "server/namenode_client.h"

namespace ebb::server {

// Thread-safe. A thread of its own sends incremental reports as soon as there are changes.
class BlockReporter {
 public:
  struct Events {
    // The namenode does not know this server any more. Called without a lock held.
    std::function<void()> on_unregistered;
    // Changes were dropped because too many waited: a full report must follow.
    std::function<void()> on_full_report_needed;
  };

  // `store` and `namenode` outlive the reporter.
  BlockReporter(BlockStore& store, NamenodeClient& namenode, Events events);
  // Stops.
  ~BlockReporter();
  BlockReporter(const BlockReporter&) = delete;
  BlockReporter& operator=(const BlockReporter&) = delete;

  void Start();
  void Stop();

  // Incremental reports are sent from now on, with this registration.
  void SetRegistered(const hadoop::hdfs::datanode::DatanodeRegistrationProto& registration);
  // Incremental reports wait until the next SetRegistered.
  void SetUnregistered();

  // Sends a full block report of every disk. The result is the namenode's command, if it has one.
  [[nodiscard]] Result<std::optional<hadoop::hdfs::datanode::DatanodeCommandProto>> ReportAll();

  // Queues the change, then waits up to 100 ms until the namenode was told. So the namenode usually
  // knows a block before the client tries to close the file.
  void ReportStored(const ReplicaInfo& replica);
  // Queues the change.
  void ReportDeleted(const ReplicaInfo& replica);
  // Tells the namenode at once, on the calling thread.
  [[nodiscard]] Status ReportCorrupt(const ReplicaInfo& replica);

 private:
  using BlockChange = hadoop::hdfs::datanode::ReceivedDeletedBlockInfoProto;

  void RunIncremental();
  [[nodiscard]] Status SendIncremental();
  void Enqueue(const ReplicaInfo& replica, BlockChange::BlockStatus status);
  [[nodiscard]] hadoop::hdfs::datanode::DatanodeRegistrationProto registration() const;

  BlockStore& store_;
  NamenodeClient& namenode_;
  const Events events_;

  // Held while a report is sent. A full report that overtakes an incremental one would bring a
  // deleted block back at the namenode. Taken before mutex_.
  std::mutex sending_;

  mutable std::mutex mutex_;
  bool stopping_ = false;
  bool registered_ = false;
  hadoop::hdfs::datanode::DatanodeRegistrationProto registration_;
  // Changes by storage that the namenode was not told of, oldest first.
  std::map<std::string, std::vector<BlockChange>> changes_;
  std::size_t change_count_ = 0;
  // Changes are numbered from 1. `delivered_` is the number up to which the namenode was told.
  std::uint64_t enqueued_ = 0;
  std::uint64_t delivered_ = 0;
  // The last incremental report failed.
  bool failing_ = false;
  std::condition_variable changes_wake_;
  std::condition_variable delivered_wake_;

  std::thread thread_;
};

}  // namespace ebb::server
