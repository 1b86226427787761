#include "server/namenode_actor.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <random>

#include "server/block_list.h"
#include "server/block_recovery.h"
#include "transfer/client.h"

namespace ebb::server {

namespace {

using namespace hadoop::hdfs;
using namespace hadoop::hdfs::datanode;
using std::chrono::milliseconds;

// What stock namenodes expect of a data node of their own version.
constexpr char kSoftwareVersion[] = "3.5.0";
constexpr std::int32_t kDatanodeLayoutVersion = -57;

constexpr milliseconds kFirstBackOff(250);
constexpr milliseconds kLongestBackOff(2000);
// How long a finished block waits for the namenode to know of it.
constexpr milliseconds kDeliveryPatience(100);
// Beyond this a full report takes the place of the single changes.
constexpr std::size_t kMaxChanges = 100'000;
constexpr std::size_t kMaxTasks = 50'000;
constexpr std::size_t kTaskThreads = 4;

bool MeansUnregistered(const Error& error) {
  return error.exception_class.ends_with("UnregisteredNodeException");
}

milliseconds Grow(milliseconds back_off) { return std::min(back_off * 2, kLongestBackOff); }

void FillStorage(DatanodeStorageProto& storage, const std::string& uuid) {
  storage.set_storageuuid(uuid);
  storage.set_state(DatanodeStorageProto::NORMAL);
  storage.set_storagetype(DISK);
}

}  // namespace

NamenodeActor::NamenodeActor(ActorOptions options, BlockStore& store, Events events)
    : options_(std::move(options)),
      store_(store),
      events_(std::move(events)),
      namenode_(options_.namenode_host, options_.namenode_port),
      tasks_(kTaskThreads, kMaxTasks) {}

NamenodeActor::~NamenodeActor() { Stop(); }

void NamenodeActor::Start(std::uint16_t transfer_port, std::uint16_t ipc_port) {
  transfer_port_ = transfer_port;
  ipc_port_ = ipc_port;
  main_thread_ = std::thread([this] { Run(); });
  changes_thread_ = std::thread([this] { RunChanges(); });
}

void NamenodeActor::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  changes_wake_.notify_all();
  delivered_wake_.notify_all();
  tasks_.Stop();
  if (main_thread_.joinable()) main_thread_.join();
  if (changes_thread_.joinable()) changes_thread_.join();
}

bool NamenodeActor::Sleep(milliseconds time) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, time, [this] { return stopping_ || report_due_; });
  return !stopping_;
}

void NamenodeActor::RequestBlockReport() {
  {
    const std::lock_guard lock(mutex_);
    report_due_ = true;
  }
  wake_.notify_all();
}

void NamenodeActor::Note(const Status& status, const char* what) {
  if (!status) spdlog::warn("{} at the namenode failed: {}", what, status.error().message);
}

DatanodeRegistrationProto NamenodeActor::registration() const {
  const std::lock_guard lock(mutex_);
  return registration_;
}

// ---- the main thread --------------------------------------------------------------------------

void NamenodeActor::Run() {
  if (!Attach()) return;
  auto back_off = kFirstBackOff;
  auto next_report = Clock::now();
  for (;;) {
    Status status;
    bool registered;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      registered = registered_;
      if (report_due_) next_report = Clock::now();
      report_due_ = false;
    }
    if (!registered) {
      status = RegisterOnce();
      if (status) next_report = Clock::now();
    }
    if (status) status = Beat();
    if (status && Clock::now() >= next_report) {
      status = ReportBlocks();
      if (status) next_report = Clock::now() + options_.block_report_interval;
    }
    if (status) {
      back_off = kFirstBackOff;
      if (!Sleep(options_.heartbeat_interval)) return;
      continue;
    }
    spdlog::warn("namenode {}: {}; trying again in {} ms", namenode_.address(),
                 status.error().message, back_off.count());
    if (MeansUnregistered(status.error())) {
      const std::lock_guard lock(mutex_);
      registered_ = false;
    }
    if (!Sleep(back_off)) return;
    back_off = Grow(back_off);
  }
}

