#include "server/namenode_session.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "server/hdfs_version.h"
#include "server/heartbeat.h"

namespace ebb::server {

namespace {

using namespace hadoop::hdfs::datanode;
using std::chrono::milliseconds;

// A DataNode of HDFS 3.5 reports this version.
constexpr std::int32_t kDatanodeLayoutVersion = -57;

constexpr std::size_t kMaxTells = 50'000;
constexpr std::size_t kTellThreads = 2;
// A server is ready while its heartbeats are answered; a slow answer is no reason to take it out.
constexpr int kMissedHeartbeats = 3;
constexpr milliseconds kHeartbeatPatience{10'000};
// After none of several namenodes served.
constexpr milliseconds kRoundPause{200};
constexpr std::size_t kMaxUntold = 10'000;

}  // namespace

NamenodeSession::NamenodeSession(NamenodeSessionOptions options, BlockStore& store, Events events)
    : options_(std::move(options)),
      store_(store),
      events_(std::move(events)),
      namenode_(options_.namenodes, options_.namenode_patience, [this] { BeatNow(); }),
      reporter_({options_.block_report_interval}, store,
                {.on_unregistered = [this](const auto& namenode) { Unregister(namenode); },
                 .on_failed =
                     [this] {
                       if (namenode_.several()) BeatNow();
                     },
                 .on_full_report_due = [this] { BeatNow(); },
                 .on_command = [this](const auto& from,
                                      const auto& command) { commands_.Execute(from, command); }}),
      prober_(store, options_.probe_interval),
      tells_(kTellThreads, kMaxTells),
      commands_(
          store, namenode_,
          [this] {
            Unregister(namenode_.followed());
            RequestBlockReport();
          },
          [this](std::uint64_t bytes) {
            if (events_.on_balancer_bandwidth) events_.on_balancer_bandwidth(bytes);
          },
          [this] { return registration().datanodeid(); }) {}

NamenodeSession::~NamenodeSession() { Stop(); }

void NamenodeSession::Start(std::uint16_t transfer_port, std::uint16_t ipc_port) {
  transfer_port_ = transfer_port;
  ipc_port_ = ipc_port;
  main_thread_ = std::thread([this] { Run(); });
  reporter_.Start();
}

void NamenodeSession::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  reporter_.Stop();
  tells_.Stop();
  commands_.Stop();
  if (main_thread_.joinable()) main_thread_.join();
  namenode_.Close();
  prober_.Stop();
  store_.AwaitScans();
}

bool NamenodeSession::Sleep(milliseconds time) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, time, [this] { return stopping_ || beat_now_; });
  beat_now_ = false;
  return !stopping_;
}

void NamenodeSession::BeatNow() {
  {
    const std::lock_guard lock(mutex_);
    beat_now_ = true;
  }
  wake_.notify_all();
}

void NamenodeSession::RequestBlockReport() { reporter_.RequestFullReport(); }

void NamenodeSession::RequestIncrementalReport() { reporter_.RequestIncrementalReport(); }

std::optional<milliseconds> NamenodeSession::SinceHeartbeat() const {
  const std::lock_guard lock(mutex_);
  if (!last_beat_) return std::nullopt;
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - *last_beat_);
}

std::string NamenodeSession::NotReady() const {
  const auto age = SinceHeartbeat();
  if (!age) return "the namenode has answered no heartbeat yet";
  if (*age > kMissedHeartbeats * options_.heartbeat_interval + kHeartbeatPatience) {
    return fmt::format("the namenode answered the last heartbeat {} s ago", age->count() / 1000);
  }
  return "";
}

DatanodeRegistrationProto NamenodeSession::registration() const {
  const std::lock_guard lock(mutex_);
  return registration_;
}

// ---- the main thread --------------------------------------------------------------------------

void NamenodeSession::Run() {
  if (!Attach()) return;
  while (!stopping()) {
    const Status status = KeepUp();
    milliseconds pause = options_.heartbeat_interval;
    if (status) {
      back_off_.Reset();
      last_problem_.clear();
    } else {
      pause = Recover(status.error());
    }
    if (!Sleep(pause)) return;
  }
}

bool NamenodeSession::stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

Status NamenodeSession::KeepUp() {
  bool registered;
  {
    const std::lock_guard lock(mutex_);
    registered = registered_;
  }
  if (!registered) EBB_TRY(Register());
  return Beat();
}

