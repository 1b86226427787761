#include "server/command_executor.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "server/block_recovery.h"
#include "transfer/wire.h"

namespace ebb::server {

using namespace hadoop::hdfs;
using namespace hadoop::hdfs::datanode;

namespace {

// Of one disk.
constexpr std::size_t kMaxRemovals = 1'000'000;
constexpr std::size_t kMaxCopies = 50'000;
constexpr std::size_t kCopyThreads = 4;
constexpr std::size_t kRecoveryThreadsOfDisk = 4;
// Of a pair of disks.
constexpr std::size_t kMoveThreads = 2;

TaskQueue& QueueOf(std::map<std::string, std::unique_ptr<TaskQueue>>& queues,
                   const std::string& storage_uuid, std::size_t threads, std::size_t limit) {
  auto& queue = queues[storage_uuid];
  if (!queue) queue = std::make_unique<TaskQueue>(threads, limit);
  return *queue;
}

}  // namespace

void CommandExecutor::Execute(const Client& from, const DatanodeCommandProto& command) {
  if (!namenode_.WhileFollowed(from, [&] { Obey(from, command); })) {
    spdlog::warn("ignored a late command of namenode {}: this server follows {} now",
                 from->address().Text(), namenode_.followed()->address().Text());
  }
}

std::function<void()> CommandExecutor::WhileObeyed(const char* what, const Client& from,
                                                   std::function<void()> task) {
  return [this, what, from, task = std::move(task)] {
    if (namenode_.followed() == from) {
      task();
    } else {
      spdlog::info("dropped a task ({}) of namenode {}, which is not followed any more", what,
                   from->address().Text());
    }
  };
}

void CommandExecutor::Obey(const Client& from, const DatanodeCommandProto& command) {
  switch (command.cmdtype()) {
    case DatanodeCommandProto::BlockCommand:
      ObeyBlockCommand(from, command.blkcmd());
      return;
    case DatanodeCommandProto::RegisterCommand:
      spdlog::info("the namenode asks for a registration");
      on_register_();
      return;
    case DatanodeCommandProto::BlockRecoveryCommand:
      for (const auto& block : command.recoverycmd().blocks()) QueueRecovery(from, block);
      return;
    case DatanodeCommandProto::NullDatanodeCommand:
    case DatanodeCommandProto::FinalizeCommand:
    case DatanodeCommandProto::KeyUpdateCommand:
      return;
    case DatanodeCommandProto::BalancerBandwidthCommand:
      spdlog::info("the namenode allows moves of a balancer {} bytes per second",
                   command.balancercmd().bandwidth());
      on_bandwidth_(command.balancercmd().bandwidth());
      return;
    default:
      break;
  }
  spdlog::info("ignored the namenode's command {}: a chunk server does not support it",
               DatanodeCommandProto::Type_Name(command.cmdtype()));
}

void CommandExecutor::ObeyBlockCommand(const Client& from, const BlockCommandProto& command) {
  if (command.blockpoolid() != store_.block_pool_id()) {
    spdlog::warn("ignored a command for block pool {}: this server holds pool {}",
                 command.blockpoolid(), store_.block_pool_id());
    return;
  }
  if (command.action() == BlockCommandProto::SHUTDOWN) {
    spdlog::warn("ignored the namenode's request to shut down: stop this server by hand");
    return;
  }
  for (int i = 0; i < command.blocks_size(); ++i) {
    const auto& block = command.blocks(i);
    if (command.action() == BlockCommandProto::INVALIDATE) {
      RemoveBlock(block.blockid(), block.genstamp());
      continue;
    }
    if (i >= command.targets_size()) continue;
    const auto& targets = command.targets(i).datanodes();
    transfer::CopyTargets to;
    to.servers.assign(targets.begin(), targets.end());
    if (i < command.targetstorageuuids_size()) {
      const auto& uuids = command.targetstorageuuids(i).storageuuids();
      to.storage_uuids.assign(uuids.begin(), uuids.end());
    }
    if (i < command.targetstoragetypes_size()) {
      for (const int type : command.targetstoragetypes(i).storagetypes()) {
        to.storage_types.push_back(static_cast<StorageTypeProto>(type));
      }
    }
    QueueCopy(from, block, std::move(to));
  }
}

void CommandExecutor::QueueRecovery(const Client& from, const RecoveringBlockProto& block) {
  const std::uint64_t block_id = block.block().b().blockid();
  const std::string disk = DiskOf(block);
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  const auto waiting = waiting_recoveries_.find(block_id);
  const bool waits = waiting != waiting_recoveries_.end();
  if (waits) {
    auto& order = waiting->second;
    if (order.from != from || order.block.newgenstamp() < block.newgenstamp()) {
      order.from = from;
      order.block = block;
    }
  }
  auto& queue = QueueOf(recoveries_, disk,
                        disk.empty() ? kRecoveryThreads : kRecoveryThreadsOfDisk, kMaxRecoveries);
  // For a block that waits already, too: a thread that could not start before may start now.
  const auto room = queue.CheckRoom();
  if (waits && waiting->second.disk == disk) return;
  if (!room) {
    spdlog::warn("block {} is not recovered: {}; the namenode orders it again", block_id,
                 room.error().message);
    return;
  }
  // Of a replica that is on another disk now, or was dropped with its disk, the old queue may hang.
  if (waits) {
    waiting->second.disk = disk;
  } else {
    waiting_recoveries_.emplace(block_id, RecoveryOrder{from, block, disk});
  }
  queue.Add("block recovery", [this, block_id] { RecoverNewest(block_id); });
}

std::string CommandExecutor::DiskOf(const RecoveringBlockProto& recovering) const {
  const std::uint64_t block_id = recovering.block().b().blockid();
  const auto& locations = recovering.block().locs();
  const auto disk_of = [this](std::uint64_t id) {
    const auto found = store_.Find(id);
    return found ? found->storage_uuid : std::string();
  };
  if (!recovering.has_ecpolicy()) return disk_of(block_id);
  const std::string& indices = recovering.blockindices();
  const auto count = std::min(indices.size(), static_cast<std::size_t>(locations.size()));
  for (std::size_t i = 0; i < count; ++i) {
    const auto& holder = locations.at(static_cast<int>(i)).id();
    if (holder.datanodeuuid() != store_.server_uuid()) continue;
    auto disk = disk_of(block_id + static_cast<std::uint8_t>(indices[i]));
    if (!disk.empty()) return disk;
  }
  return {};
}

void CommandExecutor::RecoverNewest(std::uint64_t block_id) {
  std::unique_lock lock(mutex_);
  const auto taken = waiting_recoveries_.extract(block_id);
  lock.unlock();
  // A block that waits in two queues is recovered by the first that gets to it.
  if (taken.empty()) return;
  const auto& order = taken.mapped();
  WhileObeyed("block recovery", order.from, [&] {
    if (auto recovered = RecoverBlock(store_, namenode_, order.block); !recovered) {
      spdlog::warn("block recovery failed: {}", recovered.error().message);
    }
  })();
}

void CommandExecutor::QueueCopy(const Client& from, const BlockProto& block,
                                transfer::CopyTargets targets) {
  const auto found = store_.Find(block.blockid());
  std::string key = found ? found->storage_uuid : "";
  const bool moves = MovesWithin(targets);
  if (moves) key += " to " + targets.storage_uuids.front();
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  QueueOf(copy_queues_, key, moves ? kMoveThreads : kCopyThreads, kMaxCopies)
      .Add("copy of a block",
           WhileObeyed("copy of a block", from, [this, block, targets = std::move(targets)] {
             CopyBlock(block, targets);
           }));
}

void CommandExecutor::RemoveBlock(std::uint64_t block_id, std::uint64_t generation_stamp) {
  const auto found = store_.Find(block_id);
  if (!found) return;
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  auto& removals = QueueOf(removals_, found->storage_uuid, 1, kMaxRemovals);
  // Before the block is forgotten: another order would not find it.
  if (const auto room = removals.CheckRoom(); !room) {
    spdlog::warn("block {} is not removed from disk {}: {}; the namenode orders it again", block_id,
                 found->storage_uuid, room.error().message);
    return;
  }
  auto forgotten = store_.Forget(block_id, generation_stamp);
  if (!forgotten) return;
  removals.Add("removal of a block", [this, block_id, forgotten = std::move(forgotten)] {
    store_.RemoveFiles(*forgotten);
    spdlog::debug("block {} removed", block_id);
  });
}

void CommandExecutor::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  for (auto& [storage, queue] : recoveries_) queue->Stop();
  for (auto& [storage, queue] : copy_queues_) queue->Stop();
  for (auto& [storage, queue] : removals_) queue->Stop();
}

