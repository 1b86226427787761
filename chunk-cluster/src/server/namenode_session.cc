#include "server/namenode_session.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "server/back_off.h"
#include "server/heartbeat.h"

namespace ebb::server {

namespace {

using namespace hadoop::hdfs::datanode;
using std::chrono::milliseconds;

// A DataNode of HDFS 3.5 reports these versions.
constexpr char kSoftwareVersion[] = "3.5.0";
constexpr std::int32_t kDatanodeLayoutVersion = -57;

constexpr std::size_t kMaxTasks = 50'000;
constexpr std::size_t kTaskThreads = 4;
// A server is ready while its heartbeats are answered; a slow answer is no reason to take it out.
constexpr int kMissedHeartbeats = 3;
constexpr milliseconds kHeartbeatPatience{10'000};

}  // namespace

NamenodeSession::NamenodeSession(NamenodeSessionOptions options, BlockStore& store, Events events)
    : options_(std::move(options)),
      store_(store),
      events_(std::move(events)),
      namenode_(options_.namenode_host, options_.namenode_port),
      reporter_({options_.namenode_host, options_.namenode_port, options_.block_report_interval},
                store, namenode_,
                {.on_unregistered = [this] { Unregister(); },
                 .on_full_report_due = [this] { BeatNow(); },
                 .on_command = [this](const auto& command) { commands_.Execute(command); }}),
      prober_(store, options_.probe_interval),
      tasks_(kTaskThreads, kMaxTasks),
      commands_(
          store, namenode_, tasks_,
          [this] {
            Unregister();
            RequestBlockReport();
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
  tasks_.Stop();
  commands_.Stop();
  if (main_thread_.joinable()) main_thread_.join();
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
  BackOff back_off;
  for (;;) {
    Status status;
    bool registered;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      registered = registered_;
    }
    if (!registered) status = Register();
    if (status) status = Beat();
    if (status) {
      back_off.Reset();
      if (!Sleep(options_.heartbeat_interval)) return;
      continue;
    }
    const auto pause = back_off.Next();
    spdlog::warn("namenode {}: {}; trying again in {} ms", namenode_.address(),
                 status.error().message, pause.count());
    if (IsUnregistered(status.error())) Unregister();
    if (!Sleep(pause)) return;
  }
}

bool NamenodeSession::Attach() {
  for (BackOff back_off;;) {
    const auto info = namenode_.GetVersion();
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
    const auto pause = back_off.Next();
    spdlog::warn("no namenode answers at {} yet: {}; trying again in {} ms", namenode_.address(),
                 info.error().message, pause.count());
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

Status NamenodeSession::Register() {
  // Another namenode may answer at this address by now, for example one with another namespace.
  EBB_ASSIGN(const auto info, namenode_.GetVersion());
  if (info.storageinfo().clusterid() != namespace_.storageinfo().clusterid() ||
      info.blockpoolid() != namespace_.blockpoolid()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("the namenode now serves cluster {}, and this server holds blocks of "
                            "cluster {}; start the namenode of that cluster",
                            info.storageinfo().clusterid(), namespace_.storageinfo().clusterid()));
  }
  EBB_ASSIGN(auto registration, namenode_.Register(MakeRegistration()));
  namespace_ = info;
  {
    const std::lock_guard lock(mutex_);
    registration_ = registration;
    registered_ = true;
  }
  spdlog::info("registered with namenode {} as {}, transfer port {}, ipc port {}",
               namenode_.address(), store_.server_uuid(), transfer_port_, ipc_port_);
  reporter_.SetRegistered(registration);
  events_.on_registered();
  return {};
}

void NamenodeSession::Unregister() {
  // The reporter comes first. If another thread registers meanwhile, the session ends unregistered
  // and registers once more; the reporter never stays unregistered while the session is registered.
  reporter_.SetUnregistered();
  const std::lock_guard lock(mutex_);
  registered_ = false;
}

Status NamenodeSession::Beat() {
  const bool wants_lease = reporter_.WantsLease();
  EBB_ASSIGN(const auto response, SendHeartbeat(namenode_, registration(), store_.Disks(),
                                                {.transfers = events_.count_transfers(),
                                                 .copies = commands_.copies(),
                                                 .wants_report_lease = wants_lease}));
  // 0 means that too many other servers report: the next heartbeat asks again.
  if (wants_lease &&
      (!response.has_fullblockreportleaseid() || response.fullblockreportleaseid() != 0)) {
    reporter_.GrantLease(response.fullblockreportleaseid());
  }
  {
    const std::lock_guard lock(mutex_);
    last_beat_ = std::chrono::steady_clock::now();
  }
  for (const auto& command : response.cmds()) commands_.Execute(command);
  store_.DropHungDisks();
  return {};
}

// ---- events of the store ------------------------------------------------------------------------

void NamenodeSession::OnStored(const ReplicaInfo& replica) { reporter_.ReportStored(replica); }

void NamenodeSession::OnDeleted(const ReplicaInfo& replica) { reporter_.ReportDeleted(replica); }

void NamenodeSession::OnCorrupt(const ReplicaInfo& replica, const std::string&) {
  tasks_.Add("report of a corrupt block", [this, replica] {
    if (auto told = reporter_.ReportCorrupt(replica); !told) {
      spdlog::warn("reporting corrupt block {} to the namenode failed: {}", replica.block_id,
                   told.error().message);
    }
  });
}

void NamenodeSession::OnCorruptAtPeer(const hadoop::hdfs::DatanodeIDProto& peer,
                                      const hadoop::hdfs::ExtendedBlockProto& block) {
  spdlog::warn("the bytes of block {} that came from {}:{} contradict their checksums",
               block.blockid(), peer.ipaddr(), peer.xferport());
  tasks_.Add("report of a peer's corrupt block", [this, peer, block] {
    if (auto told = reporter_.ReportCorruptAt(peer, block); !told) {
      spdlog::warn("reporting block {} of {}:{} to the namenode failed: {}", block.blockid(),
                   peer.ipaddr(), peer.xferport(), told.error().message);
    }
  });
}

void NamenodeSession::OnDiskFailed(const DiskStatus& disk) {
  tasks_.Add("report of a failed disk", [this, disk] {
    ErrorReportRequestProto request;
    *request.mutable_registartion() = registration();
    request.set_errorcode(ErrorReportRequestProto::DISK_ERROR);
    request.set_msg(fmt::format("{}: {}", disk.directory, disk.failure));
    if (auto told = namenode_.ErrorReport(request); !told) {
      spdlog::warn("reporting failed disk {} to the namenode failed: {}", disk.directory,
                   told.error().message);
    }
  });
  RequestBlockReport();
}

void NamenodeSession::OnDiskScanned(const DiskStatus&) { RequestBlockReport(); }

}  // namespace ebb::server