milliseconds NamenodeSession::Recover(const Error& error) {
  const auto namenode = namenode_.followed();
  if (std::exchange(last_problem_, error.message) != error.message || !namenode_.several()) {
    spdlog::warn("namenode {}: {}; trying again", namenode->address().Text(), error.message);
  }
  if (IsUnregistered(error)) {
    Unregister(namenode);
  } else if (FollowAnother()) {
    return milliseconds(0);
  }
  return namenode_.several() ? kRoundPause : back_off_.Next();
}

Result<hadoop::hdfs::NamespaceInfoProto> NamenodeSession::AskLeader(const Client& namenode) {
  EBB_ASSIGN(auto info, namenode->GetVersion());
  // HDFS before 3.4 does not tell the state, and a standby of it refuses the call.
  if (info.has_state() && info.state() != hadoop::hdfs::NNHAStatusHeartbeatProto::ACTIVE) {
    return Fail(ErrorCode::kRemote, "the namenode is standby");
  }
  return info;
}

bool NamenodeSession::FollowAnother() {
  for (auto& other : namenode_.Others()) {
    if (stopping()) return false;
    const auto info = AskLeader(other);
    const Status usable = info ? CheckNamespace(*info) : std::unexpected(info.error());
    if (!usable) {
      spdlog::debug("namenode {} does not serve: {}", other->address().Text(),
                    usable.error().message);
      continue;
    }
    spdlog::info("following namenode {}, not {} any more", other->address().Text(),
                 namenode_.followed()->address().Text());
    Unregister(namenode_.followed());
    namenode_.Follow(std::move(other));
    return true;
  }
  return false;
}

bool NamenodeSession::Attach() {
  for (BackOff back_off;;) {
    auto info = AskLeader(namenode_.followed());
    for (auto& other : namenode_.Others()) {
      if (info || stopping()) break;
      info = AskLeader(other);
      if (info) namenode_.Follow(std::move(other));
    }
    if (info) {
      const auto& storage = info->storageinfo();
      if (auto attached =
              store_.Attach(storage.clusterid(), info->blockpoolid(), storage.namespceid());
          !attached) {
        events_.on_fatal(attached.error());
        return false;
      }
      namespace_ = *info;
      prober_.Start();
      events_.on_attached();
      return true;
    }
    const auto pause = namenode_.several() ? kRoundPause : back_off.Next();
    if (std::exchange(last_problem_, info.error().message) != info.error().message) {
      spdlog::warn("no namenode serves yet: {}; trying again", info.error().message);
    }
    if (!Sleep(pause)) return false;
  }
}