bool NamenodeActor::Attach() {
  for (auto back_off = kFirstBackOff;; back_off = Grow(back_off)) {
    const auto info = namenode_.GetVersion();
    if (info) {
      const auto& storage = info->storageinfo();
      if (auto attached = store_.Attach(storage.clusterid(), info->blockpoolid(),
                                        storage.namespceid());
          !attached) {
        events_.on_fatal(attached.error());
        return false;
      }
      {
        const std::lock_guard lock(mutex_);
        namespace_ = *info;
      }
      events_.on_attached();
      return true;
    }
    spdlog::warn("no namenode at {} yet: {}; trying again in {} ms", namenode_.address(),
                 info.error().message, back_off.count());
    if (!Sleep(back_off)) return false;
  }
}

DatanodeRegistrationProto NamenodeActor::MakeRegistration() const {
  DatanodeRegistrationProto registration;
  auto& id = *registration.mutable_datanodeid();
  id.set_ipaddr(options_.host);
  id.set_hostname(options_.host);
  id.set_datanodeuuid(store_.server_uuid());
  id.set_xferport(transfer_port_);
  id.set_infoport(0);
  id.set_ipcport(ipc_port_);
  *registration.mutable_storageinfo() = namespace_.storageinfo();
  registration.mutable_storageinfo()->set_layoutversion(
      static_cast<std::uint32_t>(kDatanodeLayoutVersion));
  auto& keys = *registration.mutable_keys();
  keys.set_isblocktokenenabled(false);
  keys.set_keyupdateinterval(0);
  keys.set_tokenlifetime(0);
  keys.mutable_currentkey()->set_keyid(0);
  keys.mutable_currentkey()->set_expirydate(0);
  registration.set_softwareversion(kSoftwareVersion);
  return registration;
}

Status NamenodeActor::RegisterOnce() {
  // The namenode may have been started anew, even with another namespace.
  EBB_ASSIGN(const auto info, namenode_.GetVersion());
  if (info.storageinfo().clusterid() != namespace_.storageinfo().clusterid() ||
      info.blockpoolid() != namespace_.blockpoolid()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("it is now of cluster {} and this server holds blocks of {}; restart "
                            "the right namenode",
                            info.storageinfo().clusterid(), namespace_.storageinfo().clusterid()));
  }
  EBB_ASSIGN(auto registration, namenode_.Register(MakeRegistration()));
  {
    const std::lock_guard lock(mutex_);
    namespace_ = info;
    registration_ = std::move(registration);
    registered_ = true;
  }
  spdlog::info("registered with namenode {} as {}, transfer port {}, ipc port {}",
               namenode_.address(), store_.server_uuid(), transfer_port_,
               ipc_port_);
  changes_wake_.notify_all();
  events_.on_registered();
  return {};
}

Status NamenodeActor::Beat() {
  HeartbeatRequestProto request;
  *request.mutable_registration() = registration();
  VolumeFailureSummaryProto failures;
  std::uint64_t last_failure = 0;
  for (const auto& disk : store_.Disks()) {
    if (disk.failed) {
      failures.add_failedstoragelocations(disk.directory);
      last_failure = std::max(last_failure, disk.failed_at_millis);
      if (disk.storage_uuid.empty()) continue;
    }
    auto& report = *request.add_reports();
    report.set_storageuuid(disk.storage_uuid);
    report.set_failed(disk.failed);
    report.set_capacity(disk.capacity_bytes);
    report.set_dfsused(disk.used_bytes);
    report.set_blockpoolused(disk.used_bytes);
    report.set_remaining(disk.remaining_bytes);
    const std::uint64_t known = disk.used_bytes + disk.remaining_bytes;
    report.set_nondfsused(disk.capacity_bytes > known ? disk.capacity_bytes - known : 0);
    FillStorage(*report.mutable_storage(), disk.storage_uuid);
  }
  request.set_failedvolumes(static_cast<std::uint32_t>(failures.failedstoragelocations_size()));
  if (request.failedvolumes() > 0) {
    failures.set_lastvolumefailuredate(last_failure);
    failures.set_estimatedcapacitylosttotal(0);
    *request.mutable_volumefailuresummary() = std::move(failures);
  }
  request.set_xceivercount(static_cast<std::uint32_t>(events_.count_transfers()));
  request.set_xmitsinprogress(copies_);
  EBB_ASSIGN(const auto response, namenode_.Heartbeat(request));
  for (const auto& command : response.cmds()) Obey(command);
  store_.ProbeDisks();
  return {};
}

