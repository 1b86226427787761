// This server towards its namenode: registration, the schedule of heartbeats, the change to another
// namenode, and events of the store. The heartbeat itself is in heartbeat.h, the reports in
// block_reporter.h, the namenode's commands in command_executor.h. HDFS calls this part
// BPServiceActor.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "DatanodeProtocol.pb.h"
#include "disk/block_store.h"
#include "rpc/address.h"
#include "server/active_namenode.h"
#include "server/back_off.h"
#include "server/block_reporter.h"
#include "server/command_executor.h"
#include "server/disk_prober.h"
#include "server/heartbeat.h"
#include "server/task_queue.h"
#include "transfer/peer_listener.h"

namespace ebb::server {

struct NamenodeSessionOptions {
  // One namenode, or several that share a store: one of these serves, and the others take over.
  std::vector<RpcAddress> namenodes;
  // The address at which peers and clients reach this server.
  std::string host;
  std::chrono::milliseconds heartbeat_interval = std::chrono::seconds(3);
  std::chrono::seconds block_report_interval = std::chrono::hours(6);
  std::chrono::milliseconds probe_interval = std::chrono::seconds(3);
  // If one of several namenodes takes longer for a heartbeat, this server asks the others whether
  // they serve. It stays with a slow namenode if none does.
  std::chrono::milliseconds namenode_patience = std::chrono::seconds(2);
};

// Runs a thread that calls the namenode until Stop. While the namenode does not answer, the thread
// tries again and again. Of several namenodes it follows the one that serves: it registers and
// reports there as after a restart of the namenode.
class NamenodeSession final : public StoreListener, public transfer::PeerListener {
 public:
  struct Events {
    // The store is attached and the ports may serve. Called once, before the first registration.
    std::function<void()> on_attached;
    // Called after every registration.
    std::function<void()> on_registered;
    // This server can never serve this namenode. Called once.
    std::function<void(const Error&)> on_fatal;
    // Counts the connections of the transfer server.
    std::function<std::size_t()> count_transfers;
    // The bytes per second that moves of a balancer may take from now on. May be empty.
    std::function<void(std::uint64_t)> on_balancer_bandwidth = {};
  };

  NamenodeSession(NamenodeSessionOptions options, BlockStore& store, Events events);
  // Stops.
  ~NamenodeSession() override;
  NamenodeSession(const NamenodeSession&) = delete;
  NamenodeSession& operator=(const NamenodeSession&) = delete;

  // The ports must be open.
  void Start(std::uint16_t transfer_port, std::uint16_t ipc_port);
  void Stop();
  // Sends a full block report soon, whatever the schedule says.
  void RequestBlockReport();
  // Tells at once what waits because an incremental report failed.
  void RequestIncrementalReport();
  // Why this server does not serve its namenode now; empty if it does. Thread-safe.
  [[nodiscard]] std::string NotReady() const;
  // Since the namenode answered a heartbeat; empty if it never did. Thread-safe.
  [[nodiscard]] std::optional<std::chrono::milliseconds> SinceHeartbeat() const;

  void OnStored(const ReplicaInfo& replica) override;
  void OnDeleted(const ReplicaInfo& replica) override;
  void OnCorrupt(const ReplicaInfo& replica, const std::string& why) override;
  void OnDiskFailed(const DiskStatus& disk) override;
  void OnDiskScanned(const DiskStatus& disk) override;
  void OnCorruptAtPeer(const hadoop::hdfs::DatanodeIDProto& peer,
                       const hadoop::hdfs::ExtendedBlockProto& block) override;

 private:
  using Client = ActiveNamenode::Client;

  void Run();
  // Registers if need be, and beats.
  [[nodiscard]] Status KeepUp();
  // After a failure: follows another namenode if one serves. Returns how long to wait.
  [[nodiscard]] std::chrono::milliseconds Recover(const Error& error);
  // What a namenode that leads says of the namespace. A follower says that it is the standby.
  [[nodiscard]] static Result<hadoop::hdfs::NamespaceInfoProto> AskLeader(const Client& namenode);
  // Asks the other namenodes, each once. False if none of them serves.
  [[nodiscard]] bool FollowAnother();
  // Why a namenode cannot be the one that this server belongs to.
  [[nodiscard]] Status CheckNamespace(const hadoop::hdfs::NamespaceInfoProto& info) const;
  // Why the sender of the answer does not lead the namenodes.
  [[nodiscard]] Status CheckLeader(const hadoop::hdfs::datanode::HeartbeatResponseProto& response);
  // Sends the next heartbeat without a pause.
  void BeatNow();
  [[nodiscard]] bool Attach();
  [[nodiscard]] Status Register();
  // Does nothing if another namenode is followed by now.
  void Unregister(const Client& namenode);
  [[nodiscard]] Status Beat();
  // Returns early if a full report is due: the next heartbeat asks for its lease. False if it was
  // woken up to stop.
  bool Sleep(std::chrono::milliseconds time);
  [[nodiscard]] bool stopping() const;
  // Runs a report to the namenode on another thread. A report that no namenode took is repeated
  // after the next registration.
  void Tell(const std::string& what, std::function<Status()> report);
  void TellAgain();

  [[nodiscard]] hadoop::hdfs::datanode::DatanodeRegistrationProto MakeRegistration() const;
  [[nodiscard]] hadoop::hdfs::datanode::DatanodeRegistrationProto registration() const;

  const NamenodeSessionOptions options_;
  BlockStore& store_;
  const Events events_;
  ActiveNamenode namenode_;
  std::uint16_t transfer_port_ = 0;
  std::uint16_t ipc_port_ = 0;
  BlockReporter reporter_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool registered_ = false;
  bool beat_now_ = false;
  std::optional<std::chrono::steady_clock::time_point> last_beat_;
  hadoop::hdfs::datanode::DatanodeRegistrationProto registration_;
  // Reports that no namenode took.
  std::vector<std::pair<std::string, std::function<Status()>>> untold_;
  // Used by the main thread only, as all below.
  hadoop::hdfs::NamespaceInfoProto namespace_;
  // Of the leader that this server obeyed last. Terms of later leaders are higher.
  std::uint64_t term_ = 0;
  QueueMeter queues_;
  BackOff back_off_;
  std::string last_problem_;

  DiskProber prober_;
  // What is told to the namenode. No task of it waits for a disk or for another server.
  TaskQueue tells_;
  CommandExecutor commands_;
  std::thread main_thread_;
};

}  // namespace ebb::server
