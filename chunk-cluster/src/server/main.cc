// The chunk server process: what exists, in which order it starts, and how it ends.
#include <fmt/core.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>

#include "combine/chunk_service.h"
#include "combine/combine_engine.h"
#include "combine/degraded_reads.h"
#include "combine/read_planner.h"
#include "disk/block_store.h"
#include "rpc/server.h"
#include "server/configuration.h"
#include "server/hdfs_services.h"
#include "server/local_disks.h"
#include "server/namenode_actor.h"
#include "server/scrubber.h"
#include "transfer/block_io.h"
#include "transfer/server.h"

namespace ebb::server {
namespace {

// The main thread waits for these; SIGUSR1 comes from this process itself when it must end.
sigset_t WaitedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&signals, signal);
  return signals;
}

// Hundreds of threads, most of them asleep: small stacks, and few heaps that fill up with scraps.
void PrepareProcess(const sigset_t& signals) {
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  // A connection takes up to three descriptors; Debian grants 1024 unless more are asked for, and a
  // process that has none left takes its disks for failed.
  rlimit descriptors = {};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    descriptors.rlim_cur = std::min<rlim_t>(descriptors.rlim_max, 16'384);
    setrlimit(RLIMIT_NOFILE, &descriptors);
  }
#if !defined(__SANITIZE_ADDRESS__)
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_TRIM_THRESHOLD, 1 << 20);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
#endif
}

void PrepareLog(const std::string& level) {
  auto log = spdlog::stderr_logger_mt("chunkserver");
  log->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
  log->set_level(spdlog::level::from_str(level));
  log->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(log));
}

void WriteReadyFile(const Configuration& configuration, const BlockStore& store,
                    std::uint16_t transfer_port, std::uint16_t ipc_port) {
  if (configuration.ready_file.empty()) return;
  const std::string draft = configuration.ready_file + ".new";
  FILE* const file = std::fopen(draft.c_str(), "w");
  const bool written =
      file != nullptr &&
      std::fputs(fmt::format("transferPort={}\nipcPort={}\nserverUuid={}\npid={}\n", transfer_port,
                             ipc_port, store.server_uuid(), getpid())
                     .c_str(),
                 file) >= 0;
  if (file == nullptr || std::fclose(file) != 0 || !written ||
      std::rename(draft.c_str(), configuration.ready_file.c_str()) != 0) {
    spdlog::error("--ready-file {} cannot be written; check the directory",
                  configuration.ready_file);
  }
}

// What cannot be started as it was asked for is bad input; what ends later is not.
constexpr int kBadInput = 2;
constexpr int kFailed = 1;

int Die(const Error& error, int code = kBadInput) {
  fmt::print(stderr, "chunkserver: {}\n", error.message);
  return code;
}

int Run(const Configuration& configuration, const sigset_t& signals) {
  auto opened = BlockStore::Open(RealFileSystem(), {configuration.directories,
                                                    configuration.reserved_bytes});
  if (!opened) return Die(opened.error());
  auto& store = **opened;

  // What serves data. Members of this list outlive those below them.
  transfer::ClusterBlockIo io(store);
  CombineEngineOptions combine_options;
  combine_options.max_process_bytes = configuration.combine_memory_bytes;
  combine_options.limits.backend = configuration.kernel;
  CombineEngine combines(io, combine_options);
  NamenodeReadPlanner planner(configuration.namenode_host, configuration.namenode_port,
                              std::chrono::seconds(10));
  DegradedReadOptions degraded_options;
  degraded_options.server_uuid = store.server_uuid();
  degraded_options.max_process_bytes = configuration.degraded_read_memory_bytes;
  degraded_options.backend = configuration.kernel;
  DegradedReads degraded_reads(io, planner, degraded_options);
  spdlog::info("combines and degraded reads are computed by {}", gf::Name(configuration.kernel));
  Scrubber scrubber(store, RealFileSystem(),
                    {.period = std::chrono::seconds(configuration.scrub_period_seconds),
                     .max_bytes_per_second = configuration.scrub_bytes_per_second});
  LocalDisks local_disks(store, scrubber);
  ChunkService chunk_service(combines, degraded_reads, local_disks);

  transfer::TransferServer transfers({configuration.host, configuration.transfer_port,
                                      configuration.max_connections},
                                     store, &degraded_reads);
  if (auto listening = transfers.Listen(); !listening) return Die(listening.error());
  RpcServerOptions rpc_options;
  rpc_options.address = configuration.host;
  rpc_options.port = configuration.ipc_port;
  RpcServer rpc(rpc_options);

  std::mutex fatal_mutex;
  std::optional<Error> fatal;
  NamenodeActor::Events events;
  events.on_attached = [&] {
    transfers.Serve();
    scrubber.Start();
  };
  events.on_registered = [&] {
    WriteReadyFile(configuration, store, transfers.port(), rpc.port());
  };
  events.on_fatal = [&](const Error& error) {
    {
      const std::lock_guard lock(fatal_mutex);
      fatal = error;
    }
    kill(getpid(), SIGUSR1);
  };
  events.count_transfers = [&] { return transfers.connections(); };
  NamenodeActor actor(
      {configuration.namenode_host, configuration.namenode_port, configuration.host,
       std::chrono::milliseconds(configuration.heartbeat_millis),
       std::chrono::seconds(configuration.block_report_seconds)},
      store, events);
  store.SetListener(&actor);

  // Every service of the IPC port is registered here.
  RegisterClientDatanodeProtocol(rpc, store, [&actor] { actor.RequestBlockReport(); });
  RegisterInterDatanodeProtocol(rpc, store);
  chunk_service.RegisterAt(rpc);

  if (auto started = rpc.Start(); !started) return Die(started.error());
  actor.Start(transfers.port(), rpc.port());

  int signal = 0;
  sigwait(&signals, &signal);
  spdlog::info("stopping after signal {}", signal);
  combines.Stop();
  scrubber.Stop();
  transfers.Stop();
  rpc.Stop();
  actor.Stop();
  const std::lock_guard lock(fatal_mutex);
  return fatal ? Die(*fatal, kFailed) : 0;
}

}  // namespace
}  // namespace ebb::server

int main(int argc, char** argv) {
  const auto configuration = ebb::server::ParseCommandLine(argc, argv);
  const sigset_t signals = ebb::server::WaitedSignals();
  ebb::server::PrepareProcess(signals);
  ebb::server::PrepareLog(configuration.log_level);
  const int code = ebb::server::Run(configuration, signals);
  google::protobuf::ShutdownProtobufLibrary();
  return code;
}
