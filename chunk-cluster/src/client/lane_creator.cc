#include "client/lane_creator.h"

#include <algorithm>

#include "transfer/wire.h"

namespace ebb::client {

using ebbfs::LaneProto;
using ebbfs::OpenBlockProto;
using hadoop::hdfs::LocatedBlockProto;

namespace {

constexpr int kMostAttempts = 5;
constexpr auto kExcludedTime = std::chrono::seconds(60);

OpenBlockProto OpenBlockOf(const LocatedBlockProto& block) {
  OpenBlockProto open;
  *open.mutable_block() = block.b();
  *open.mutable_targets() = block.locs();
  *open.mutable_storageuuids() = block.storageids();
  return open;
}

}  // namespace

LaneCreator::Created LaneCreator::CreateFirst(const LaneName& name,
                                              const transfer::WriterId& writer,
                                              PendingBatches& batches) {
  EBB_ASSIGN(const bool created, files_.CreateFile(name.Ledger()));
  if (!created) return std::nullopt;
  EBB_ASSIGN(const auto ledgers, files_.Ledgers(name.slot));
  const auto is_older = [&](const LaneName& other) { return other.generation < name.generation; };
  if (std::ranges::any_of(ledgers, is_older)) {
    EBB_TRY(files_.files().Remove(name.Ledger(), false));
    return std::nullopt;
  }
  return CreateBlock(name, writer, batches);
}

LaneCreator::Created LaneCreator::Create(const LaneName& name, const transfer::WriterId& writer,
                                         PendingBatches& batches) {
  EBB_ASSIGN(const bool created, files_.CreateFile(name.Ledger()));
  if (!created) return std::nullopt;
  return CreateBlock(name, writer, batches);
}

LaneCreator::Created LaneCreator::CreateBlock(const LaneName& name,
                                              const transfer::WriterId& writer,
                                              PendingBatches& batches) {
  auto told = OpenAndTell(name, writer, batches);
  if (told && *told) {
    (void)files_.RemoveOldLedgers(name);  // the next creator removes what is left
    return told;
  }
  const auto given_up = GiveUp(name);
  if (told && !given_up) return std::unexpected(given_up.error());
  return told;
}

LaneCreator::Created LaneCreator::OpenAndTell(const LaneName& name,
                                              const transfer::WriterId& writer,
                                              PendingBatches& batches) {
  EBB_ASSIGN(const bool created, files_.CreateFile(name.Block()));
  if (!created) return std::nullopt;
  EBB_ASSIGN(auto opened, Open(name, writer, batches));
  EBB_ASSIGN(const bool told, files_.Tell(name, opened.lane));
  if (!told) return std::nullopt;
  return opened;
}

Status LaneCreator::GiveUp(const LaneName& name) const {
  EBB_ASSIGN(const bool unknown, files_.Abandon(name));
  if (!unknown) return {};
  EBB_TRY(files_.files().Remove(name.Block(), false));
  return files_.SetSealedBytes(name, 0);
}

Result<JoinedLane> LaneCreator::Open(const LaneName& name, const transfer::WriterId& writer,
                                     PendingBatches& batches) {
  for (int attempt = 1;; ++attempt) {
    EBB_ASSIGN(const auto ledger, AddBlockTo(name.Ledger()));
    EBB_ASSIGN(const auto block, AddBlockTo(name.Block()));
    LaneProto lane;
    *lane.mutable_block() = OpenBlockOf(block);
    *lane.mutable_ledger() = OpenBlockOf(ledger);
    lane.set_capacitybytes(files_.block_bytes());
    lane.set_idlemillis(idle_millis_);
    lane.set_agemillis(age_millis_);
    auto connection = LaneConnection::Create(lane, writer, batches);
    if (connection) {
      return JoinedLane{name, std::move(lane), std::move(connection).value(), true};
    }
    ExcludeAfter(connection.error(), block, ledger);
    EBB_TRY(files_.AbandonBlock(name.Block(), block));
    EBB_TRY(files_.AbandonBlock(name.Ledger(), ledger));
    if (attempt == kMostAttempts) return std::unexpected(std::move(connection).error().error);
  }
}

Result<LocatedBlockProto> LaneCreator::AddBlockTo(const std::string& path) {
  std::erase_if(excluded_, [now = Clock::now()](const auto& one) { return one.second < now; });
  std::vector<Server> servers;
  for (const auto& [server, until] : excluded_) servers.push_back(server);
  auto block = files_.AddOnlyBlock(path, servers);
  if (!block) excluded_.clear();  // there may be no other servers
  return block;
}

void LaneCreator::ExcludeAfter(const LaneRefusal& refusal, const LocatedBlockProto& block,
                               const LocatedBlockProto& ledger) {
  bool named = false;
  for (const auto* one : {&block, &ledger}) {
    for (const auto& server : one->locs()) {
      if (refusal.error.code == ErrorCode::kBusy ||
          !refusal.reason.contains(transfer::TransferAddress(server.id()))) {
        continue;
      }
      Exclude(server);
      named = true;
    }
  }
  if (!named) Exclude(block.locs(0));
}

void LaneCreator::Exclude(const Server& server) {
  const auto until = Clock::now() + kExcludedTime;
  for (auto& [known, end] : excluded_) {
    if (known.id().datanodeuuid() != server.id().datanodeuuid()) continue;
    end = until;
    return;
  }
  excluded_.emplace_back(server, until);
}

}  // namespace ebb::client
