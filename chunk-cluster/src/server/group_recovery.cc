#include "server/group_recovery.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/recovery_steps.h"
#include "transfer/group_layout.h"

namespace ebb::server {

namespace {

using namespace hadoop::hdfs;

class GroupRecovery {
 public:
  GroupRecovery(BlockStore& store, const RecoveringBlockProto& recovering,
                const transfer::GroupLayout& layout)
      : store_(store), recovering_(recovering), layout_(layout) {}

  // The message for the namenode.
  Result<datanode::CommitBlockSynchronizationRequestProto> Run() {
    EBB_TRY(AskHolders());
    std::vector<std::uint64_t> lengths;
    for (const auto& [index, candidate] : candidates_) {
      lengths.push_back(candidate.replica.length_bytes);
    }
    const std::uint64_t safe = layout_.SafeBytes(std::move(lengths));
    if (safe == 0 && MayBeReadable()) {
      return Fail(ErrorCode::kNetwork,
                  fmt::format("no whole row of group {} can be read from the {} blocks that take "
                              "part in its recovery, and {} others did not answer; the namenode "
                              "tries again",
                              group().blockid(), candidates_.size(), silent_.size()));
    }
    return Finish(safe);
  }

 private:
  [[nodiscard]] const ExtendedBlockProto& group() const { return recovering_.block().b(); }

  [[nodiscard]] ExtendedBlockProto BlockAt(std::uint64_t index) const {
    ExtendedBlockProto block = group();
    block.set_blockid(block.blockid() + index);
    return block;
  }

  [[nodiscard]] Status AskHolders() {
    const auto& locations = recovering_.block().locs();
    const auto answers =
        AtTheSameTime(static_cast<std::size_t>(locations.size()), [&](std::size_t i) {
          RecoveringBlockProto block = recovering_;
          *block.mutable_block()->mutable_b() = BlockAt(IndexOf(i));
          block.clear_ecpolicy();
          block.clear_blockindices();
          return InitReplicaRecovery(store_, locations.at(static_cast<int>(i)).id(), block);
        });
    for (std::size_t i = 0; i < answers.size(); ++i) {
      EBB_TRY(Note(IndexOf(i), locations.at(static_cast<int>(i)).id(), answers[i]));
    }
    return {};
  }

  [[nodiscard]] std::uint64_t IndexOf(std::size_t location) const {
    return static_cast<std::uint8_t>(recovering_.blockindices()[location]);
  }

  [[nodiscard]] std::unexpected<Error> Waits(const DatanodeIDProto& holder,
                                             const Error& why) const {
    return Fail(ErrorCode::kNotReady,
                fmt::format("recovery {} of group {} waits for {}:{}: {}; the namenode tries again",
                            recovering_.newgenstamp(), group().blockid(), holder.ipaddr(),
                            holder.ipcport(), why.message));
  }

  // Of several replicas of a block the longest takes part.
  [[nodiscard]] Status Note(std::uint64_t index, const DatanodeIDProto& holder,
                            const Result<std::optional<ReplicaInfo>>& found) {
    if (!found && IsNotReady(found.error())) return Waits(holder, found.error());
    if (!found) {
      silent_.insert(index);
      spdlog::warn("recovery {} of group {}: {}:{} does not take part: {}",
                   recovering_.newgenstamp(), group().blockid(), holder.ipaddr(), holder.ipcport(),
                   found.error().message);
      return {};
    }
    const bool usable = *found && (*found)->generation_stamp >= group().generationstamp() &&
                        (*found)->length_bytes > 0 && (*found)->state <= ReplicaState::kWaiting;
    if (!usable) return {};
    const auto known = candidates_.find(index);
    if (known == candidates_.end() ||
        known->second.replica.length_bytes < (*found)->length_bytes) {
      candidates_.insert_or_assign(index, Candidate{holder, **found});
    }
    return {};
  }

