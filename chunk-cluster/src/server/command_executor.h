// Executes the commands of the namenode: copies and removals of blocks, block recovery, a new
// registration.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "DatanodeProtocol.pb.h"
#include "common/error.h"
#include "disk/block_store.h"
#include "server/active_namenode.h"
#include "server/task_queue.h"
#include "transfer/replica_copier.h"

namespace ebb::server {

// Thread-safe. The objects passed in outlive the executor and its tasks.
class CommandExecutor {
 public:
  // A recovery waits for other servers, for some seconds if they are silent. These threads lead the
  // recoveries of blocks and groups of which nothing is here.
  static constexpr std::size_t kRecoveryThreads = 8;
  static constexpr std::size_t kMaxRecoveries = 50'000;

  using Client = ActiveNamenode::Client;

  // `on_register` is called if the namenode orders a new registration, and `on_bandwidth` with the
  // bytes per second that moves of a balancer may take. `self` tells how this server is registered.
  CommandExecutor(BlockStore& store, ActiveNamenode& namenode, std::function<void()> on_register,
                  std::function<void(std::uint64_t)> on_bandwidth,
                  std::function<hadoop::hdfs::DatanodeIDProto()> self)
      : store_(store),
        namenode_(namenode),
        on_register_(std::move(on_register)),
        on_bandwidth_(std::move(on_bandwidth)),
        self_(std::move(self)) {}

  // Queues the work and returns. Ignores the command if the namenode that gave it is not followed
  // any more: another namenode may count on what the command would destroy. Work that waits in the
  // queue when another namenode is followed is dropped; work that runs goes on. A block to be
  // removed is out of the store's map after the call, and its files are removed later. Removals and
  // copies have a queue for each disk, recoveries one for each disk with a replica to recover, and
  // moves within this server one for each pair of disks, so that no disk waits for another. Of
  // several recoveries of a block that wait, only the newest runs: the namenode refuses the result
  // of the others.
  void Execute(const Client& from, const hadoop::hdfs::datanode::DatanodeCommandProto& command);

  // Waits for the work that is running. Waiting work is dropped: the namenode orders it again, a
  // removal after the block is reported.
  void Stop();

  // Copies to other servers that are under way.
  [[nodiscard]] std::uint32_t copies() const { return copies_; }

 private:
  void Obey(const Client& from, const hadoop::hdfs::datanode::DatanodeCommandProto& command);
  void ObeyBlockCommand(const Client& from,
                        const hadoop::hdfs::datanode::BlockCommandProto& command);
  // The task, unless another namenode is followed when it runs.
  [[nodiscard]] std::function<void()> WhileObeyed(const char* what, const Client& from,
                                                  std::function<void()> task);
  void QueueRecovery(const Client& from, const hadoop::hdfs::RecoveringBlockProto& block);
  // The storage of the replica to recover, or of a group's first block that is here; empty if none
  // is.
  [[nodiscard]] std::string DiskOf(const hadoop::hdfs::RecoveringBlockProto& recovering) const;
  void RecoverNewest(std::uint64_t block_id);
  void QueueCopy(const Client& from, const hadoop::hdfs::BlockProto& block,
                 transfer::CopyTargets targets);
  void RemoveBlock(std::uint64_t block_id, std::uint64_t generation_stamp);
  // True if the replica goes to another disk of this server, which is named.
  [[nodiscard]] bool MovesWithin(const transfer::CopyTargets& targets) const;
  void CopyBlock(const hadoop::hdfs::BlockProto& block, transfer::CopyTargets targets);
  [[nodiscard]] Status Relocate(const hadoop::hdfs::BlockProto& block,
                                const transfer::CopyTargets& targets);

  BlockStore& store_;
  ActiveNamenode& namenode_;
  const std::function<void()> on_register_;
  const std::function<void(std::uint64_t)> on_bandwidth_;
  const std::function<hadoop::hdfs::DatanodeIDProto()> self_;
  std::atomic<std::uint32_t> copies_ = 0;
  std::mutex mutex_;
  bool stopped_ = false;
  // By disk.
  std::map<std::string, std::unique_ptr<TaskQueue>> removals_;
  // By disk, or pair of disks.
  std::map<std::string, std::unique_ptr<TaskQueue>> copy_queues_;
  // The newest order for each block whose recovery waits, by the id of the block. Each has a task
  // in the queue of `disk`, and perhaps one in that of an earlier disk.
  struct RecoveryOrder {
    Client from;
    hadoop::hdfs::RecoveringBlockProto block;
    std::string disk;
  };
  std::map<std::uint64_t, RecoveryOrder> waiting_recoveries_;
  // By the disk of the replica on this server.
  std::map<std::string, std::unique_ptr<TaskQueue>> recoveries_;
};

}  // namespace ebb::server
