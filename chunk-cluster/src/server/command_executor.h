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
  using Client = ActiveNamenode::Client;

  // `on_register` is called if the namenode orders a new registration, and `on_bandwidth` with the
  // bytes per second that moves of a balancer may take. `self` tells how this server is registered.
  CommandExecutor(BlockStore& store, ActiveNamenode& namenode, TaskQueue& tasks,
                  std::function<void()> on_register,
                  std::function<void(std::uint64_t)> on_bandwidth,
                  std::function<hadoop::hdfs::DatanodeIDProto()> self)
      : store_(store),
        namenode_(namenode),
        tasks_(tasks),
        on_register_(std::move(on_register)),
        on_bandwidth_(std::move(on_bandwidth)),
        self_(std::move(self)) {}

  // Queues the work and returns. Ignores the command if the namenode that gave it is not followed
  // any more: another namenode may count on what the command would destroy. Work that waits in the
  // queue when another namenode is followed is dropped; work that runs goes on. A block to be
  // removed is out of the store's map after the call, and its files are removed later: each disk
  // has a queue of its own, so that none waits for another.
  void Execute(const Client& from, const hadoop::hdfs::datanode::DatanodeCommandProto& command);

  // Waits for the removals that are running. Waiting removals are dropped: after a restart the
  // blocks are reported, and removed by a new order.
  void Stop();

  // Copies to other servers that are under way.
  [[nodiscard]] std::uint32_t copies() const { return copies_; }

 private:
  void Obey(const Client& from, const hadoop::hdfs::datanode::DatanodeCommandProto& command);
  void ObeyBlockCommand(const Client& from,
                        const hadoop::hdfs::datanode::BlockCommandProto& command);
  // Runs the task later, unless another namenode is followed by then.
  void Queue(const char* what, const Client& from, std::function<void()> task);
  void RemoveBlock(std::uint64_t block_id, std::uint64_t generation_stamp);
  [[nodiscard]] TaskQueue& RemovalsOf(const std::string& storage_uuid);
  void CopyBlock(const hadoop::hdfs::BlockProto& block, transfer::CopyTargets targets);
  [[nodiscard]] Status Relocate(const hadoop::hdfs::BlockProto& block,
                                const transfer::CopyTargets& targets);

  BlockStore& store_;
  ActiveNamenode& namenode_;
  TaskQueue& tasks_;
  const std::function<void()> on_register_;
  const std::function<void(std::uint64_t)> on_bandwidth_;
  const std::function<hadoop::hdfs::DatanodeIDProto()> self_;
  std::atomic<std::uint32_t> copies_ = 0;
  std::mutex mutex_;
  bool stopped_ = false;
  // By disk.
  std::map<std::string, std::unique_ptr<TaskQueue>> removals_;
};

}  // namespace ebb::server