  // Whether there may be as many blocks with a whole cell as a row needs: those that take part, and
  // those of holders that did not answer.
  [[nodiscard]] bool MayBeReadable() const {
    std::set<std::uint64_t> whole = silent_;
    for (const auto& [index, candidate] : candidates_) {
      if (candidate.replica.length_bytes >= layout_.cell_bytes) whole.insert(index);
    }
    return whole.size() >= layout_.data_units;
  }

  Result<datanode::CommitBlockSynchronizationRequestProto> Finish(std::uint64_t safe) {
    datanode::CommitBlockSynchronizationRequestProto commit;
    *commit.mutable_block() = group();
    commit.set_newgenstamp(recovering_.newgenstamp());
    commit.set_closefile(true);
    commit.set_deleteblock(safe == 0);
    commit.set_newlength(safe);
    if (safe == 0) return commit;
    std::uint64_t finished = 0;
    const std::uint64_t count = candidates_.rbegin()->first + 1;
    const auto storages = AtTheSameTime(
        count, [&](std::uint64_t index) { return Update(index, safe / layout_.data_units); });
    for (std::uint64_t index = 0; index < count; ++index) {
      EBB_ASSIGN(const auto storage, storages[index]);
      finished += storage.empty() ? 0 : 1;
      // The namenode finds the storage of each block at the place of its index.
      *commit.add_newtaragets() = storage.empty() ? Nobody() : candidates_.at(index).server;
      commit.add_newtargetstorages(storage);
    }
    if (finished < layout_.data_units) {
      return Fail(ErrorCode::kNetwork,
                  fmt::format("{} blocks of group {} could be cut to {} bytes and finalized, of "
                              "which {} are needed; the namenode tries again",
                              finished, group().blockid(), safe / layout_.data_units,
                              layout_.data_units));
    }
    return commit;
  }

  // The storage of the block, which then has this length; empty if the block does not take part. An
  // error if the recovery has to wait for the holder.
  Result<std::string> Update(std::uint64_t index, std::uint64_t length) const {
    const auto candidate = candidates_.find(index);
    if (candidate == candidates_.end() || candidate->second.replica.length_bytes < length) {
      return std::string();
    }
    auto storage = UpdateReplica(store_, candidate->second, BlockAt(index),
                                 recovering_.newgenstamp(), length);
    if (storage) return storage;
    if (IsNotReady(storage.error())) return Waits(candidate->second.server, storage.error());
    spdlog::warn("recovery {} of group {}, block {}: {}", recovering_.newgenstamp(),
                 group().blockid(), index, storage.error().message);
    return std::string();
  }

  static DatanodeIDProto Nobody() {
    DatanodeIDProto nobody;
    nobody.set_ipaddr("");
    nobody.set_hostname("");
    nobody.set_datanodeuuid("");
    nobody.set_xferport(0);
    nobody.set_infoport(0);
    nobody.set_ipcport(0);
    return nobody;
  }

  BlockStore& store_;
  const RecoveringBlockProto& recovering_;
  const transfer::GroupLayout layout_;
  // By the index of the block in the group.
  std::map<std::uint64_t, Candidate> candidates_;
  // The blocks of holders that did not answer, or cannot tell.
  std::set<std::uint64_t> silent_;
};

}  // namespace

Status RecoverGroup(BlockStore& store, const ActiveNamenode& namenode,
                    const RecoveringBlockProto& recovering) {
  EBB_ASSIGN(const auto layout, transfer::LayoutOf(recovering.ecpolicy()));
  const auto locations = static_cast<std::size_t>(recovering.block().locs_size());
  if (recovering.blockindices().size() != locations) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("the recovery of group {} names {} servers, and {} indices of blocks",
                            recovering.block().b().blockid(), locations,
                            recovering.blockindices().size()));
  }
  EBB_ASSIGN(const auto commit, GroupRecovery(store, recovering, layout).Run());
  EBB_TRY(namenode.followed()->CommitBlockSynchronization(commit));
  spdlog::info("recovery {} of group {}: its data have {} bytes", recovering.newgenstamp(),
               recovering.block().b().blockid(), commit.newlength());
  return {};
}

}  // namespace ebb::server
