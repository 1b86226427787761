// The session with a namenode, its services and the store, against a fake namenode over sockets.
#include "server/namenode_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "InterDatanodeProtocol.pb.h"
#include "common/thread_shortage.h"
#include "disk/faulty_file_system.h"
#include "disk/test_support.h"
#include "rpc/server.h"
#include "server/block_recovery.h"
#include "server/inter_datanode_service.h"
#include "transfer/server.h"

namespace ebb::server {
namespace {

using namespace ebb::testing;
using namespace hadoop::hdfs;
using namespace hadoop::hdfs::datanode;
using BlockChange = ReceivedDeletedBlockInfoProto;

// Answers the calls of DatanodeProtocol and keeps the requests.
class FakeNamenode {
 public:
  FakeNamenode() : rpc_(RpcServerOptions()) {
    RpcHandlers handlers;
    handlers["versionRequest"] = Handler<VersionRequestProto>([this](const auto&) {
      ++questions;
      VersionResponseProto response;
      auto& info = *response.mutable_info();
      info.set_buildversion("test");
      info.set_unused(0);
      info.set_blockpoolid("BP-1");
      info.set_softwareversion("3.5.0");
      info.mutable_storageinfo()->set_layoutversion(1);
      info.mutable_storageinfo()->set_namespceid(7);
      info.mutable_storageinfo()->set_clusterid("CID-1");
      info.mutable_storageinfo()->set_ctime(0);
      if (says_standby) info.set_state(NNHAStatusHeartbeatProto::STANDBY);
      return response;
    });
    handlers["registerDatanode"] =
        Handler<RegisterDatanodeRequestProto>([this](const auto& request) {
          ++registrations;
          RegisterDatanodeResponseProto response;
          *response.mutable_registration() = request.registration();
          return response;
        });
    handlers["sendHeartbeat"] = Handler<HeartbeatRequestProto>([this](const auto& request) {
      heartbeats[request.registration().datanodeid().datanodeuuid()] = request;
      ++beats;
      HeartbeatResponseProto response;
      if (request.requestfullblockreportlease()) {
        ++lease_requests;
        if (lease) response.set_fullblockreportleaseid(*lease);
      }
      response.mutable_hastatus()->set_state(says_standby ? NNHAStatusHeartbeatProto::STANDBY
                                                          : NNHAStatusHeartbeatProto::ACTIVE);
      response.mutable_hastatus()->set_txid(term);
      auto& queue = commands[request.registration().datanodeid().datanodeuuid()];
      for (auto& command : queue) *response.add_cmds() = std::move(command);
      queue.clear();
      return response;
    });
    handlers["blockReport"] = MakeRpcHandler<BlockReportRequestProto>(
        [this](const RpcCaller&,
               const BlockReportRequestProto& request) -> Result<BlockReportResponseProto> {
          std::unique_lock lock(mutex_);
          if (standby) return std::unexpected(Standby());
          reports[request.registration().datanodeid().datanodeuuid()].push_back(request);
          changed_.notify_all();
          changed_.wait(lock, [this] { return !hold_reports; });
          ++answered_reports;
          changed_.notify_all();
          BlockReportResponseProto response;
          if (report_command) *response.mutable_cmd() = *report_command;
          return response;
        });
    handlers["blockReceivedAndDeleted"] =
        Handler<BlockReceivedAndDeletedRequestProto>([this](const auto& request) {
          std::size_t count = 0;
          for (const auto& storage : request.blocks()) {
            count += static_cast<std::size_t>(storage.blocks_size());
            for (const auto& change : storage.blocks()) {
              changes.push_back({storage.storage().storageuuid(), change});
            }
          }
          most_changes = std::max(most_changes, count);
          return BlockReceivedAndDeletedResponseProto();
        });
    handlers["blockReceivedAndDeleted"] =
        [this, hear = std::move(handlers["blockReceivedAndDeleted"])](
            const RpcCaller& caller, std::string_view request) -> Result<std::string> {
      if (RefusesChanges()) return Fail(ErrorCode::kBusy, "the namenode refuses all changes");
      return hear(caller, request);
    };
    handlers["errorReport"] = Handler<ErrorReportRequestProto>([this](const auto& request) {
      errors.push_back(request.msg());
      return ErrorReportResponseProto();
    });
    handlers["reportBadBlocks"] = Handler<ReportBadBlocksRequestProto>([this](const auto& request) {
      for (const auto& block : request.blocks()) {
        bad_blocks.push_back(block.b().blockid());
        bad_holders.push_back(block.locs(0).id().datanodeuuid() +
                              (block.storageids_size() > 0 ? " " + block.storageids(0) : ""));
      }
      return ReportBadBlocksResponseProto();
    });
    handlers["commitBlockSynchronization"] =
        Handler<CommitBlockSynchronizationRequestProto>([this](const auto& request) {
          recoveries.push_back(request);
          return CommitBlockSynchronizationResponseProto();
        });
    rpc_.RegisterService("org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol", 1,
                         std::move(handlers));
    EXPECT_TRUE(rpc_.Start());
  }

  ~FakeNamenode() {
    HoldReports(false);
    Freeze(false);
  }

  std::uint16_t port() const { return rpc_.port(); }
  RpcAddress address() const { return {"127.0.0.1", port()}; }
  // The caller holds the mutex.
  template <typename Function>
  auto Locked(Function function) {
    const std::lock_guard lock(mutex_);
    return function();
  }
  template <typename Predicate>
  void Await(const char* what, Predicate predicate) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, std::chrono::seconds(60), predicate)) << what;
  }
  void Command(const std::string& server_uuid, DatanodeCommandProto command) {
    const std::lock_guard lock(mutex_);
    commands[server_uuid].push_back(std::move(command));
  }
  // Full reports of a server have one call for each disk. The caller holds the mutex.
  std::size_t FullReports(const std::string& server_uuid) const {
    const auto found = reports.find(server_uuid);
    if (found == reports.end()) return 0;
    return static_cast<std::size_t>(std::ranges::count_if(found->second, [](const auto& call) {
      return call.context().currpc() + 1 == call.context().totalrpcs();
    }));
  }
  // A frozen namenode takes calls and answers when it wakes up.
  void Freeze(bool freeze) {
    {
      const std::lock_guard lock(mutex_);
      frozen = freeze;
    }
    changed_.notify_all();
  }
  void HoldReports(bool hold) {
    {
      const std::lock_guard lock(mutex_);
      hold_reports = hold;
    }
    changed_.notify_all();
  }
  bool Heard(std::uint64_t block_id, BlockChange::BlockStatus status) const {
    for (const auto& [storage, change] : changes) {
      if (change.block().blockid() == block_id && change.status() == status) return true;
    }
    return false;
  }

  int registrations = 0;
  int beats = 0;
  int lease_requests = 0;
  // The lease of the answers. Without a value the answers have no such field.
  std::optional<std::uint64_t> lease;
  // Calls of blockReport are kept and not answered.
  bool hold_reports = false;
  // The command in the answers to them.
  std::optional<DatanodeCommandProto> report_command;
  int answered_reports = 0;
  bool frozen = false;
  int frozen_calls = 0;
  // Calls are answered, as by a follower: the answers tell that it does not lead.
  bool says_standby = false;
  // Calls of versionRequest.
  int questions = 0;
  // Every call is refused, and counted.
  bool standby = false;
  int refusals = 0;
  // Incremental reports alone are refused, and counted.
  bool refuses_changes = false;
  int refused_changes = 0;
  std::uint64_t term = 1;
  std::map<std::string, HeartbeatRequestProto> heartbeats;
  std::map<std::string, std::vector<BlockReportRequestProto>> reports;
  std::vector<std::pair<std::string, BlockChange>> changes;
  // In one call.
  std::size_t most_changes = 0;
  std::vector<std::string> errors;
  std::vector<std::uint64_t> bad_blocks;
  // For each of bad_blocks: uuid of the server, and of the storage if it was named.
  std::vector<std::string> bad_holders;
  std::vector<CommitBlockSynchronizationRequestProto> recoveries;
  std::map<std::string, std::vector<DatanodeCommandProto>> commands;

 private:
  bool RefusesChanges() {
    const std::lock_guard lock(mutex_);
    if (refuses_changes) ++refused_changes;
    changed_.notify_all();
    return refuses_changes;
  }
  // The caller holds the mutex.
  Error Standby() {
    ++refusals;
    changed_.notify_all();
    return {ErrorCode::kBusy, "this namenode is standby", "org.apache.hadoop.ipc.StandbyException"};
  }
  template <typename Request, typename Function>
  RpcHandler Handler(Function function) {
    return MakeRpcHandler<Request>(
        [this, function](const RpcCaller&,
                         const Request& request) -> Result<decltype(function(request))> {
          std::unique_lock lock(mutex_);
          if (frozen) ++frozen_calls;
          changed_.notify_all();
          changed_.wait(lock, [this] { return !frozen; });
          if (standby) return std::unexpected(Standby());
          auto response = function(request);
          changed_.notify_all();
          return response;
        });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  RpcServer rpc_;
};