Status NamenodeActor::ReportBlocks() {
  const std::lock_guard report_lock(report_mutex_);
  std::uint64_t covered;
  {
    // Whatever changed until now is part of what is listed below.
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
    AddBlockList(replicas, report);
  }
  auto& context = *request.mutable_context();
  context.set_totalrpcs(1);
  context.set_currpc(0);
  context.set_id(static_cast<std::int64_t>(std::random_device()()) + 1);
  context.set_leaseid(0);
  auto response = namenode_.BlockReport(request);
  {
    const std::lock_guard lock(mutex_);
    if (response) delivered_ = std::max(delivered_, covered);
  }
  delivered_wake_.notify_all();
  if (!response) return std::unexpected(std::move(response).error());
  spdlog::info("reported {} blocks on {} disks", blocks, request.reports_size());
  if (response->has_cmd()) Obey(response->cmd());
  return {};
}

// ---- commands ---------------------------------------------------------------------------------

void NamenodeActor::AddTask(const char* what, std::function<void()> task) {
  if (!tasks_.Add(std::move(task))) {
    spdlog::warn("{} put off: {} tasks wait; the namenode will ask again", what, kMaxTasks);
  }
}

void NamenodeActor::Obey(const DatanodeCommandProto& command) {
  switch (command.cmdtype()) {
    case DatanodeCommandProto::BlockCommand:
      ObeyBlockCommand(command.blkcmd());
      return;
    case DatanodeCommandProto::RegisterCommand: {
      spdlog::info("the namenode asks for a registration");
      const std::lock_guard lock(mutex_);
      registered_ = false;
      report_due_ = true;
      return;
    }
    case DatanodeCommandProto::BlockRecoveryCommand:
      for (const auto& block : command.recoverycmd().blocks()) {
        AddTask("block recovery", [this, block] {
          Note(RecoverBlock(store_, namenode_, block), "block recovery");
        });
      }
      return;
    case DatanodeCommandProto::NullDatanodeCommand:
    case DatanodeCommandProto::FinalizeCommand:
    case DatanodeCommandProto::KeyUpdateCommand:
    case DatanodeCommandProto::BalancerBandwidthCommand:
      return;
    default: break;
  }
  spdlog::info("command {} of the namenode is not for a chunk server and is ignored",
               DatanodeCommandProto::Type_Name(command.cmdtype()));
}

void NamenodeActor::ObeyBlockCommand(const BlockCommandProto& command) {
  if (command.blockpoolid() != store_.block_pool_id()) {
    spdlog::warn("a command for pool {} is ignored: this server holds {}", command.blockpoolid(),
                 store_.block_pool_id());
    return;
  }
  if (command.action() == BlockCommandProto::SHUTDOWN) {
    spdlog::warn("the namenode asks for a shutdown, which is left to the operator");
    return;
  }
  for (int i = 0; i < command.blocks_size(); ++i) {
    const auto& block = command.blocks(i);
    if (command.action() == BlockCommandProto::INVALIDATE) {
      AddTask("removal of a block", [this, id = block.blockid(), stamp = block.genstamp()] {
        if (store_.Delete(id, stamp)) spdlog::debug("block {} removed", id);
      });
      continue;
    }
    if (i >= command.targets_size()) continue;
    const auto& targets = command.targets(i).datanodes();
    std::vector<DatanodeInfoProto> servers(targets.begin(), targets.end());
    std::vector<std::string> storages;
    if (i < command.targetstorageuuids_size()) {
      const auto& uuids = command.targetstorageuuids(i).storageuuids();
      storages.assign(uuids.begin(), uuids.end());
    }
    AddTask("copy of a block", [this, block, servers = std::move(servers),
                                storages = std::move(storages)] {
      CopyBlock(block, servers, storages);
    });
  }
}

