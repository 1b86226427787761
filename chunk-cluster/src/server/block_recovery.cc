#include "server/block_recovery.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "server/group_recovery.h"
#include "server/recovery_steps.h"

namespace ebb::server {

namespace {

using namespace hadoop::hdfs;

// Which replicas take part, and the length that they get, if the file of the block is truncated
// within the block: those of the best state that have as many bytes. An earlier attempt may have
// cut some of them already.
Result<std::uint64_t> ChooseToCut(std::vector<Candidate>& candidates, std::uint64_t block_id,
                                  std::uint64_t length) {
  const auto longest = std::ranges::max(candidates, {}, [](const Candidate& c) {
                         return c.replica.length_bytes;
                       }).replica.length_bytes;
  std::erase_if(candidates, [&](const Candidate& c) { return c.replica.length_bytes < length; });
  if (candidates.empty()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} is to be cut to {} bytes, and its longest replica has {}; "
                            "the namenode tries again",
                            block_id, length, longest));
  }
  const auto best = std::ranges::min(candidates, {}, [](const Candidate& c) {
                      return c.replica.state;
                    }).replica.state;
  std::erase_if(candidates, [&](const Candidate& c) { return c.replica.state != best; });
  return length;
}

// Finalized replicas decide the length. Without any, the shortest replica in the best state
// decides. Removes the candidates that do not take part.
std::uint64_t ChooseLength(std::vector<Candidate>& candidates, std::uint64_t block_stamp) {
  const auto best = std::ranges::min(candidates, {}, [](const Candidate& c) {
                      return c.replica.state;
                    }).replica.state;
  // An earlier attempt has cut and finalized some replicas, and ended before it came to all.
  const bool was_cut = std::ranges::any_of(candidates, [&](const Candidate& c) {
    return c.replica.state == ReplicaState::kFinalized && c.replica.generation_stamp > block_stamp;
  });
  std::erase_if(candidates, [&](const Candidate& c) {
    return c.replica.state != best && !was_cut &&
           !(best == ReplicaState::kFinalized && c.replica.state == ReplicaState::kBeingWritten);
  });
  std::uint64_t length = ~std::uint64_t{0};
  for (const auto& c : candidates) {
    if (c.replica.state == best) length = std::min(length, c.replica.length_bytes);
  }
  // A replica that is not finalized takes part only if it has the same length as the finalized
  // ones, or if the earlier attempt would have cut it to that length.
  std::erase_if(candidates, [&](const Candidate& c) {
    return c.replica.state != best &&
           (was_cut ? c.replica.length_bytes < length : c.replica.length_bytes != length);
  });
  return length;
}

// The namenode knows that so many bytes were acknowledged. A shorter replica has lost some of them,
// for example with the power, and takes no part while another one has them.
void LeaveOutLosers(std::vector<Candidate>& candidates, std::uint64_t known_bytes) {
  const auto has_all = [&](const Candidate& c) { return c.replica.length_bytes >= known_bytes; };
  if (std::ranges::any_of(candidates, has_all)) std::erase_if(candidates, std::not_fn(has_all));
}

// The holder gave no answer. One that answers with an error, for example because its replica is of
// an older write, has no bytes that count.
bool IsSilent(const Error& error) {
  return error.code == ErrorCode::kNetwork || error.code == ErrorCode::kTimeout;
}

std::unexpected<Error> Waits(const RecoveringBlockProto& recovering, const DatanodeIDProto& holder,
                             const Error& why) {
  return Fail(ErrorCode::kNotReady,
              fmt::format("recovery {} of block {} waits for {}:{}: {}; the namenode tries again",
                          recovering.newgenstamp(), recovering.block().b().blockid(),
                          holder.ipaddr(), holder.ipcport(), why.message));
}

}  // namespace