// A chunk server as in main(), but without combine.
struct Server {
  explicit Server(std::uint16_t namenode_port,
                  std::chrono::milliseconds slow_disk_after = std::chrono::seconds(60),
                  std::chrono::milliseconds hung_disk_after = std::chrono::minutes(10),
                  const std::string& hangs_in_scan = "")
      : Server(std::vector<RpcAddress>{{"127.0.0.1", namenode_port}}, slow_disk_after,
               hung_disk_after, hangs_in_scan) {}
  explicit Server(const std::vector<RpcAddress>& namenodes,
                  std::chrono::milliseconds slow_disk_after = std::chrono::seconds(60),
                  std::chrono::milliseconds hung_disk_after = std::chrono::minutes(10),
                  const std::string& hangs_in_scan = "",
                  std::chrono::milliseconds heartbeat_interval = std::chrono::milliseconds(20))
      : rpc(RpcServerOptions()) {
    BlockStore::Options disks;
    disks.directories = {directory / "a", directory / "b"};
    disks.slow_disk_after = slow_disk_after;
    disks.hung_disk_after = hung_disk_after;
    auto opened = BlockStore::Open(files, disks);
    EXPECT_TRUE(opened.has_value());
    store = std::move(opened).value();
    if (!hangs_in_scan.empty()) {
      files.Set(FaultyFileSystem::Fault::kHang, directory / hangs_in_scan);
    }
    transfers = std::make_unique<transfer::TransferServer>(transfer::TransferServer::Options(),
                                                           *store, nullptr);
    EXPECT_TRUE(transfers->Listen());
    RegisterInterDatanodeProtocol(rpc, *store);
    EXPECT_TRUE(rpc.Start());
    NamenodeSessionOptions options;
    options.host = "127.0.0.1";
    options.namenodes = namenodes;
    options.namenode_patience = std::chrono::milliseconds(500);
    options.heartbeat_interval = heartbeat_interval;
    options.probe_interval = std::chrono::milliseconds(20);
    NamenodeSession::Events events;
    events.on_attached = [this] { transfers->Serve(); };
    events.on_registered = [] {};
    events.on_fatal = [](const Error& error) { ADD_FAILURE() << error.message; };
    events.count_transfers = [this] { return transfers->operations(); };
    session = std::make_unique<NamenodeSession>(options, *store, events);
    store->SetListener(session.get());
    transfers->SetListener(session.get());
    session->Start(transfers->port(), rpc.port());
  }
  ~Server() {
    files.Set(FaultyFileSystem::Fault::kNone);  // nothing may hang any more
    transfers->Stop();
    rpc.Stop();
    session->Stop();
  }
  DatanodeInfoProto info() const {
    DatanodeInfoProto info;
    auto& id = *info.mutable_id();
    id.set_ipaddr("127.0.0.1");
    id.set_hostname("127.0.0.1");
    id.set_datanodeuuid(store->server_uuid());
    id.set_xferport(transfers->port());
    id.set_infoport(0);
    id.set_ipcport(rpc.port());
    return info;
  }
  const std::string& uuid() const { return store->server_uuid(); }

  TemporaryDirectory directory;
  FaultyFileSystem files;
  std::unique_ptr<BlockStore> store;
  std::unique_ptr<transfer::TransferServer> transfers;
  RpcServer rpc;
  std::unique_ptr<NamenodeSession> session;
};

DatanodeCommandProto BlockCommand(BlockCommandProto::Action action, std::uint64_t block_id) {
  DatanodeCommandProto command;
  command.set_cmdtype(DatanodeCommandProto::BlockCommand);
  auto& inner = *command.mutable_blkcmd();
  inner.set_action(action);
  inner.set_blockpoolid("BP-1");
  auto& block = *inner.add_blocks();
  block.set_blockid(block_id);
  block.set_genstamp(1001);
  block.set_numbytes(0);
  return command;
}

class NamenodeSessionTest : public ::testing::Test {
 protected:
  void AwaitReports(int servers) {
    namenode_.Await("block reports", [&] {
      return std::ranges::count_if(namenode_.reports, [&](const auto& of_server) {
               return namenode_.FullReports(of_server.first) > 0;
             }) == servers;
    });
  }
  FakeNamenode namenode_;
};

TEST_F(NamenodeSessionTest, RegistersBeatsAndReports) {
  Server server(namenode_.port());
  AwaitReports(1);
  namenode_.Await("a heartbeat", [&] { return namenode_.heartbeats.contains(server.uuid()); });
  namenode_.Locked([&] {
    EXPECT_EQ(namenode_.registrations, 1);
    const auto& beat = namenode_.heartbeats[server.uuid()];
    EXPECT_EQ(beat.reports_size(), 2);
    EXPECT_GT(beat.reports(0).capacity(), 0U);
    EXPECT_EQ(beat.registration().datanodeid().xferport(), server.transfers->port());
    std::set<std::string> storages;
    for (const auto& call : namenode_.reports[server.uuid()]) {
      ASSERT_EQ(call.reports_size(), 1);
      storages.insert(call.reports(0).storage().storageuuid());
    }
    EXPECT_EQ(storages.size(), 2U);
  });
  DatanodeCommandProto again;
  again.set_cmdtype(DatanodeCommandProto::RegisterCommand);
  again.mutable_registercmd();
  namenode_.Command(server.uuid(), again);
  namenode_.Await("another registration and report", [&] {
    return namenode_.registrations == 2 && namenode_.FullReports(server.uuid()) == 2;
  });
}

TEST_F(NamenodeSessionTest, NothingWaitsForAFullReport) {
  namenode_.HoldReports(true);
  Server server(namenode_.port());
  namenode_.Await("the report of the first disk",
                  [&] { return !namenode_.reports[server.uuid()].empty(); });
  const int before = namenode_.Locked([&] { return namenode_.beats; });
  namenode_.Await("heartbeats meanwhile", [&] { return namenode_.beats > before + 20; });
  namenode_.Locked([&] { EXPECT_EQ(namenode_.reports[server.uuid()].size(), 1U); });
  namenode_.HoldReports(false);
  AwaitReports(1);
}

TEST_F(NamenodeSessionTest, AFullReportNeedsALease) {
  namenode_.lease = 0;
  Server server(namenode_.port());
  namenode_.Await("requests for a lease", [&] { return namenode_.lease_requests > 5; });
  namenode_.Locked([&] {
    EXPECT_TRUE(namenode_.reports.empty());
    namenode_.lease = 77;
  });
  AwaitReports(1);
  namenode_.Locked([&] {
    const auto& calls = namenode_.reports[server.uuid()];
    ASSERT_EQ(calls.size(), 2U);
    for (int i = 0; i < 2; ++i) {
      const auto& context = calls[static_cast<std::size_t>(i)].context();
      EXPECT_EQ(context.leaseid(), 77U);
      EXPECT_EQ(context.currpc(), i);
      EXPECT_EQ(context.totalrpcs(), 2);
      EXPECT_EQ(context.id(), calls[0].context().id());
    }
  });
  const int before = namenode_.Locked([&] { return namenode_.beats; });
  namenode_.Await("heartbeats", [&] { return namenode_.beats > before + 2; });
  const int asked = namenode_.Locked([&] { return namenode_.lease_requests; });
  namenode_.Await("more heartbeats", [&] { return namenode_.beats > before + 10; });
  namenode_.Locked([&] { EXPECT_EQ(namenode_.lease_requests, asked) << "no report is due"; });
}

TEST_F(NamenodeSessionTest, TellsOfStoredDeletedAndCorruptBlocksAtOnce) {
  Server server(namenode_.port());
  AwaitReports(1);
  StoreBlock(*server.store, 1, RandomBytes(1000, 1));
  namenode_.Await("the stored block", [&] { return namenode_.Heard(1, BlockChange::RECEIVED); });
  namenode_.Locked([&] {
    EXPECT_EQ(namenode_.changes.back().first, server.store->Find(1)->storage_uuid);
    EXPECT_EQ(namenode_.changes.back().second.block().numbytes(), 1000U);
  });
  EXPECT_TRUE(server.store->ReportCorrupt(*server.store->Find(1), "a test says so"));
  namenode_.Await("the corrupt block",
                  [&] { return namenode_.bad_blocks == std::vector<std::uint64_t>{1}; });
  namenode_.Command(server.uuid(), BlockCommand(BlockCommandProto::INVALIDATE, 1));
  namenode_.Await("the deleted block", [&] { return namenode_.Heard(1, BlockChange::DELETED); });
  EXPECT_TRUE(server.directory.Find("blk_1").empty());
}