void NamenodeActor::CopyBlock(const BlockProto& block, std::vector<DatanodeInfoProto> servers,
                              std::vector<std::string> storages) {
  if (servers.empty()) return;
  ++copies_;
  const auto copy = [&]() -> ebb::Status {
    EBB_ASSIGN(const auto replica, store_.OpenReader(block.blockid(), block.genstamp()));
    return transfer::CopyReplica(*replica, store_.block_pool_id(), {servers, storages}, "");
  };
  const auto copied = copy();
  --copies_;
  const auto to = transfer::TransferAddress(servers.front().id());
  if (copied) {
    spdlog::info("block {} copied to {}", block.blockid(), to);
  } else {
    spdlog::warn("block {} could not be copied to {}: {}", block.blockid(), to,
                 copied.error().message);
  }
}

// ---- changes ----------------------------------------------------------------------------------

void NamenodeActor::Enqueue(const ReplicaInfo& replica, BlockChange::BlockStatus status) {
  const std::lock_guard lock(mutex_);
  if (change_count_ >= kMaxChanges) {
    changes_.clear();
    change_count_ = 0;
    report_due_ = true;
  }
  auto& change = changes_[replica.storage_uuid].emplace_back();
  change.mutable_block()->set_blockid(replica.block_id);
  change.mutable_block()->set_genstamp(replica.generation_stamp);
  change.mutable_block()->set_numbytes(replica.length_bytes);
  change.set_status(status);
  ++change_count_;
  ++enqueued_;
}

void NamenodeActor::OnStored(const ReplicaInfo& replica) {
  Enqueue(replica, BlockChange::RECEIVED);
  changes_wake_.notify_one();
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = enqueued_;
  delivered_wake_.wait_for(lock, kDeliveryPatience, [&] {
    return stopping_ || !registered_ || changes_fail_ || delivered_ >= mine;
  });
}

void NamenodeActor::OnDeleted(const ReplicaInfo& replica) {
  Enqueue(replica, BlockChange::DELETED);
  changes_wake_.notify_one();
}

void NamenodeActor::OnCorrupt(const ReplicaInfo& replica, const std::string&) {
  AddTask("report of a corrupt block", [this, replica] {
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
    Note(namenode_.ReportBadBlocks(request), "reporting a corrupt block");
  });
}

void NamenodeActor::OnDiskFailed(const DiskStatus& disk) {
  AddTask("report of a failed disk", [this, disk] {
    ErrorReportRequestProto request;
    *request.mutable_registartion() = registration();
    request.set_errorcode(ErrorReportRequestProto::DISK_ERROR);
    request.set_msg(fmt::format("{}: {}", disk.directory, disk.failure));
    Note(namenode_.ErrorReport(request), "reporting a failed disk");
  });
  RequestBlockReport();
}

void NamenodeActor::RunChanges() {
  auto back_off = kFirstBackOff;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changes_wake_.wait(lock, [this] { return stopping_ || (registered_ && change_count_ > 0); });
      if (stopping_) return;
    }
    const auto sent = SendChanges();
    if (sent) {
      back_off = kFirstBackOff;
      continue;
    }
    spdlog::warn("telling namenode {} of changed blocks failed: {}", namenode_.address(),
                 sent.error().message);
    std::unique_lock lock(mutex_);
    changes_wake_.wait_for(lock, back_off, [this] { return stopping_; });
    back_off = Grow(back_off);
  }
}

Status NamenodeActor::SendChanges() {
  const std::lock_guard report_lock(report_mutex_);
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
  {
    const std::lock_guard lock(mutex_);
    changes_fail_ = !sent;
    if (sent) {
      delivered_ = std::max(delivered_, last);
    } else {
      if (MeansUnregistered(sent.error())) registered_ = false;
      // Before those that came meanwhile: the order of one block's changes matters.
      for (auto& [uuid, changes] : taken) {
        auto& waiting = changes_[uuid];
        change_count_ += changes.size();
        waiting.insert(waiting.begin(), changes.begin(), changes.end());
      }
    }
  }
  delivered_wake_.notify_all();
  return sent;
}

}  // namespace ebb::server
