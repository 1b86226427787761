// This server towards its namenode: registration, heartbeats, block reports, and what the namenode
// wants done.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "disk/block_store.h"
#include "server/namenode_client.h"
#include "server/task_queue.h"

namespace ebb::server {

struct ActorOptions {
  std::string namenode_host;
  std::uint16_t namenode_port = 0;
  // How peers and clients reach this server.
  std::string host;
  std::chrono::milliseconds heartbeat_interval = std::chrono::seconds(3);
  std::chrono::seconds block_report_interval = std::chrono::hours(6);
};

// Calls the namenode for as long as it lives; a namenode that is gone is called again for ever.
class NamenodeActor final : public StoreListener {
 public:
  struct Events {
    // The store is attached and the ports may serve; once, before the first registration.
    std::function<void()> on_attached;
    // After every registration.
    std::function<void()> on_registered;
    // This server can never serve this namenode; once.
    std::function<void(const Error&)> on_fatal;
    // Connections of the transfer server.
    std::function<std::size_t()> count_transfers;
  };

  NamenodeActor(ActorOptions options, BlockStore& store, Events events);
  // Stops.
  ~NamenodeActor() override;
  NamenodeActor(const NamenodeActor&) = delete;
  NamenodeActor& operator=(const NamenodeActor&) = delete;

  // With the ports that are open by now.
  void Start(std::uint16_t transfer_port, std::uint16_t ipc_port);
  void Stop();
  // Soon, whatever the schedule says.
  void RequestBlockReport();

  // Waits a little for the namenode to know, so that a client that closes its file at once need not
  // ask twice.
  void OnStored(const ReplicaInfo& replica) override;
  void OnDeleted(const ReplicaInfo& replica) override;
  void OnCorrupt(const ReplicaInfo& replica, const std::string& why) override;
  void OnDiskFailed(const DiskStatus& disk) override;

 private:
  using Clock = std::chrono::steady_clock;
  using BlockChange = hadoop::hdfs::datanode::ReceivedDeletedBlockInfoProto;

  // The main thread.
  void Run();
  [[nodiscard]] bool Attach();
  [[nodiscard]] Status RegisterOnce();
  [[nodiscard]] Status Beat();
  [[nodiscard]] Status ReportBlocks();
  void Obey(const hadoop::hdfs::datanode::DatanodeCommandProto& command);
  void ObeyBlockCommand(const hadoop::hdfs::datanode::BlockCommandProto& command);
  void CopyBlock(const hadoop::hdfs::BlockProto& block,
                 std::vector<hadoop::hdfs::DatanodeInfoProto> servers,
                 std::vector<std::string> storages);
  void AddTask(const char* what, std::function<void()> task);
  void Note(const Status& status, const char* what);
  // False if it was woken up to stop.
  bool Sleep(std::chrono::milliseconds time);

  // The thread of incremental reports.
  void RunChanges();
  [[nodiscard]] Status SendChanges();
  void Enqueue(const ReplicaInfo& replica, BlockChange::BlockStatus status);

  [[nodiscard]] hadoop::hdfs::datanode::DatanodeRegistrationProto MakeRegistration() const;
  [[nodiscard]] hadoop::hdfs::datanode::DatanodeRegistrationProto registration() const;

  const ActorOptions options_;
  BlockStore& store_;
  const Events events_;
  NamenodeClient namenode_;
  std::uint16_t transfer_port_ = 0;
  std::uint16_t ipc_port_ = 0;
  TaskQueue tasks_;
  std::atomic<std::uint32_t> copies_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool registered_ = false;
  bool report_due_ = false;
  hadoop::hdfs::NamespaceInfoProto namespace_;
  hadoop::hdfs::datanode::DatanodeRegistrationProto registration_;

  // A full report and incremental ones are never under way at the same time: an older full one
  // would bring back what a newer change took away.
  std::mutex report_mutex_;
  // Changes by storage that the namenode has not heard of, in their order. Guarded by mutex_.
  std::map<std::string, std::vector<BlockChange>> changes_;
  std::size_t change_count_ = 0;
  // Changes are numbered; those up to the second have been delivered.
  std::uint64_t enqueued_ = 0;
  std::uint64_t delivered_ = 0;
  bool changes_fail_ = false;
  std::condition_variable changes_wake_;
  std::condition_variable delivered_wake_;

  std::thread main_thread_;
  std::thread changes_thread_;
};

}  // namespace ebb::server