TEST_F(NamenodeSessionTest, ManyChangesGoInSeveralCallsAndInTheirOrder) {
  namenode_.Locked([&] { namenode_.standby = true; });
  Server server(namenode_.port());
  constexpr std::uint64_t kChanges = 25'000;
  for (std::uint64_t id = 1; id <= kChanges; ++id) {
    server.session->OnDeleted({.block_id = id, .generation_stamp = 1001, .storage_uuid = "DS-1"});
  }
  namenode_.Locked([&] { namenode_.standby = false; });
  namenode_.Await("all changes", [&] { return namenode_.Heard(kChanges, BlockChange::DELETED); });
  namenode_.Locked([&] {
    std::uint64_t last = 0;
    for (const auto& [storage, change] : namenode_.changes) {
      ASSERT_LE(change.block().blockid(), last + 1);
      last = std::max(last, change.block().blockid());
    }
    EXPECT_LE(namenode_.most_changes, 10'000);
  });
}

// After a failure the reporter waits for up to 2 s.
TEST_F(NamenodeSessionTest, ARequestedIncrementalReportDoesNotWaitAfterAFailure) {
  Server server(namenode_.port());
  AwaitReports(1);
  namenode_.Locked([&] { namenode_.refuses_changes = true; });
  server.session->OnDeleted({.block_id = 1, .generation_stamp = 1001, .storage_uuid = "DS-1"});
  namenode_.Await("failures", [&] { return namenode_.refused_changes >= 4; });
  const auto begin = std::chrono::steady_clock::now();
  const int before = namenode_.Locked([&] { return namenode_.refused_changes; });
  for (int i = 1; i <= 20; ++i) {
    server.session->RequestIncrementalReport();
    namenode_.Await("another attempt", [&] { return namenode_.refused_changes >= before + i; });
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  namenode_.Locked([&] { namenode_.refuses_changes = false; });
  server.session->RequestIncrementalReport();
  namenode_.Await("the change", [&] { return namenode_.Heard(1, BlockChange::DELETED); });
}

TEST_F(NamenodeSessionTest, AReplicaIsForgottenWithTheOrderEvenIfItsDiskHangs) {
  Server server(namenode_.port());
  AwaitReports(1);
  constexpr std::uint64_t kBlocks = 20;
  const auto disks = server.store->Disks();
  auto command = BlockCommand(BlockCommandProto::INVALIDATE, 1);
  for (std::uint64_t id = 1; id <= kBlocks; ++id) {
    StoreBlock(*server.store, id, RandomBytes(100, id), 1001, disks[0].storage_uuid);
    if (id > 1) {
      *command.mutable_blkcmd()->add_blocks() = command.blkcmd().blocks(0);
      command.mutable_blkcmd()->mutable_blocks(static_cast<int>(id) - 1)->set_blockid(id);
    }
  }
  StoreBlock(*server.store, 100, RandomBytes(100, 100), 1001, disks[1].storage_uuid);
  server.files.Set(FaultyFileSystem::Fault::kHang, server.directory / "a/finalized");
  namenode_.Command(server.uuid(), command);
  namenode_.Command(server.uuid(), BlockCommand(BlockCommandProto::INVALIDATE, 100));
  // The other disk does not wait.
  namenode_.Await("the deletion on the other disk",
                  [&] { return namenode_.Heard(100, BlockChange::DELETED); });
  for (std::uint64_t id = 1; id <= kBlocks; ++id) {
    EXPECT_FALSE(server.store->Find(id).has_value()) << id;
    EXPECT_FALSE(server.store->OpenReader(id, 0).has_value()) << id;
  }
  EXPECT_TRUE(server.store->Replicas(disks[0].storage_uuid).empty());
  EXPECT_EQ(server.directory.Find("a/finalized").size(), 2 * kBlocks);
  // The files of the old replica would be taken for the new one.
  const auto again = server.store->Create({.block_id = 1, .generation_stamp = 1, .checksum = {}});
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, ErrorCode::kBusy) << again.error().message;
  namenode_.Locked([&] { EXPECT_FALSE(namenode_.Heard(1, BlockChange::DELETED)); });
  server.files.Set(FaultyFileSystem::Fault::kNone);
  namenode_.Await("the deletions", [&] {
    for (std::uint64_t id = 1; id <= kBlocks; ++id) {
      if (!namenode_.Heard(id, BlockChange::DELETED)) return false;
    }
    return true;
  });
  EXPECT_TRUE(server.directory.Find("blk_").empty());
}

TEST_F(NamenodeSessionTest, CopiesABlockToTheStorageItIsTold) {
  Server from(namenode_.port());
  Server to(namenode_.port());
  AwaitReports(2);
  const auto data = RandomBytes(100'000, 1);
  StoreBlock(*from.store, 1, data);
  auto command = BlockCommand(BlockCommandProto::TRANSFER, 1);
  *command.mutable_blkcmd()->add_targets()->add_datanodes() = to.info();
  const std::string storage = to.store->Disks()[1].storage_uuid;
  command.mutable_blkcmd()->add_targetstorageuuids()->add_storageuuids(storage);
  namenode_.Command(from.uuid(), command);
  namenode_.Await("the copy", [&] {
    return !namenode_.changes.empty() && namenode_.changes.back().first == storage;
  });
  const auto read = ReadBlock(*to.store, 1);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, data);
}

TEST_F(NamenodeSessionTest, TheTargetOfACopyReportsTheSourceOfCorruptBytes) {
  Server from(namenode_.port());
  Server to(namenode_.port());
  AwaitReports(2);
  StoreBlock(*from.store, 1, RandomBytes(100'000, 1));
  const auto files = from.directory.Find("blk_1");
  FlipByte(files.front().ends_with(".meta") ? files.back() : files.front(), 70'000);
  auto command = BlockCommand(BlockCommandProto::TRANSFER, 1);
  *command.mutable_blkcmd()->add_targets()->add_datanodes() = to.info();
  namenode_.Command(from.uuid(), command);
  namenode_.Await("the report of the bad block", [&] { return !namenode_.bad_blocks.empty(); });
  namenode_.Locked([&] {
    EXPECT_EQ(namenode_.bad_blocks.front(), 1U);
    EXPECT_EQ(namenode_.bad_holders.front(), from.uuid());
  });
  // What had arrived of the copy goes.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (to.store->Find(1)) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST_F(NamenodeSessionTest, AFailedDiskIsReportedAndItsBlocksGo) {
  Server server(namenode_.port());
  AwaitReports(1);
  const std::string storage = server.store->Disks()[0].storage_uuid;
  StoreBlock(*server.store, 1, RandomBytes(1000, 1), 1001, storage);
  server.files.Set(FaultyFileSystem::Fault::kFailAll, server.directory / "a");
  namenode_.Await("a heartbeat with the failure, and a report without the blocks", [&] {
    const auto& beat = namenode_.heartbeats[server.uuid()];
    bool failed = beat.failedvolumes() == 1;
    for (const auto& report : beat.reports()) {
      failed = failed && report.failed() == (report.storage().storageuuid() == storage);
    }
    const auto& reports = namenode_.reports[server.uuid()];
    if (!failed || namenode_.FullReports(server.uuid()) < 2 || namenode_.errors.empty()) {
      return false;
    }
    for (auto i = reports.size() - 2; i < reports.size(); ++i) {
      if (reports[i].reports(0).numberofblocks() != 0) return false;
    }
    return true;
  });
}

// Bytes of block 1 from a client that has gone before it finished the block.
void BeginBlock(BlockStore& store, std::span<const std::byte> data) {
  auto writer = store.Create({.block_id = 1, .generation_stamp = 1001, .checksum = {}});
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE(WriteBytes(**writer, 0, data));
}

// A recovery of block 1 from stamp 1001 at these holders.
RecoveringBlockProto Recovering(std::uint64_t recovery_id,
                                const std::vector<DatanodeInfoProto>& holders) {
  RecoveringBlockProto recovering;
  recovering.set_newgenstamp(recovery_id);
  auto& located = *recovering.mutable_block();
  located.mutable_b()->set_poolid("BP-1");
  located.mutable_b()->set_blockid(1);
  located.mutable_b()->set_generationstamp(1001);
  located.set_offset(0);
  located.set_corrupt(false);
  auto& token = *located.mutable_blocktoken();
  token.set_identifier("");
  token.set_password("");
  token.set_kind("");
  token.set_service("");
  for (const auto& holder : holders) *located.add_locs() = holder;
  return recovering;
}

TEST_F(NamenodeSessionTest, ADiskThatHangsIsAvoidedAndStopsNoHeartbeat) {
  Server server(namenode_.port(), std::chrono::seconds(2));
  AwaitReports(1);
  const auto disks = server.store->Disks();
  const auto remaining = [&](const std::string& storage) {
    for (const auto& report : namenode_.heartbeats[server.uuid()].reports()) {
      if (report.storage().storageuuid() == storage) return report.remaining();
    }
    return ~std::uint64_t{0};
  };
  server.files.Set(FaultyFileSystem::Fault::kHang, server.directory / "a");
  namenode_.Await("a heartbeat that names the slow disk", [&] {
    return namenode_.heartbeats[server.uuid()].slowdisks_size() == 1 &&
           remaining(disks[0].storage_uuid) == 0;
  });
  const int before = namenode_.Locked([&] { return namenode_.beats; });
  namenode_.Await("heartbeats meanwhile", [&] { return namenode_.beats > before + 20; });
  namenode_.Locked([&] {
    const auto& beat = namenode_.heartbeats[server.uuid()];
    EXPECT_EQ(beat.slowdisks(0).basepath(), server.directory / "a");
    EXPECT_EQ(beat.failedvolumes(), 0U);
    EXPECT_GT(remaining(disks[1].storage_uuid), 0U);
  });
  for (std::uint64_t id = 1; id <= 4; ++id) {
    StoreBlock(*server.store, id, RandomBytes(100, id), 1001, disks[id % 2].storage_uuid);
    EXPECT_EQ(server.store->Find(id)->storage_uuid, disks[1].storage_uuid);
  }
  const auto exact = server.store->Create({.block_id = 9,
                                           .generation_stamp = 1,
                                           .checksum = {},
                                           .storage_uuid = disks[0].storage_uuid,
                                           .exact_storage = true});
  ASSERT_FALSE(exact.has_value());
  EXPECT_EQ(exact.error().code, ErrorCode::kBusy) << exact.error().message;
  server.files.Set(FaultyFileSystem::Fault::kNone);
  namenode_.Await("the disk is used again", [&] {
    return namenode_.heartbeats[server.uuid()].slowdisks_size() == 0 &&
           remaining(disks[0].storage_uuid) > 0;
  });
}

TEST_F(NamenodeSessionTest, ADiskThatIsNotScannedIsNamedButNotReported) {
  Server server(namenode_.port(), std::chrono::milliseconds(200), std::chrono::minutes(10),
                "b/finalized");
  AwaitReports(1);
  const auto disks = server.store->Disks();
  namenode_.Locked([&] {
    // A disk that no heartbeat names has failed, and an empty report means that its blocks are
    // gone.
    const auto& beat = namenode_.heartbeats[server.uuid()];
    ASSERT_EQ(beat.reports_size(), 2);
    EXPECT_FALSE(beat.reports(1).failed());
    EXPECT_EQ(beat.reports(1).remaining(), 0U);
    for (const auto& report : namenode_.reports[server.uuid()]) {
      EXPECT_EQ(report.reports(0).storage().storageuuid(), disks[0].storage_uuid);
    }
  });
  server.files.Set(FaultyFileSystem::Fault::kNone);
  namenode_.Await("the report of the disk", [&] {
    return namenode_.reports[server.uuid()].back().reports(0).storage().storageuuid() ==
           disks[1].storage_uuid;
  });
}

TEST_F(NamenodeSessionTest, ADiskThatHangsForLongHasFailed) {
  Server server(namenode_.port(), std::chrono::milliseconds(20), std::chrono::milliseconds(200));
  AwaitReports(1);
  server.files.Set(FaultyFileSystem::Fault::kHang, server.directory / "a");
  namenode_.Await("the failure", [&] {
    return namenode_.heartbeats[server.uuid()].failedvolumes() == 1 && !namenode_.errors.empty();
  });
  EXPECT_FALSE(server.store->Disks()[1].failed);
}

TEST_F(NamenodeSessionTest, LeadsTheRecoveryOfABlock) {
  Server leader(namenode_.port());
  Server other(namenode_.port());
  AwaitReports(2);
  const auto data = RandomBytes(3000, 1);
  for (const auto& [server, length] : {std::pair{&leader, 3000U}, std::pair{&other, 2000U}}) {
    BeginBlock(*server->store, std::span(data).first(length));
  }
  DatanodeCommandProto command;
  command.set_cmdtype(DatanodeCommandProto::BlockRecoveryCommand);
  *command.mutable_recoverycmd()->add_blocks() = Recovering(1009, {leader.info(), other.info()});
  namenode_.Command(leader.uuid(), command);
  namenode_.Await("the end of the recovery", [&] { return !namenode_.recoveries.empty(); });
  namenode_.Locked([&] {
    const auto& commit = namenode_.recoveries.front();
    EXPECT_EQ(commit.newlength(), 2000U);
    EXPECT_EQ(commit.newgenstamp(), 1009U);
    EXPECT_FALSE(commit.deleteblock());
    EXPECT_EQ(commit.newtaragets_size(), 2);
  });
  for (const auto* server : {&leader, &other}) {
    EXPECT_EQ(server->store->Find(1)->state, ReplicaState::kFinalized);
    EXPECT_EQ(*ReadBlock(*server->store, 1),
              (std::vector<std::byte>{data.begin(), data.begin() + 2000}));
  }
}

// An earlier attempt has cut the replica of the leader, and ended without a commit.
TEST_F(NamenodeSessionTest, ALaterAttemptAtARecoveryCutsWhatTheEarlierOneDidNotReach) {
  Server leader(namenode_.port());
  Server other(namenode_.port());
  AwaitReports(2);
  const auto data = RandomBytes(3000, 1);
  StoreBlock(*leader.store, 1, std::span(data).first(2000), 1009);
  BeginBlock(*other.store, data);
  const ActiveNamenode client({{"127.0.0.1", namenode_.port()}}, std::chrono::seconds(2));
  const auto recovered =
      RecoverBlock(*leader.store, client, Recovering(1010, {leader.info(), other.info()}));
  ASSERT_TRUE(recovered.has_value()) << recovered.error().message;
  namenode_.Locked([&] {
    ASSERT_EQ(namenode_.recoveries.size(), 1U);
    EXPECT_EQ(namenode_.recoveries.front().newlength(), 2000U);
    EXPECT_EQ(namenode_.recoveries.front().newtaragets_size(), 2);
  });
  EXPECT_EQ(*ReadBlock(*other.store, 1),
            (std::vector<std::byte>{data.begin(), data.begin() + 2000}));
}

// The leader's replica was short after a loss of power, and an earlier attempt has finalized the
// replica while the other holder was away.
TEST_F(NamenodeSessionTest, BytesThatTheNamenodeKnowsAreNotCutOff) {
  Server leader(namenode_.port());
  Server other(namenode_.port());
  AwaitReports(2);
  const auto data = RandomBytes(3000, 1);
  StoreBlock(*leader.store, 1, std::span(data).first(2000), 1009);
  BeginBlock(*other.store, data);
  auto dead = leader.info();
  dead.mutable_id()->set_datanodeuuid("dead");
  dead.mutable_id()->set_ipcport(1);
  const ActiveNamenode client({{"127.0.0.1", namenode_.port()}}, std::chrono::seconds(2));
  auto early = Recovering(1010, {leader.info(), dead});
  early.mutable_block()->mutable_b()->set_numbytes(3000);
  const auto refused = RecoverBlock(*leader.store, client, early);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("3000 bytes of block 1"), std::string::npos)
      << refused.error().message;
  auto later = Recovering(1011, {leader.info(), other.info()});
  later.mutable_block()->mutable_b()->set_numbytes(3000);
  const auto recovered = RecoverBlock(*leader.store, client, later);
  ASSERT_TRUE(recovered.has_value()) << recovered.error().message;
  namenode_.Locked([&] {
    ASSERT_EQ(namenode_.recoveries.size(), 1U);
    EXPECT_EQ(namenode_.recoveries.front().newlength(), 3000U);
    EXPECT_EQ(namenode_.recoveries.front().newtaragets_size(), 1);
  });
  EXPECT_EQ(*ReadBlock(*other.store, 1), data);
}

TEST_F(NamenodeSessionTest, ARecoveryWaitsForAHolderThatIsNotReady) {
  Server leader(namenode_.port());
  AwaitReports(1);
  const auto data = RandomBytes(3000, 1);
  BeginBlock(*leader.store, std::span(data).first(1000));
  // The other holder has the whole block, and was restarted.
  TemporaryDirectory directory;
  FaultyFileSystem files;
  StoreBlock(*OpenStore(files, {directory / "a"}), 1, data);
  auto opened = BlockStore::Open(files, {{directory / "a"}, 0});
  ASSERT_TRUE(opened.has_value());
  auto& store = **opened;
  RpcServer rpc{RpcServerOptions()};
  RegisterInterDatanodeProtocol(rpc, store);
  ASSERT_TRUE(rpc.Start());
  auto holder = leader.info();
  holder.mutable_id()->set_datanodeuuid(store.server_uuid());
  holder.mutable_id()->set_ipcport(rpc.port());
  const ActiveNamenode client({{"127.0.0.1", namenode_.port()}}, std::chrono::seconds(2));

  const auto early = RecoverBlock(*leader.store, client, Recovering(1009, {leader.info(), holder}));
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(early.error().code, ErrorCode::kNotReady) << early.error().message;
  namenode_.Locked([&] { EXPECT_TRUE(namenode_.recoveries.empty()); });
  ASSERT_TRUE(store.Attach("CID-1", "BP-1", 7));
  const auto again = RecoverBlock(*leader.store, client, Recovering(1010, {leader.info(), holder}));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  namenode_.Locked([&] {
    ASSERT_EQ(namenode_.recoveries.size(), 1U);
    EXPECT_EQ(namenode_.recoveries.front().newlength(), 3000U);
  });
}

TEST_F(NamenodeSessionTest, ABlockThatAHolderHasWithoutAnyByteIsRecoveredWithoutADeadHolder) {
  Server leader(namenode_.port());
  AwaitReports(1);
  auto dead = leader.info();
  dead.mutable_id()->set_datanodeuuid("dead");
  dead.mutable_id()->set_ipcport(1);
  const ActiveNamenode client({{"127.0.0.1", namenode_.port()}}, std::chrono::seconds(2));
  // The dead holder may be the only one with bytes.
  const auto unknown = RecoverBlock(*leader.store, client, Recovering(1009, {leader.info(), dead}));
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, ErrorCode::kNetwork) << unknown.error().message;

  ASSERT_TRUE(
      leader.store->Create({.block_id = 1, .generation_stamp = 1001, .checksum = {}}).has_value());
  const auto known = RecoverBlock(*leader.store, client, Recovering(1010, {leader.info(), dead}));
  ASSERT_TRUE(known.has_value()) << known.error().message;
  namenode_.Locked([&] {
    ASSERT_EQ(namenode_.recoveries.size(), 1U);
    EXPECT_TRUE(namenode_.recoveries.front().deleteblock());
  });
}

// The good replicas of holders that were not asked would be void after the recovery.
TEST_F(NamenodeSessionTest, ALeaderWithoutThreadsTakesNoHolderForAbsent) {
  Server leader(namenode_.port());
  Server other(namenode_.port());
  AwaitReports(2);
  for (const auto* server : {&leader, &other}) {
    BeginBlock(*server->store, RandomBytes(1000, 1));
  }
  const ActiveNamenode client({{"127.0.0.1", namenode_.port()}}, std::chrono::seconds(2));
  // The connection to the namenode has its thread.
  ASSERT_TRUE(client.followed()->GetVersion().has_value());
  {
    const ThreadShortage shortage;
    const auto early =
        RecoverBlock(*leader.store, client, Recovering(1009, {leader.info(), other.info()}));
    ASSERT_FALSE(early.has_value());
    EXPECT_EQ(early.error().code, ErrorCode::kNotReady) << early.error().message;
  }
  namenode_.Locked([&] { EXPECT_TRUE(namenode_.recoveries.empty()); });
  const auto again =
      RecoverBlock(*leader.store, client, Recovering(1010, {leader.info(), other.info()}));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  namenode_.Locked([&] {
    ASSERT_EQ(namenode_.recoveries.size(), 1U);
    EXPECT_EQ(namenode_.recoveries.front().newtaragets_size(), 2);
  });
}

TEST_F(NamenodeSessionTest, AnOrderForWhichNoThreadWasLeftIsObeyedWhenItIsRepeated) {
  Server server(namenode_.port());
  AwaitReports(1);
  const auto disks = server.store->Disks();
  StoreBlock(*server.store, 1, RandomBytes(1000, 1), 1001, disks[0].storage_uuid);
  StoreBlock(*server.store, 2, RandomBytes(1000, 2), 1001, disks[1].storage_uuid);
  DatanodeCommandProto recovery;
  recovery.set_cmdtype(DatanodeCommandProto::BlockRecoveryCommand);
  *recovery.mutable_recoverycmd()->add_blocks() = Recovering(1100, {server.info()});
  const auto order = [&] {
    namenode_.Command(server.uuid(), BlockCommand(BlockCommandProto::INVALIDATE, 2));
    namenode_.Command(server.uuid(), recovery);
  };
  {
    const ThreadShortage shortage;
    order();
    const int beats = namenode_.Locked([&] { return namenode_.beats; });
    namenode_.Await("the orders to be taken", [&] { return namenode_.beats > beats + 2; });
  }
  EXPECT_TRUE(server.store->Find(2).has_value());
  order();
  namenode_.Await("the deletion", [&] { return namenode_.Heard(2, BlockChange::DELETED); });
  namenode_.Await("the recovery", [&] { return !namenode_.recoveries.empty(); });
}

// A chunk server as a recovery sees it, which holds each call until all that are expected have
// come. It says that it has the blocks.
class MeetingHolder {
 public:
  explicit MeetingHolder(int expected) : expected_(expected), rpc_(RpcServerOptions()) {
    RpcHandlers handlers;
    handlers["initReplicaRecovery"] = MakeRpcHandler<InitReplicaRecoveryRequestProto>(
        [this](const RpcCaller&, const InitReplicaRecoveryRequestProto& request)
            -> Result<InitReplicaRecoveryResponseProto> {
          EBB_TRY(Meet(asked_, request.block().newgenstamp()));
          if (on_asked) on_asked();
          InitReplicaRecoveryResponseProto response;
          response.set_replicafound(true);
          response.set_state(RBW);
          *response.mutable_block() = BlockOf(request.block().block().b());
          return response;
        });
    handlers["updateReplicaUnderRecovery"] = MakeRpcHandler<UpdateReplicaUnderRecoveryRequestProto>(
        [this](const RpcCaller&, const UpdateReplicaUnderRecoveryRequestProto& request)
            -> Result<UpdateReplicaUnderRecoveryResponseProto> {
          EBB_TRY(Meet(cut_, request.recoveryid()));
          UpdateReplicaUnderRecoveryResponseProto response;
          response.set_storageuuid("storage");
          return response;
        });
    rpc_.RegisterService(kInterDatanodeProtocol, 1, std::move(handlers));
    EXPECT_TRUE(rpc_.Start());
  }
  // The same server, under so many names.
  DatanodeInfoProto info(const Server& like, int name) const {
    auto info = like.info();
    info.mutable_id()->set_datanodeuuid("holder " + std::to_string(name));
    info.mutable_id()->set_ipcport(rpc_.port());
    return info;
  }
  // Called by each thread that asks, once all have come. To be set before the first call.
  std::function<void()> on_asked;
  void Expect(int calls) {
    const std::lock_guard lock(mutex_);
    expected_ = calls;
    changed_.notify_all();
  }
  void AwaitAsked(std::size_t calls) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(10),
                                  [&] { return asked_.size() >= calls; }));
  }
  std::vector<std::uint64_t> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  static BlockProto BlockOf(const ExtendedBlockProto& block) {
    BlockProto found;
    found.set_blockid(block.blockid());
    found.set_genstamp(block.generationstamp());
    found.set_numbytes(1000);
    return found;
  }
  ebb::Status Meet(std::vector<std::uint64_t>& calls, std::uint64_t recovery_id) {
    std::unique_lock lock(mutex_);
    calls.push_back(recovery_id);
    changed_.notify_all();
    const bool met = changed_.wait_for(lock, std::chrono::seconds(10), [&] {
      return calls.size() >= static_cast<std::size_t>(expected_);
    });
    if (met) return {};
    return Fail(ErrorCode::kTimeout, "the other calls did not come");
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int expected_;
  // The recoveries of the calls.
  std::vector<std::uint64_t> asked_;
  std::vector<std::uint64_t> cut_;
  RpcServer rpc_;
};