bool CommandExecutor::MovesWithin(const transfer::CopyTargets& targets) const {
  return !targets.servers.empty() && !targets.storage_uuids.empty() &&
         targets.servers.front().id().datanodeuuid() == store_.server_uuid();
}

// The namenode wants the replica on another disk of this server.
ebb::Status CommandExecutor::Relocate(const BlockProto& block,
                                      const transfer::CopyTargets& targets) {
  if (targets.storage_uuids.empty()) {
    return Fail(ErrorCode::kInvalid,
                "a replica moves within its server only to a storage that the namenode names");
  }
  return store_.Relocate(block.blockid(), block.genstamp(),
                         {.storage_uuid = targets.storage_uuids.front()});
}

void CommandExecutor::CopyBlock(const BlockProto& block, transfer::CopyTargets targets) {
  if (targets.servers.empty()) return;
  ++copies_;
  const auto copy = [&]() -> ebb::Status {
    if (targets.servers.front().id().datanodeuuid() == store_.server_uuid()) {
      return Relocate(block, targets);
    }
    EBB_ASSIGN(const auto replica, store_.OpenReader(block.blockid(), block.genstamp()));
    return transfer::CopyReplica(*replica, store_.block_pool_id(), targets, "");
  };
  targets.source = self_();
  const auto copied = copy();
  --copies_;
  const auto to = transfer::TransferAddress(targets.servers.front().id());
  if (copied) {
    spdlog::info("block {} copied to {}", block.blockid(), to);
  } else {
    spdlog::warn("block {} could not be copied to {}: {}", block.blockid(), to,
                 copied.error().message);
  }
}

}  // namespace ebb::server