DatanodeRegistrationProto NamenodeSession::MakeRegistration() const {
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

Status NamenodeSession::CheckNamespace(const hadoop::hdfs::NamespaceInfoProto& info) const {
  if (info.storageinfo().clusterid() == namespace_.storageinfo().clusterid() &&
      info.blockpoolid() == namespace_.blockpoolid()) {
    return {};
  }
  return Fail(ErrorCode::kInvalid,
              fmt::format("the namenode now serves cluster {}, and this server holds blocks of "
                          "cluster {}; start the namenode of that cluster",
                          info.storageinfo().clusterid(), namespace_.storageinfo().clusterid()));
}

Status NamenodeSession::Register() {
  const auto namenode = namenode_.followed();
  // Another namenode may answer at this address by now, for example one with another namespace.
  EBB_ASSIGN(const auto info, AskLeader(namenode));
  EBB_TRY(CheckNamespace(info));
  EBB_ASSIGN(auto registration, namenode->Register(MakeRegistration()));
  namespace_ = info;
  {
    const std::lock_guard lock(mutex_);
    registration_ = registration;
    registered_ = true;
  }
  spdlog::info("registered with namenode {} as {}, transfer port {}, ipc port {}",
               namenode->address().Text(), store_.server_uuid(), transfer_port_, ipc_port_);
  reporter_.SetRegistered(namenode, registration);
  TellAgain();
  events_.on_registered();
  return {};
}

void NamenodeSession::Unregister(const Client& namenode) {
  if (namenode != namenode_.followed()) return;
  // The reporter comes first. If another thread registers meanwhile, the session ends unregistered
  // and registers once more; the reporter never stays unregistered while the session is registered.
  reporter_.SetUnregistered();
  const std::lock_guard lock(mutex_);
  registered_ = false;
}

Status NamenodeSession::CheckLeader(const HeartbeatResponseProto& response) {
  if (!response.has_hastatus()) return {};
  const auto& status = response.hastatus();
  if (status.state() != hadoop::hdfs::NNHAStatusHeartbeatProto::ACTIVE) {
    return Fail(ErrorCode::kRemote, "the namenode is standby");
  }
  if (namenode_.several() && status.txid() < term_) {
    return Fail(ErrorCode::kRemote,
                fmt::format("the namenode leads in term {}, and term {} has begun; if the metadata "
                            "was restored from a backup, restart this server",
                            status.txid(), term_));
  }
  term_ = status.txid();
  return {};
}

Status NamenodeSession::Beat() {
  const auto namenode = namenode_.followed();
  const bool wants_lease = reporter_.WantsLease();
  const auto disks = store_.Disks();
  HeartbeatLoad load = {.transfers = events_.count_transfers(),
                        .copies = commands_.copies(),
                        .wants_report_lease = wants_lease,
                        .queued_calls = queues_.Measure(disks, QueueMeter::Clock::now())};
  EBB_ASSIGN(const auto response, SendHeartbeat(*namenode, registration(), disks, load));
  EBB_TRY(CheckLeader(response));
  // 0 means that too many other servers report: the next heartbeat asks again.
  if (wants_lease &&
      (!response.has_fullblockreportleaseid() || response.fullblockreportleaseid() != 0)) {
    reporter_.GrantLease(response.fullblockreportleaseid());
  }
  {
    const std::lock_guard lock(mutex_);
    last_beat_ = std::chrono::steady_clock::now();
  }
  for (const auto& command : response.cmds()) commands_.Execute(namenode, command);
  store_.DropHungDisks();
  return {};
}

// ---- events of the store ------------------------------------------------------------------------

void NamenodeSession::OnStored(const ReplicaInfo& replica) { reporter_.ReportStored(replica); }

void NamenodeSession::OnDeleted(const ReplicaInfo& replica) { reporter_.ReportDeleted(replica); }

void NamenodeSession::Tell(const std::string& what, std::function<Status()> report) {
  tells_.Add("report to the namenode", [this, what, report = std::move(report)] {
    const auto told = report();
    if (told) return;
    spdlog::warn("reporting {} to the namenode failed: {}", what, told.error().message);
    if (told.error().code == ErrorCode::kRemote && !IsStandby(told.error())) return;
    const std::lock_guard lock(mutex_);
    if (untold_.size() < kMaxUntold) untold_.emplace_back(what, report);
  });
}

void NamenodeSession::TellAgain() {
  decltype(untold_) untold;
  {
    const std::lock_guard lock(mutex_);
    untold.swap(untold_);
  }
  for (auto& [what, report] : untold) Tell(what, std::move(report));
}

void NamenodeSession::OnCorrupt(const ReplicaInfo& replica, const std::string&) {
  Tell(fmt::format("corrupt block {}", replica.block_id),
       [this, replica] { return reporter_.ReportCorrupt(replica); });
}

void NamenodeSession::OnCorruptAtPeer(const hadoop::hdfs::DatanodeIDProto& peer,
                                      const hadoop::hdfs::ExtendedBlockProto& block) {
  spdlog::warn("the bytes of block {} that came from {}:{} contradict their checksums",
               block.blockid(), peer.ipaddr(), peer.xferport());
  Tell(fmt::format("block {} of {}:{}", block.blockid(), peer.ipaddr(), peer.xferport()),
       [this, peer, block] { return reporter_.ReportCorruptAt(peer, block); });
}

void NamenodeSession::OnDiskFailed(const DiskStatus& disk) {
  Tell(fmt::format("failed disk {}", disk.directory), [this, disk] {
    ErrorReportRequestProto request;
    *request.mutable_registartion() = registration();
    request.set_errorcode(ErrorReportRequestProto::DISK_ERROR);
    request.set_msg(fmt::format("{}: {}", disk.directory, disk.failure));
    return namenode_.followed()->ErrorReport(request);
  });
  RequestBlockReport();
}

void NamenodeSession::OnDiskScanned(const DiskStatus&) { RequestBlockReport(); }

}  // namespace ebb::server
