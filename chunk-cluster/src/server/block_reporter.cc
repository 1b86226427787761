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
// In one call: about a megabyte.
constexpr std::size_t kMaxChangesOfCall = 10'000;

}  // namespace

BlockReporter::BlockReporter(BlockReporterOptions options, BlockStore& store, Events events)
    : options_(options), store_(store), events_(std::move(events)) {}

BlockReporter::~BlockReporter() { Stop(); }

void BlockReporter::Start() {
  incremental_thread_ = std::thread([this] { RunIncremental(); });
  full_thread_ = std::thread([this] { RunFull(); });
}

void BlockReporter::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changes_wake_.notify_all();
  delivered_wake_.notify_all();
  full_wake_.notify_all();
  if (incremental_thread_.joinable()) incremental_thread_.join();
  if (full_thread_.joinable()) full_thread_.join();
}

void BlockReporter::SetRegistered(Client namenode, const DatanodeRegistrationProto& registration) {
  {
    const std::lock_guard lock(mutex_);
    session_ = {std::move(namenode), registration, session_.number + 1};
    registered_ = true;
    // A lease of an earlier registration is worth nothing.
    full_due_ = true;
    lease_.reset();
  }
  changes_wake_.notify_all();
  full_wake_.notify_all();
}

void BlockReporter::SetUnregistered() {
  const std::lock_guard lock(mutex_);
  registered_ = false;
}

// ---- full reports -----------------------------------------------------------------------------

void BlockReporter::RequestFullReport() {
  {
    const std::lock_guard lock(mutex_);
    full_due_ = true;
  }
  events_.on_full_report_due();
}

bool BlockReporter::WantsLease() const {
  const std::lock_guard lock(mutex_);
  return registered_ && full_due_ && !lease_;
}

void BlockReporter::GrantLease(std::uint64_t lease) {
  {
    const std::lock_guard lock(mutex_);
    if (!full_due_) return;
    lease_ = lease;
  }
  full_wake_.notify_all();
}

void BlockReporter::RunFull() {
  BackOff back_off;
  auto next = Clock::now() + options_.full_report_interval;
  for (;;) {
    Session session;
    std::uint64_t lease;
    bool due = false;
    {
      std::unique_lock lock(mutex_);
      const auto may_report = [this] { return stopping_ || (registered_ && full_due_ && lease_); };
      if (!full_wake_.wait_until(lock, next, may_report)) {
        due = true;
      } else if (stopping_) {
        return;
      } else {
        session = session_;
        lease = *lease_;
        lease_.reset();
        full_due_ = false;
      }
    }
    if (due) {
      next = Clock::now() + options_.full_report_interval;
      RequestFullReport();
      continue;
    }
    if (auto sent = SendFull(session, lease); sent) {
      back_off.Reset();
      next = Clock::now() + options_.full_report_interval;
    } else {
      spdlog::warn("the full block report to namenode {} failed: {}",
                   session.namenode->address().Text(), sent.error().message);
      if (IsUnregistered(sent.error())) events_.on_unregistered(session.namenode);
      std::unique_lock lock(mutex_);
      full_wake_.wait_for(lock, back_off.Next(),
                          [&] { return stopping_ || session_.number != session.number; });
      lock.unlock();
      RequestFullReport();
    }
  }
}

Status BlockReporter::SendFull(const Session& session, std::uint64_t lease) {
  std::vector<std::string> storages;
  for (const auto& disk : store_.Disks()) {
    // A report of a disk that is not scanned would say that its blocks are gone.
    if (!disk.storage_uuid.empty() && disk.scanned) storages.push_back(disk.storage_uuid);
  }
  BlockReportContextProto context;
  context.set_totalrpcs(static_cast<std::int32_t>(storages.size()));
  context.set_id(static_cast<std::int64_t>(std::random_device()()) + 1);
  context.set_leaseid(lease);
  for (std::size_t i = 0; i < storages.size(); ++i) {
    context.set_currpc(static_cast<std::int32_t>(i));
    EBB_TRY(SendDisk(session, storages[i], context));
  }
  return {};
}

Status BlockReporter::SendDisk(const Session& session, const std::string& storage_uuid,
                               const BlockReportContextProto& context) {
  BlockReportRequestProto request;
  request.set_blockpoolid(store_.block_pool_id());
  *request.mutable_context() = context;
  auto& report = *request.add_reports();
  FillStorage(*report.mutable_storage(), storage_uuid, store_.TypeOf(storage_uuid));
  Result<BlockReportResponseProto> response;
  {
    const std::lock_guard sending(sending_);
    // The namenode hears of every change before it hears of the state after it. A change that comes
    // in between is in the state and is told once more.
    EBB_TRY(SendIncremental(session));
    const auto replicas = store_.Replicas(storage_uuid);
    EncodeBlockReport(replicas, report);
    *request.mutable_registration() = session.registration;
    response = session.namenode->BlockReport(request);
    if (response) {
      spdlog::info("full block report of disk {} ({} of {}): {} blocks", storage_uuid,
                   context.currpc() + 1, context.totalrpcs(), replicas.size());
    }
  }
  if (!response) return std::unexpected(std::move(response).error());
  if (response->has_cmd()) events_.on_command(session.namenode, response->cmd());
  return {};
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
    if (!replica.replaces.empty()) change.set_deletehint(replica.replaces);
    ++change_count_;
    ++enqueued_;
  }
  if (dropped) RequestFullReport();
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
    Session session;
    {
      std::unique_lock lock(mutex_);
      changes_wake_.wait(lock, [this] { return stopping_ || (registered_ && change_count_ > 0); });
      if (stopping_) return;
      session = session_;
      tell_now_ = false;
    }
    Status sent;
    {
      const std::lock_guard sending(sending_);
      sent = SendIncremental(session);
    }
    if (sent) {
      back_off.Reset();
      continue;
    }
    spdlog::warn("the incremental block report to namenode {} failed: {}",
                 session.namenode->address().Text(), sent.error().message);
    events_.on_failed();
    std::unique_lock lock(mutex_);
    changes_wake_.wait_for(lock, back_off.Next(), [&] {
      return stopping_ || tell_now_ || session_.number != session.number;
    });
  }
}

