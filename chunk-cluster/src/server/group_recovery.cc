#include "server/group_recovery.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <map>
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
    AskHolders();
    std::vector<std::uint64_t> lengths;
    for (const auto& [index, candidate] : candidates_) {
      lengths.push_back(candidate.replica.length_bytes);
    }
    const std::uint64_t safe = layout_.SafeBytes(std::move(lengths));
    if (safe == 0 && candidates_.size() < layout_.data_units && !MustBeUnreadable()) {
      return Fail(ErrorCode::kNetwork,
                  fmt::format("{} blocks of group {} take part in its recovery, of which {} are "
                              "needed; the namenode tries again",
                              candidates_.size(), group().blockid(), layout_.data_units));
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

  void AskHolders() {
    const std::string& indices = recovering_.blockindices();
    for (int i = 0; i < recovering_.block().locs_size(); ++i) {
      Ask(static_cast<std::uint8_t>(indices[static_cast<std::size_t>(i)]),
          recovering_.block().locs(i).id());
    }
  }

  // Of several replicas of a block the longest takes part.
  void Ask(std::uint64_t index, const DatanodeIDProto& holder) {
    RecoveringBlockProto block = recovering_;
    *block.mutable_block()->mutable_b() = BlockAt(index);
    block.clear_ecpolicy();
    block.clear_blockindices();
    const auto found = InitReplicaRecovery(store_, holder, block);
    if (!found) {
      spdlog::warn("recovery {} of group {}: {}:{} does not take part: {}",
                   recovering_.newgenstamp(), group().blockid(), holder.ipaddr(), holder.ipcport(),
                   found.error().message);
      return;
    }
    const bool usable = *found && (*found)->generation_stamp >= group().generationstamp() &&
                        (*found)->length_bytes > 0 && (*found)->state <= ReplicaState::kWaiting;
    if (!usable) {
      ++without_bytes_;
      return;
    }
    const auto known = candidates_.find(index);
    if (known == candidates_.end() ||
        known->second.replica.length_bytes < (*found)->length_bytes) {
      candidates_.insert_or_assign(index, Candidate{holder, **found});
    }
  }

  // Whether the holders that did not answer, with all their bytes, are too few to read the group.
  [[nodiscard]] bool MustBeUnreadable() const {
    return static_cast<std::uint64_t>(recovering_.block().locs_size()) - without_bytes_ <
           layout_.data_units;
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
    const std::uint64_t last = candidates_.rbegin()->first;
    for (std::uint64_t index = 0; index <= last; ++index) {
      const auto storage = Update(index, safe / layout_.data_units);
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

  // The storage of the block, which then has this length; empty if the block does not take part.
  std::string Update(std::uint64_t index, std::uint64_t length) {
    const auto candidate = candidates_.find(index);
    if (candidate == candidates_.end() || candidate->second.replica.length_bytes < length) {
      return {};
    }
    auto storage = UpdateReplica(store_, candidate->second, BlockAt(index),
                                 recovering_.newgenstamp(), length);
    if (storage) return std::move(*storage);
    spdlog::warn("recovery {} of group {}, block {}: {}", recovering_.newgenstamp(),
                 group().blockid(), index, storage.error().message);
    return {};
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
  // Holders that answered and have no bytes.
  std::uint64_t without_bytes_ = 0;
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
