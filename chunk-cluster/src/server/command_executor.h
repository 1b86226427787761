// Executes the commands of the namenode: copies and removals of blocks, block recovery, a new
// registration.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "DatanodeProtocol.pb.h"
#include "common/error.h"
#include "disk/block_store.h"
#include "server/namenode_client.h"
#include "server/task_queue.h"

namespace ebb::server {

// Thread-safe. The objects passed in outlive the executor and its tasks.
class CommandExecutor {
 public:
  // `on_register` is called if the namenode orders a new registration.
  CommandExecutor(BlockStore& store, NamenodeClient& namenode, TaskQueue& tasks,
                  std::function<void()> on_register)
      : store_(store), namenode_(namenode), tasks_(tasks), on_register_(std::move(on_register)) {}

  // Queues the work and returns.
  void Execute(const hadoop::hdfs::datanode::DatanodeCommandProto& command);

  // Copies to other servers that are under way.
  [[nodiscard]] std::uint32_t copies() const { return copies_; }

 private:
  void ExecuteBlockCommand(const hadoop::hdfs::datanode::BlockCommandProto& command);
  void CopyBlock(const hadoop::hdfs::BlockProto& block,
                 const std::vector<hadoop::hdfs::DatanodeInfoProto>& servers,
                 const std::vector<std::string>& storages);

  BlockStore& store_;
  NamenodeClient& namenode_;
  TaskQueue& tasks_;
  const std::function<void()> on_register_;
  std::atomic<std::uint32_t> copies_ = 0;
};

}  // namespace ebb::server