void BlockReporter::RequestIncrementalReport() {
  {
    const std::lock_guard lock(mutex_);
    tell_now_ = true;
  }
  changes_wake_.notify_all();
}

Status BlockReporter::SendIncremental(const Session& session) {
  Changes taken;
  std::uint64_t last;
  {
    const std::lock_guard lock(mutex_);
    if (change_count_ == 0) return {};
    taken.swap(changes_);
    change_count_ = 0;
    last = enqueued_;
  }
  Status sent;
  while (sent && !taken.empty()) sent = SendFirst(session, taken);
  const bool unregistered = !sent && IsUnregistered(sent.error());
  {
    const std::lock_guard lock(mutex_);
    failing_ = !sent;
    if (sent) {
      delivered_ = std::max(delivered_, last);
    } else {
      if (unregistered && session_.number == session.number) registered_ = false;
      // In front of newer changes: the order of one block's changes matters.
      for (auto& [uuid, changes] : taken) {
        auto& waiting = changes_[uuid];
        change_count_ += changes.size();
        waiting.insert(waiting.begin(), changes.begin(), changes.end());
      }
    }
  }
  delivered_wake_.notify_all();
  if (unregistered) events_.on_unregistered(session.namenode);
  return sent;
}

Status BlockReporter::SendFirst(const Session& session, Changes& changes) {
  BlockReceivedAndDeletedRequestProto request;
  *request.mutable_registration() = session.registration;
  request.set_blockpoolid(store_.block_pool_id());
  std::size_t room = kMaxChangesOfCall;
  for (const auto& [uuid, of_storage] : changes) {
    if (room == 0) break;
    auto& storage = *request.add_blocks();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // HDFS still requires this field
    storage.set_storageuuid(uuid);
#pragma GCC diagnostic pop
    FillStorage(*storage.mutable_storage(), uuid, store_.TypeOf(uuid));
    const std::size_t count = std::min(room, of_storage.size());
    for (std::size_t i = 0; i < count; ++i) *storage.add_blocks() = of_storage[i];
    room -= count;
  }
  EBB_TRY(session.namenode->BlockReceivedAndDeleted(request));
  for (const auto& storage : request.blocks()) {
    const auto told = changes.find(storage.storage().storageuuid());
    told->second.erase(told->second.begin(), told->second.begin() + storage.blocks_size());
    if (told->second.empty()) changes.erase(told);
  }
  return {};
}

// ---- corrupt blocks -----------------------------------------------------------------------------

Status BlockReporter::ReportCorrupt(const ReplicaInfo& replica) {
  hadoop::hdfs::ExtendedBlockProto block;
  block.set_poolid(store_.block_pool_id());
  block.set_blockid(replica.block_id);
  block.set_generationstamp(replica.generation_stamp);
  block.set_numbytes(replica.length_bytes);
  return ReportBad(block, {}, replica.storage_uuid);
}

Status BlockReporter::ReportCorruptAt(const hadoop::hdfs::DatanodeIDProto& peer,
                                      const hadoop::hdfs::ExtendedBlockProto& block) {
  return ReportBad(block, peer, {});
}

Status BlockReporter::ReportBad(const hadoop::hdfs::ExtendedBlockProto& block,
                                const std::optional<hadoop::hdfs::DatanodeIDProto>& holder,
                                const std::string& storage_uuid) {
  Session session;
  {
    const std::lock_guard lock(mutex_);
    session = session_;
  }
  if (!session.namenode) return Fail(ErrorCode::kNotReady, "this server is not registered yet");
  ReportBadBlocksRequestProto request;
  auto& located = *request.add_blocks();
  *located.mutable_b() = block;
  located.set_offset(0);
  located.set_corrupt(true);
  *located.add_locs()->mutable_id() = holder.value_or(session.registration.datanodeid());
  if (!storage_uuid.empty()) {
    located.add_storagetypes(static_cast<StorageTypeProto>(store_.TypeOf(storage_uuid)));
    located.add_storageids(storage_uuid);
  }
  auto& token = *located.mutable_blocktoken();
  token.set_identifier("");
  token.set_password("");
  token.set_kind("");
  token.set_service("");
  return session.namenode->ReportBadBlocks(request);
}

}  // namespace ebb::server