// The recovery of group 32, whose data lie in three blocks with cells of 1000 bytes.
RecoveringBlockProto RecoveringGroup(
    std::uint64_t recovery_id,
    const std::vector<std::pair<std::uint8_t, DatanodeInfoProto>>& holders) {
  RecoveringBlockProto recovering = Recovering(recovery_id, {});
  recovering.mutable_block()->mutable_b()->set_blockid(32);
  auto& policy = *recovering.mutable_ecpolicy();
  policy.set_id(70);
  policy.set_cellsize(1000);
  policy.mutable_schema()->set_codecname("rs");
  policy.mutable_schema()->set_dataunits(3);
  policy.mutable_schema()->set_parityunits(2);
  for (const auto& [index, holder] : holders) {
    recovering.mutable_blockindices()->push_back(static_cast<char>(index));
    *recovering.mutable_block()->add_locs() = holder;
  }
  return recovering;
}

void WritePart(Server& server, std::uint64_t index, std::size_t length) {
  auto writer =
      server.store->Create({.block_id = 32 + index, .generation_stamp = 1001, .checksum = {}});
  ASSERT_TRUE(writer.has_value());
  const auto data = RandomBytes(length, index);
  ASSERT_TRUE(WriteBytes(**writer, 0, data));
}

TEST_F(NamenodeSessionTest, AGroupIsCutToTheRowsOfCellsThatCanBeRead) {
  Server leader(namenode_.port());
  Server other(namenode_.port());
  AwaitReports(2);
  WritePart(leader, 0, 2500);
  WritePart(other, 1, 2000);
  WritePart(leader, 2, 1999);
  WritePart(other, 3, 3100);
  auto dead = leader.info();
  dead.mutable_id()->set_datanodeuuid("dead");
  dead.mutable_id()->set_ipcport(1);
  DatanodeCommandProto command;
  command.set_cmdtype(DatanodeCommandProto::BlockRecoveryCommand);
  *command.mutable_recoverycmd()->add_blocks() =
      RecoveringGroup(1009, {{0, leader.info()},
                             {1, other.info()},
                             {2, leader.info()},
                             {3, other.info()},
                             {4, dead}});
  namenode_.Command(leader.uuid(), command);
  namenode_.Await("the end of the recovery", [&] { return !namenode_.recoveries.empty(); });
  namenode_.Locked([&] {
    const auto& commit = namenode_.recoveries.front();
    EXPECT_EQ(commit.newlength(), 6000U);
    EXPECT_EQ(commit.newgenstamp(), 1009U);
    EXPECT_TRUE(commit.closefile());
    EXPECT_FALSE(commit.deleteblock());
    ASSERT_EQ(commit.newtargetstorages_size(), 4);
    EXPECT_EQ(commit.newtaragets(1).datanodeuuid(), other.uuid());
    EXPECT_EQ(commit.newtargetstorages(0), leader.store->Find(32)->storage_uuid);
    EXPECT_EQ(commit.newtargetstorages(2), "");
    EXPECT_EQ(commit.newtargetstorages(3), other.store->Find(35)->storage_uuid);
  });
  for (const auto& [server, index] :
       {std::pair{&leader, 0U}, std::pair{&other, 1U}, std::pair{&other, 3U}}) {
    EXPECT_EQ(server->store->Find(32 + index)->state, ReplicaState::kFinalized);
    EXPECT_EQ(server->store->Find(32 + index)->generation_stamp, 1009U);
    EXPECT_EQ(server->store->Find(32 + index)->length_bytes, 2000U);
  }
}

