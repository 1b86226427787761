#include "server/block_reporter.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "server/back_off.h"
#include "server/block_report_encoding.h"

namespace ebb::server {

namespace {

using namespace hadoop::hdfs;
using namespace hadoop::hdfs::datanode;

// How long a finished block waits for the namenode to be told.
constexpr std::chrono::milliseconds kDeliveryPatience(100);
// If more changes wait, a full report replaces them.
constexpr std::size_t kMaxChanges = 100'000;

}  // namespace

BlockReporter::BlockReporter(BlockStore& store, NamenodeClient& namenode, Events events)
    : store_(store), namenode_(namenode), events_(std::move(events)) {}

BlockReporter::~BlockReporter() { Stop(); }

void BlockReporter::Start() {
  thread_ = std::thread([this] { RunIncremental(); });
}

void BlockReporter::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changes_wake_.notify_all();
  delivered_wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void BlockReporter::SetRegistered(const DatanodeRegistrationProto& registration) {
  {
    const std::lock_guard lock(mutex_);
    registration_ = registration;
    registered_ = true;
  }
  changes_wake_.notify_all();
}

void BlockReporter::SetUnregistered() {
  const std::lock_guard lock(mutex_);
  registered_ = false;
}

DatanodeRegistrationProto BlockReporter::registration() const {
  const std::lock_guard lock(mutex_);
  return registration_;
}

// ---- full reports -----------------------------------------------------------------------------

Result<std::optional<DatanodeCommandProto>> BlockReporter::ReportAll() {
  const std::lock_guard sending(sending_);
  std::uint64_t covered;
  {
    // The list below contains every change up to now.
    const std::lock_guard lock(mutex_);
    covered = enqueued_;
    changes_.clear();
    change_count_ = 0;
  }
  BlockReportRequestProto request;
  *request.mutable_registration() = registration();
  request.set_blockpoolid(store_.block_pool_id());
  std::size_t blocks = 0;
  for (const auto& disk : store_.Disks()) {
    if (disk.storage_uuid.empty()) continue;
    auto& report = *request.add_reports();
    FillStorage(*report.mutable_storage(), disk.storage_uuid);
    const auto replicas = store_.Replicas(disk.storage_uuid);
    blocks += replicas.size();
    EncodeBlockReport(replicas, report);
  }
  auto& context = *request.mutable_context();
  context.set_totalrpcs(1);
  context.set_currpc(0);
  context.set_id(static_cast<std::int64_t>(std::random_device()()) + 1);
  context.set_leaseid(0);
  auto response = namenode_.BlockReport(request);
  if (response) {
    const std::lock_guard lock(mutex_);
    delivered_ = std::max(delivered_, covered);
  }
  delivered_wake_.notify_all();
  if (!response) return std::unexpected(std::move(response).error());
  spdlog::info("full block report: {} blocks on {} disks", blocks, request.reports_size());
  if (!response->has_cmd()) return std::nullopt;
  return response->cmd();
}

// ---- incremental reports ------------------------------------------------------------------------

void BlockReporter::Enqueue(const ReplicaInfo& replica, BlockChange::BlockStatus status) {
  bool dropped = false;
  {
    const std::lock_guard lock(mutex_);
    if (change_count_ >= kMaxChanges) {
      changes_.clear();
      change_count_ = 0;
      dropped = true;
    }
    auto& change = changes_[replica.storage_uuid].emplace_back();
    change.mutable_block()->set_blockid(replica.block_id);
    change.mutable_block()->set_genstamp(replica.generation_stamp);
    change.mutable_block()->set_numbytes(replica.length_bytes);
    change.set_status(status);
    ++change_count_;
    ++enqueued_;
  }
  if (dropped) events_.on_full_report_needed();
}

void BlockReporter::ReportStored(const ReplicaInfo& replica) {
  Enqueue(replica, BlockChange::RECEIVED);
  changes_wake_.notify_one();
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = enqueued_;
  delivered_wake_.wait_for(lock, kDeliveryPatience, [&] {
    return stopping_ || !registered_ || failing_ || delivered_ >= mine;
  });
}

void BlockReporter::ReportDeleted(const ReplicaInfo& replica) {
  Enqueue(replica, BlockChange::DELETED);
  changes_wake_.notify_one();
}

void BlockReporter::RunIncremental() {
  BackOff back_off;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changes_wake_.wait(lock, [this] { return stopping_ || (registered_ && change_count_ > 0); });
      if (stopping_) return;
    }
    const auto sent = SendIncremental();
    if (sent) {
      back_off.Reset();
      continue;
    }
    spdlog::warn("the incremental block report to namenode {} failed: {}", namenode_.address(),
                 sent.error().message);
    std::unique_lock lock(mutex_);
    changes_wake_.wait_for(lock, back_off.Next(), [this] { return stopping_; });
  }
}

Status BlockReporter::SendIncremental() {
  const std::lock_guard sending(sending_);
  BlockReceivedAndDeletedRequestProto request;
  std::map<std::string, std::vector<BlockChange>> taken;
  std::uint64_t last;
  {
    const std::lock_guard lock(mutex_);
    if (change_count_ == 0) return {};
    taken.swap(changes_);
    change_count_ = 0;
    last = enqueued_;
    *request.mutable_registration() = registration_;
  }
  request.set_blockpoolid(store_.block_pool_id());
  for (const auto& [uuid, changes] : taken) {
    auto& storage = *request.add_blocks();
    storage.set_storageuuid(uuid);
    FillStorage(*storage.mutable_storage(), uuid);
    for (const auto& change : changes) *storage.add_blocks() = change;
  }
  auto sent = namenode_.BlockReceivedAndDeleted(request);
  const bool unregistered = !sent && IsUnregistered(sent.error());
  {
    const std::lock_guard lock(mutex_);
    failing_ = !sent;
    if (sent) {
      delivered_ = std::max(delivered_, last);
    } else {
      if (unregistered) registered_ = false;
      // In front of newer changes: the order of one block's changes matters.
      for (auto& [uuid, changes] : taken) {
        auto& waiting = changes_[uuid];
        change_count_ += changes.size();
        waiting.insert(waiting.begin(), changes.begin(), changes.end());
      }
    }
  }
  delivered_wake_.notify_all();
  if (unregistered) events_.on_unregistered();
  return sent;
}

// ---- corrupt blocks -----------------------------------------------------------------------------

Status BlockReporter::ReportCorrupt(const ReplicaInfo& replica) {
  ReportBadBlocksRequestProto request;
  auto& located = *request.add_blocks();
  auto& block = *located.mutable_b();
  block.set_poolid(store_.block_pool_id());
  block.set_blockid(replica.block_id);
  block.set_generationstamp(replica.generation_stamp);
  block.set_numbytes(replica.length_bytes);
  located.set_offset(0);
  located.set_corrupt(true);
  *located.add_locs()->mutable_id() = registration().datanodeid();
  located.add_storagetypes(DISK);
  located.add_storageids(replica.storage_uuid);
  auto& token = *located.mutable_blocktoken();
  token.set_identifier("");
  token.set_password("");
  token.set_kind("");
  token.set_service("");
  return namenode_.ReportBadBlocks(request);
}

}  // namespace ebb::server