Status RecoverBlock(BlockStore& store, const ActiveNamenode& namenode,
                    const RecoveringBlockProto& recovering) {
  const auto& block = recovering.block().b();
  const std::uint64_t recovery_id = recovering.newgenstamp();
  if (recovering.has_ecpolicy()) return RecoverGroup(store, namenode, recovering);
  if (recovering.has_truncateblock() &&
      recovering.truncateblock().blockid() != block.blockid()) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("block {} is to be truncated into a copy, block {}: only a truncation "
                            "in place is supported",
                            block.blockid(), recovering.truncateblock().blockid()));
  }
  std::vector<Candidate> candidates;
  int unreachable = 0;
  // Of them, those of which nothing is known.
  int silent = 0;
  // A holder that was in the pipeline and has no byte: nobody was told that any byte is stored.
  bool empty = false;
  const auto& locations = recovering.block().locs();
  const auto answers =
      AtTheSameTime(static_cast<std::size_t>(locations.size()), [&](std::size_t i) {
        return InitReplicaRecovery(store, locations.at(static_cast<int>(i)).id(), recovering);
      });
  for (int i = 0; i < locations.size(); ++i) {
    const auto& location = locations.at(i);
    const auto& found = answers[static_cast<std::size_t>(i)];
    if (!found && IsNotReady(found.error())) {
      // Its replica may be the longest, or the only one.
      return Waits(recovering, location.id(), found.error());
    }
    if (!found) {
      ++unreachable;
      if (IsSilent(found.error())) ++silent;
      spdlog::warn("recovery {} of block {}: {}:{} does not take part: {}", recovery_id,
                   block.blockid(), location.id().ipaddr(), location.id().ipcport(),
                   found.error().message);
    } else if (*found && (*found)->generation_stamp >= block.generationstamp() &&
               (*found)->length_bytes > 0 && (*found)->state <= ReplicaState::kWaiting) {
      candidates.push_back({location.id(), **found});
    } else if (*found) {
      empty |= (*found)->generation_stamp >= block.generationstamp() &&
               (*found)->length_bytes == 0 && (*found)->state <= ReplicaState::kBeingWritten;
    }
  }
  if (candidates.empty() && unreachable > 0 && !empty) {
    return Fail(ErrorCode::kNetwork,
                fmt::format("no holder of block {} takes part in its recovery: {} did not answer "
                            "or cannot tell; the namenode tries again",
                            block.blockid(), unreachable));
  }
  datanode::CommitBlockSynchronizationRequestProto commit;
  *commit.mutable_block() = block;
  commit.set_newgenstamp(recovery_id);
  commit.set_closefile(true);
  commit.set_deleteblock(candidates.empty());
  commit.set_newlength(0);
  if (!candidates.empty()) {
    Result<std::uint64_t> chosen = 0;
    if (recovering.has_truncateblock()) {
      chosen = ChooseToCut(candidates, block.blockid(), recovering.truncateblock().numbytes());
      if (!chosen) return std::unexpected(chosen.error());
    } else {
      LeaveOutLosers(candidates, block.numbytes());
      chosen = ChooseLength(candidates, block.generationstamp());
      if (*chosen < block.numbytes() && silent > 0) {
        return Fail(ErrorCode::kNetwork,
                    fmt::format("{} bytes of block {} were acknowledged, and no holder that answers "
                                "has more than {}; {} did not answer; the namenode tries again",
                                block.numbytes(), block.blockid(), *chosen, silent));
      }
    }
    const std::uint64_t length = *chosen;
    commit.set_newlength(length);
    const auto storages = AtTheSameTime(candidates.size(), [&](std::size_t i) {
      return UpdateReplica(store, candidates[i], block, recovery_id, length);
    });
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const auto& storage = storages[i];
      if (!storage && IsNotReady(storage.error())) {
        // The holder's replica, which is good, would not count after this recovery.
        return Waits(recovering, candidates[i].server, storage.error());
      }
      if (!storage) {
        spdlog::warn("recovery {} of block {}: {}", recovery_id, block.blockid(),
                     storage.error().message);
        continue;
      }
      *commit.add_newtaragets() = candidates[i].server;
      commit.add_newtargetstorages(*storage);
    }
    if (commit.newtaragets_size() == 0) {
      return Fail(ErrorCode::kNetwork,
                  fmt::format("no replica of block {} could be cut to {} bytes and finalized",
                              block.blockid(), length));
    }
  }
  EBB_TRY(namenode.followed()->CommitBlockSynchronization(commit));
  spdlog::info("recovery {} of block {}: finalized {} replicas with {} bytes", recovery_id,
               block.blockid(), commit.newtaragets_size(), commit.newlength());
  return {};
}

}  // namespace ebb::server