TEST_F(NamenodeSessionTest, AGroupIsGivenUpOnceItSurelyCannotBeRead) {
  Server leader(namenode_.port());
  AwaitReports(1);
  WritePart(leader, 0, 2500);
  WritePart(leader, 1, 2500);
  auto dead = leader.info();
  dead.mutable_id()->set_datanodeuuid("dead");
  dead.mutable_id()->set_ipcport(1);
  const ActiveNamenode client({{"127.0.0.1", namenode_.port()}}, std::chrono::seconds(2));
  // The dead holder may have the block that is missing.
  const auto early = RecoverBlock(
      *leader.store, client,
      RecoveringGroup(1009, {{0, leader.info()}, {1, leader.info()}, {2, dead}}));
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(early.error().code, ErrorCode::kNetwork) << early.error().message;
  namenode_.Locked([&] { EXPECT_TRUE(namenode_.recoveries.empty()); });
  const auto known = RecoverBlock(
      *leader.store, client,
      RecoveringGroup(1010, {{0, leader.info()}, {1, leader.info()}, {2, leader.info()}}));
  ASSERT_TRUE(known.has_value()) << known.error().message;
  namenode_.Locked([&] {
    ASSERT_EQ(namenode_.recoveries.size(), 1U);
    EXPECT_TRUE(namenode_.recoveries.front().deleteblock());
    EXPECT_EQ(namenode_.recoveries.front().newlength(), 0U);
  });
}

TEST_F(NamenodeSessionTest, AGroupIsGivenUpByTheBlocksThatHaveAWholeCell) {
  Server leader(namenode_.port());
  AwaitReports(1);
  WritePart(leader, 0, 2500);
  WritePart(leader, 1, 2500);
  WritePart(leader, 2, 999);
  auto dead = leader.info();
  dead.mutable_id()->set_datanodeuuid("dead");
  dead.mutable_id()->set_ipcport(1);
  const ActiveNamenode client({{"127.0.0.1", namenode_.port()}}, std::chrono::seconds(2));
  // Two blocks have whole rows, and the dead holder may have them, too.
  const auto early = RecoverBlock(
      *leader.store, client,
      RecoveringGroup(
          1009, {{0, leader.info()}, {1, leader.info()}, {2, leader.info()}, {3, dead}}));
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(early.error().code, ErrorCode::kNetwork) << early.error().message;
  namenode_.Locked([&] { EXPECT_TRUE(namenode_.recoveries.empty()); });
  // Without block 1 there are two at most, although three holders have bytes or may have some.
  ASSERT_TRUE(leader.store->Delete(33, ~std::uint64_t{0}));
  const auto known = RecoverBlock(
      *leader.store, client,
      RecoveringGroup(
          1010, {{0, leader.info()}, {1, leader.info()}, {2, leader.info()}, {3, dead}}));
  ASSERT_TRUE(known.has_value()) << known.error().message;
  namenode_.Locked([&] {
    ASSERT_EQ(namenode_.recoveries.size(), 1U);
    EXPECT_TRUE(namenode_.recoveries.front().deleteblock());
  });
}

TEST_F(NamenodeSessionTest, TheRecoveryOfAGroupWaitsForAHolderThatIsNotReady) {
  Server leader(namenode_.port());
  AwaitReports(1);
  for (const std::uint64_t index : {0, 1, 2}) WritePart(leader, index, 1000);
  TemporaryDirectory directory;
  auto opened = BlockStore::Open(RealFileSystem(), {{directory / "a"}, 0});
  ASSERT_TRUE(opened.has_value());
  RpcServer rpc{RpcServerOptions()};
  RegisterInterDatanodeProtocol(rpc, **opened);
  ASSERT_TRUE(rpc.Start());
  auto scanning = leader.info();
  scanning.mutable_id()->set_datanodeuuid((*opened)->server_uuid());
  scanning.mutable_id()->set_ipcport(rpc.port());
  const ActiveNamenode client({{"127.0.0.1", namenode_.port()}}, std::chrono::seconds(2));
  const auto early = RecoverBlock(
      *leader.store, client,
      RecoveringGroup(
          1009, {{0, leader.info()}, {1, leader.info()}, {2, leader.info()}, {3, scanning}}));
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(early.error().code, ErrorCode::kNotReady) << early.error().message;
  namenode_.Locked([&] { EXPECT_TRUE(namenode_.recoveries.empty()); });
}

// The threads end between the two steps.
TEST_F(NamenodeSessionTest, ALeaderWithoutThreadsFinishesNoRecoveryWithoutItsHolders) {
  Server leader(namenode_.port());
  AwaitReports(1);
  const ActiveNamenode client({{"127.0.0.1", namenode_.port()}}, std::chrono::seconds(2));
  ASSERT_TRUE(client.followed()->GetVersion().has_value());
  StoreBlock(*leader.store, 1, RandomBytes(1000, 1));
  for (const std::uint64_t index : {0, 1, 2}) WritePart(leader, index, 1000);
  MeetingHolder holder(1);
  std::mutex mutex;
  bool ends = true;
  std::optional<ThreadShortage> shortage;
  holder.on_asked = [&] {
    const std::lock_guard lock(mutex);
    if (ends && !shortage) shortage.emplace();
  };
  const auto block = [&](std::uint64_t recovery_id) {
    return Recovering(recovery_id, {leader.info(), holder.info(leader, 0)});
  };
  const auto group = [&](std::uint64_t recovery_id) {
    return RecoveringGroup(recovery_id, {{0, leader.info()},
                                         {1, leader.info()},
                                         {2, leader.info()},
                                         {3, holder.info(leader, 3)}});
  };
  for (const auto& early : {block(1009), group(1009)}) {
    const auto recovered = RecoverBlock(*leader.store, client, early);
    shortage.reset();
    ASSERT_FALSE(recovered.has_value());
    EXPECT_EQ(recovered.error().code, ErrorCode::kNotReady) << recovered.error().message;
  }
  namenode_.Locked([&] { EXPECT_TRUE(namenode_.recoveries.empty()); });
  ends = false;
  for (const auto& again : {block(1010), group(1010)}) {
    const auto recovered = RecoverBlock(*leader.store, client, again);
    ASSERT_TRUE(recovered.has_value()) << recovered.error().message;
  }
  namenode_.Locked([&] {
    ASSERT_EQ(namenode_.recoveries.size(), 2U);
    EXPECT_EQ(namenode_.recoveries[0].newtaragets_size(), 2);
    EXPECT_EQ(namenode_.recoveries[1].newtaragets_size(), 4);
  });
}

// So several that are silent take no more time than one.
TEST_F(NamenodeSessionTest, TheHoldersOfABlockAreAskedAndCutAtTheSameTime) {
  Server leader(namenode_.port());
  AwaitReports(1);
  const ActiveNamenode client({{"127.0.0.1", namenode_.port()}}, std::chrono::seconds(2));
  {
    MeetingHolder holder(3);
    const auto recovered = RecoverBlock(
        *leader.store, client,
        Recovering(1009, {holder.info(leader, 0), holder.info(leader, 1), holder.info(leader, 2)}));
    ASSERT_TRUE(recovered.has_value()) << recovered.error().message;
  }
  MeetingHolder holder(4);
  const auto recovered = RecoverBlock(*leader.store, client,
                                      RecoveringGroup(1010, {{0, holder.info(leader, 0)},
                                                             {1, holder.info(leader, 1)},
                                                             {2, holder.info(leader, 2)},
                                                             {4, holder.info(leader, 4)}}));
  ASSERT_TRUE(recovered.has_value()) << recovered.error().message;
  namenode_.Locked([&] {
    ASSERT_EQ(namenode_.recoveries.size(), 2U);
    EXPECT_EQ(namenode_.recoveries[0].newtargetstorages_size(), 3);
    EXPECT_EQ(namenode_.recoveries[1].newlength(), 3000U);
    ASSERT_EQ(namenode_.recoveries[1].newtargetstorages_size(), 5);
    EXPECT_EQ(namenode_.recoveries[1].newtargetstorages(3), "");
    EXPECT_EQ(namenode_.recoveries[1].newtargetstorages(4), "storage");
  });
}

TEST_F(NamenodeSessionTest, OfSeveralRecoveriesThatWaitTheNewestRuns) {
  Server leader(namenode_.port());
  AwaitReports(1);
  constexpr int kRunning = static_cast<int>(CommandExecutor::kRecoveryThreads);
  MeetingHolder holder(kRunning + 1);
  const auto order = [&](std::uint64_t block_id, std::uint64_t recovery_id) {
    DatanodeCommandProto command;
    command.set_cmdtype(DatanodeCommandProto::BlockRecoveryCommand);
    auto& block = *command.mutable_recoverycmd()->add_blocks();
    block = Recovering(recovery_id, {holder.info(leader, 0)});
    block.mutable_block()->mutable_b()->set_blockid(block_id);
    namenode_.Command(leader.uuid(), command);
  };
  for (int i = 0; i < kRunning; ++i) order(100 + static_cast<std::uint64_t>(i), 1100);
  holder.AwaitAsked(static_cast<std::size_t>(kRunning));
  for (const std::uint64_t recovery_id : {1201, 1203, 1202}) order(200, recovery_id);
  const int beats = namenode_.Locked([&] { return namenode_.beats; });
  namenode_.Await("the orders to be taken", [&] { return namenode_.beats > beats + 2; });
  holder.Expect(1);
  namenode_.Await("all recoveries", [&] {
    return namenode_.recoveries.size() == static_cast<std::size_t>(kRunning) + 1;
  });
  auto asked = holder.asked();
  std::erase(asked, 1100U);
  EXPECT_EQ(asked, std::vector<std::uint64_t>{1203});
}

TEST_F(NamenodeSessionTest, ADiskThatHangsHoldsUpOnlyItsOwnRecoveries) {
  Server leader(namenode_.port());
  AwaitReports(1);
  const auto disks = leader.store->Disks();
  const auto recover = [&](std::uint64_t block_id) {
    DatanodeCommandProto command;
    command.set_cmdtype(DatanodeCommandProto::BlockRecoveryCommand);
    auto& block = *command.mutable_recoverycmd()->add_blocks();
    block = Recovering(1100, {leader.info()});
    block.mutable_block()->mutable_b()->set_blockid(block_id);
    namenode_.Command(leader.uuid(), command);
  };
  constexpr std::uint64_t kHanging = CommandExecutor::kRecoveryThreads;
  for (std::uint64_t id = 1; id <= kHanging; ++id) {
    StoreBlock(*leader.store, id, RandomBytes(1000, id), 1001, disks[0].storage_uuid);
  }
  StoreBlock(*leader.store, 100, RandomBytes(1000, 100), 1001, disks[1].storage_uuid);
  leader.files.Set(FaultyFileSystem::Fault::kHang, leader.directory / "a/finalized");
  for (std::uint64_t id = 1; id <= kHanging; ++id) recover(id);
  ASSERT_TRUE(leader.files.AwaitHanging(4, std::chrono::seconds(10)));
  recover(100);
  namenode_.Await("the recovery", [&] { return !namenode_.recoveries.empty(); });
  namenode_.Locked([&] {
    ASSERT_FALSE(namenode_.recoveries.empty());
    EXPECT_EQ(namenode_.recoveries[0].block().blockid(), 100U);
  });
}

// The queue of the old disk may hang for good.
TEST_F(NamenodeSessionTest, ARecoveryThatWaitsFollowsItsReplicaToAnotherDisk) {
  Server leader(namenode_.port());
  AwaitReports(1);
  const auto disks = leader.store->Disks();
  const auto recover = [&](std::uint64_t block_id) {
    DatanodeCommandProto command;
    command.set_cmdtype(DatanodeCommandProto::BlockRecoveryCommand);
    auto& block = *command.mutable_recoverycmd()->add_blocks();
    block = Recovering(1100, {leader.info()});
    block.mutable_block()->mutable_b()->set_blockid(block_id);
    namenode_.Command(leader.uuid(), command);
  };
  const auto recovered = [&](std::uint64_t block_id) {
    return std::ranges::any_of(namenode_.recoveries, [&](const auto& commit) {
      return commit.block().blockid() == block_id;
    });
  };
  for (const std::uint64_t id : {9001, 9002, 9003, 9004, 5, 6}) {
    StoreBlock(*leader.store, id, RandomBytes(1000, id), 1001, disks[0].storage_uuid);
  }
  leader.files.Set(FaultyFileSystem::Fault::kHang, "/blk_900");
  for (const std::uint64_t id : {9001, 9002, 9003, 9004}) recover(id);
  ASSERT_TRUE(leader.files.AwaitHanging(4, std::chrono::seconds(10)));
  recover(5);
  const int beats = namenode_.Locked([&] { return namenode_.beats; });
  namenode_.Await("the order to be taken", [&] { return namenode_.beats > beats + 2; });
  ASSERT_TRUE(leader.store->Relocate(5, 1001, {.storage_uuid = disks[1].storage_uuid}));
  recover(5);
  namenode_.Await("the recovery", [&] { return recovered(5); });
  // The task in the queue of the old disk finds that its work is done.
  leader.files.Set(FaultyFileSystem::Fault::kNone);
  recover(6);
  namenode_.Await("the recoveries of the old disk",
                  [&] { return recovered(6) && namenode_.recoveries.size() == 6; });
}

TEST_F(NamenodeSessionTest, RecoveriesOfGroupsWaitForTheDiskOfTheirBlocksHere) {
  Server leader(namenode_.port());
  AwaitReports(1);
  const auto disks = leader.store->Disks();
  constexpr std::uint64_t kGroups = CommandExecutor::kRecoveryThreads;
  for (std::uint64_t group = 0; group < kGroups; ++group) {
    for (const std::uint64_t index : {1, 2, 3}) {
      const std::uint64_t id = 32 * (group + 1) + index;
      StoreBlock(*leader.store, id, RandomBytes(1000, id), 1001, disks[0].storage_uuid);
    }
  }
  leader.files.Set(FaultyFileSystem::Fault::kHang, leader.directory / "a/finalized");
  DatanodeCommandProto command;
  command.set_cmdtype(DatanodeCommandProto::BlockRecoveryCommand);
  for (std::uint64_t group = 0; group < kGroups; ++group) {
    auto& block = *command.mutable_recoverycmd()->add_blocks();
    block = RecoveringGroup(1100, {{1, leader.info()}, {2, leader.info()}, {3, leader.info()}});
    block.mutable_block()->mutable_b()->set_blockid(32 * (group + 1));
  }
  namenode_.Command(leader.uuid(), command);
  // Four groups with three blocks each.
  ASSERT_TRUE(leader.files.AwaitHanging(12, std::chrono::seconds(10)));
  MeetingHolder holder(1);
  DatanodeCommandProto elsewhere;
  elsewhere.set_cmdtype(DatanodeCommandProto::BlockRecoveryCommand);
  *elsewhere.mutable_recoverycmd()->add_blocks() = Recovering(1100, {holder.info(leader, 0)});
  namenode_.Command(leader.uuid(), elsewhere);
  namenode_.Await("the recovery", [&] { return !namenode_.recoveries.empty(); });
  namenode_.Locked([&] {
    ASSERT_FALSE(namenode_.recoveries.empty());
    EXPECT_EQ(namenode_.recoveries[0].block().blockid(), 1U);
  });
}

// Copies from one disk, recoveries and reports wait for no other disk, be it the source or the
// target of a move.
TEST_F(NamenodeSessionTest, ADiskThatHangsHoldsUpOnlyItsOwnCopies) {
  Server from(namenode_.port());
  Server to(namenode_.port());
  AwaitReports(2);
  const auto disks = from.store->Disks();
  for (std::uint64_t id = 2; id <= 5; ++id) {
    StoreBlock(*from.store, id, RandomBytes(1000, id), 1001, disks[0].storage_uuid);
  }
  for (const std::uint64_t id : {10, 11}) {
    StoreBlock(*from.store, id, RandomBytes(1000, id), 1001, disks[1].storage_uuid);
  }
  const auto copy = [&](std::uint64_t id) {
    auto command = BlockCommand(BlockCommandProto::TRANSFER, id);
    *command.mutable_blkcmd()->add_targets()->add_datanodes() = to.info();
    namenode_.Command(from.uuid(), command);
  };
  from.files.Set(FaultyFileSystem::Fault::kHang, from.directory / "a/finalized");
  for (std::uint64_t id = 2; id <= 5; ++id) copy(id);
  ASSERT_TRUE(from.files.AwaitHanging(4, std::chrono::seconds(10)));
  copy(10);
  namenode_.Await("the copy", [&] { return to.store->Find(10).has_value(); });
  from.store->ReportCorrupt(*from.store->Find(11), "a test says so");
  namenode_.Await("the report", [&] { return !namenode_.bad_blocks.empty(); });

  // Now the other disk hangs, and moves go there.
  from.files.Set(FaultyFileSystem::Fault::kHang, from.directory / "b/tmp");
  for (std::uint64_t id = 2; id <= 5; ++id) {
    auto command = BlockCommand(BlockCommandProto::TRANSFER, id);
    *command.mutable_blkcmd()->add_targets()->add_datanodes() = from.info();
    command.mutable_blkcmd()->add_targetstorageuuids()->add_storageuuids(disks[1].storage_uuid);
    namenode_.Command(from.uuid(), command);
  }
  ASSERT_TRUE(from.files.AwaitHanging(2, std::chrono::seconds(10)));
  StoreBlock(*from.store, 12, RandomBytes(1000, 12), 1001, disks[0].storage_uuid);
  copy(12);
  namenode_.Await("the copy meanwhile", [&] { return to.store->Find(12).has_value(); });
}

// ---- several namenodes --------------------------------------------------------------------------

class SeveralNamenodesTest : public ::testing::Test {
 protected:
  SeveralNamenodesTest() { second_.standby = true; }

  std::vector<RpcAddress> addresses() const { return {first_.address(), second_.address()}; }
  static void AwaitReport(FakeNamenode& namenode, const Server& server) {
    namenode.Await("a full report", [&] { return namenode.FullReports(server.uuid()) > 0; });
  }
  // The first namenode is standby from now on, and the second one serves.
  void SwitchOver() {
    first_.Locked([&] { first_.standby = true; });
    second_.Locked([&] { second_.standby = false; });
  }
  static void AwaitBeats(FakeNamenode& namenode, int more) {
    const int before = namenode.Locked([&] { return namenode.beats; });
    namenode.Await("heartbeats", [&] { return namenode.beats > before + more; });
  }

  FakeNamenode first_;
  FakeNamenode second_;
};

TEST_F(SeveralNamenodesTest, FollowsTheOneThatServes) {
  Server server({second_.address(), first_.address()});
  AwaitReport(first_, server);
  second_.Locked([&] { EXPECT_EQ(second_.registrations, 0); });
  SwitchOver();
  AwaitReport(second_, server);
  StoreBlock(*server.store, 1, RandomBytes(1000, 1));
  second_.Await("the stored block", [&] { return second_.Heard(1, BlockChange::RECEIVED); });
  first_.Locked([&] {
    EXPECT_EQ(first_.registrations, 1);
    EXPECT_FALSE(first_.Heard(1, BlockChange::RECEIVED));
  });
}

TEST_F(SeveralNamenodesTest, FollowsNoneThatSaysThatItIsStandby) {
  first_.Locked([&] { first_.says_standby = true; });
  second_.Locked([&] {
    second_.standby = false;
    second_.says_standby = true;
  });
  auto dying = std::make_unique<FakeNamenode>();
  Server server({second_.address(), dying->address(), first_.address()});
  AwaitReport(*dying, server);
  dying.reset();
  for (auto* follower : {&first_, &second_}) {
    follower->Await("questions whether it leads", [&] { return follower->questions > 2; });
  }
  first_.Locked([&] { first_.says_standby = false; });
  AwaitReport(first_, server);
  second_.Locked([&] {
    EXPECT_EQ(second_.registrations, 0);
    EXPECT_EQ(second_.beats, 0);
  });
}

// A server that knows one address only must not look ready while that namenode does not lead.
TEST_F(SeveralNamenodesTest, TheHeartbeatsOfAStandbyDoNotCount) {
  Server server(first_.port());
  AwaitReport(first_, server);
  const auto await_silence = [&](bool silent) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < end) {
      const auto since = server.session->SinceHeartbeat();
      if (since && (*since > std::chrono::milliseconds(500)) == silent) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  first_.Locked([&] { first_.says_standby = true; });
  EXPECT_TRUE(await_silence(true));
  first_.Locked([&] { first_.says_standby = false; });
  EXPECT_TRUE(await_silence(false));
}

// As a leader that was frozen, and goes on as a follower.
TEST_F(SeveralNamenodesTest, LeavesANamenodeWhoseHeartbeatsSayThatItIsStandby) {
  Server server(addresses());
  AwaitReport(first_, server);
  first_.Locked([&] { first_.says_standby = true; });
  second_.Locked([&] { second_.standby = false; });
  AwaitReport(second_, server);
}

TEST_F(SeveralNamenodesTest, AWrittenBlockIsReportedToTheNextNamenode) {
  auto dying = std::make_unique<FakeNamenode>();
  Server server({dying->address(), second_.address()});
  AwaitReport(*dying, server);
  auto writer = server.store->Create({.block_id = 1, .generation_stamp = 1001, .checksum = {}});
  ASSERT_TRUE(writer.has_value());
  const auto data = RandomBytes(1024, 1);
  ASSERT_TRUE(WriteBytes(**writer, 0, std::span(data).first(512)));
  dying.reset();
  second_.Await("calls while none serves", [&] { return second_.refusals > 2; });
  ASSERT_TRUE(WriteBytes(**writer, 512, std::span(data).subspan(512)));
  ASSERT_TRUE((*writer)->Finish(false));
  EXPECT_TRUE(server.store->ReportCorrupt(*server.store->Find(1), "a test says so"));
  second_.Locked([&] { second_.standby = false; });
  second_.Await("the block, and that its replica is corrupt", [&] {
    return second_.Heard(1, BlockChange::RECEIVED) &&
           second_.bad_blocks == std::vector<std::uint64_t>{1};
  });
  EXPECT_EQ(*ReadBlock(*server.store, 1), data);
}

TEST_F(SeveralNamenodesTest, ANamenodeThatWakesUpIsNotObeyed) {
  Server server(addresses());
  AwaitReport(first_, server);
  StoreBlock(*server.store, 1, RandomBytes(1000, 1));
  StoreBlock(*server.store, 2, RandomBytes(1000, 2));
  // A heartbeat and a full report are under way while the namenode freezes.
  first_.HoldReports(true);
  first_.Locked([&] {
    first_.report_command = BlockCommand(BlockCommandProto::INVALIDATE, 1);
    first_.answered_reports = 0;
  });
  const auto held = first_.Locked([&] { return first_.reports[server.uuid()].size(); });
  server.session->RequestBlockReport();
  first_.Await("the report", [&] { return first_.reports[server.uuid()].size() > held; });
  first_.Freeze(true);
  first_.Command(server.uuid(), BlockCommand(BlockCommandProto::INVALIDATE, 2));
  first_.Await("a call of the frozen namenode", [&] { return first_.frozen_calls > 0; });
  second_.Locked([&] { second_.standby = false; });
  second_.Await("the new session", [&] { return second_.beats > 0; });

  first_.HoldReports(false);
  first_.Freeze(false);
  first_.Await("the late answers", [&] {
    return first_.answered_reports > 0 && first_.commands[server.uuid()].empty();
  });
  AwaitBeats(second_, 20);
  EXPECT_TRUE(server.store->Find(1).has_value());
  EXPECT_TRUE(server.store->Find(2).has_value());
  AwaitReport(second_, server);
  first_.Locked([&] { EXPECT_EQ(first_.registrations, 1); });
  // The new one is obeyed.
  second_.Command(server.uuid(), BlockCommand(BlockCommandProto::INVALIDATE, 1));
  second_.Await("the deletion", [&] { return second_.Heard(1, BlockChange::DELETED); });
}

TEST_F(SeveralNamenodesTest, TheEndOfANamenodeIsNoticedBeforeTheNextHeartbeat) {
  auto dying = std::make_unique<FakeNamenode>();
  Server server({dying->address(), second_.address()}, std::chrono::seconds(60),
                std::chrono::minutes(10), "", std::chrono::hours(1));
  AwaitReport(*dying, server);
  second_.Locked([&] { second_.standby = false; });
  dying.reset();
  AwaitReport(second_, server);
}

TEST_F(SeveralNamenodesTest, StaysWithASlowNamenodeIfNoOtherServes) {
  Server server(addresses());
  AwaitReport(first_, server);
  first_.Freeze(true);
  second_.Await("questions whether it serves", [&] { return second_.refusals > 3; });
  first_.Freeze(false);
  AwaitBeats(first_, 10);
  first_.Locked([&] { EXPECT_EQ(first_.registrations, 1); });
}

TEST_F(SeveralNamenodesTest, ALeaderOfAnEarlierTermIsNotObeyed) {
  first_.term = 5;
  second_.term = 4;
  Server server(addresses());
  AwaitReport(first_, server);
  StoreBlock(*server.store, 1, RandomBytes(1000, 1));
  second_.Command(server.uuid(), BlockCommand(BlockCommandProto::INVALIDATE, 1));
  SwitchOver();
  AwaitBeats(second_, 5);
  EXPECT_TRUE(server.store->Find(1).has_value());
  second_.Locked([&] {
    EXPECT_TRUE(second_.commands[server.uuid()].empty());
    EXPECT_EQ(second_.FullReports(server.uuid()), 0U);
    second_.term = 6;
  });
  AwaitReport(second_, server);
}

TEST_F(SeveralNamenodesTest, ACommandOfANamenodeThatWasLeftIsIgnored) {
  TemporaryDirectory directory;
  const auto store = OpenStore(RealFileSystem(), {directory / "a"});
  StoreBlock(*store, 1, RandomBytes(1000, 1));
  ActiveNamenode namenode(addresses(), std::chrono::seconds(2));
  int registrations = 0;
  std::uint64_t bandwidth = 0;
  CommandExecutor commands(
      *store, namenode, [&] { ++registrations; },
      [&](std::uint64_t bytes) { bandwidth = bytes; }, [] { return DatanodeIDProto(); });
  const auto before = namenode.followed();
  namenode.Follow(namenode.Others().front());
  EXPECT_EQ(namenode.followed()->address(), second_.address());
  commands.Execute(before, BlockCommand(BlockCommandProto::INVALIDATE, 1));
  DatanodeCommandProto again;
  again.set_cmdtype(DatanodeCommandProto::RegisterCommand);
  again.mutable_registercmd();
  commands.Execute(before, again);
  EXPECT_TRUE(store->Find(1).has_value());
  EXPECT_EQ(registrations, 0);
  const auto late = before->GetVersion();
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, ErrorCode::kShutdown);
  DatanodeCommandProto faster;
  faster.set_cmdtype(DatanodeCommandProto::BalancerBandwidthCommand);
  faster.mutable_balancercmd()->set_bandwidth(4711);
  commands.Execute(before, faster);
  EXPECT_EQ(bandwidth, 0);
  commands.Execute(namenode.followed(), faster);
  EXPECT_EQ(bandwidth, 4711);
  commands.Execute(namenode.followed(), BlockCommand(BlockCommandProto::INVALIDATE, 1));
  EXPECT_FALSE(store->Find(1).has_value());
  commands.Stop();
}

TEST_F(SeveralNamenodesTest, WorkThatWaitsForANamenodeThatWasLeftIsDropped) {
  Server from(addresses());
  Server to(addresses());
  AwaitReport(first_, from);
  AwaitReport(first_, to);
  const auto disk = from.store->Disks()[0].storage_uuid;
  for (std::uint64_t id = 1; id <= 6; ++id) {
    StoreBlock(*from.store, id, RandomBytes(1000, id), 1001, disk);
  }
  ActiveNamenode namenode(addresses(), std::chrono::seconds(2));
  CommandExecutor commands(
      *from.store, namenode, [] {}, [](std::uint64_t) {}, [&] { return from.info().id(); });
  const auto copy = [&](std::uint64_t id) {
    auto command = BlockCommand(BlockCommandProto::TRANSFER, id);
    *command.mutable_blkcmd()->add_targets()->add_datanodes() = to.info();
    commands.Execute(namenode.followed(), command);
  };
  from.files.Set(FaultyFileSystem::Fault::kHang, from.directory / "a/finalized");
  for (std::uint64_t id = 2; id <= 5; ++id) copy(id);
  ASSERT_TRUE(from.files.AwaitHanging(4, std::chrono::seconds(10)));
  copy(1);
  namenode.Follow(namenode.Others().front());
  from.files.Set(FaultyFileSystem::Fault::kNone);
  copy(6);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!to.store->Find(6)) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // The copy that waited has left the queue before, and the end waits for whatever it began.
  commands.Stop();
  EXPECT_FALSE(to.store->Find(1).has_value());
}

}  // namespace
}  // namespace ebb::server
