// The chunk server process: its objects, the order of their start, and the end of the process.
#include <fmt/core.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>

#include "combine/combine_engine.h"
#include "combine/degraded_reader.h"
#include "combine/read_plan_client.h"
#include "disk/block_store.h"
#include "rpc/server.h"
#include "server/chunk_service.h"
#include "server/client_datanode_service.h"
#include "server/configuration.h"
#include "server/disk_inspector.h"
#include "server/inter_datanode_service.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/namenode_session.h"
#include "server/scrubber.h"
#include "server/status_server.h"
#include "transfer/cluster_block_io.h"
#include "transfer/server.h"

namespace ebb::server {
namespace {

// The main thread waits for these signals. This process sends itself SIGUSR1 after a fatal error.
sigset_t WaitedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&signals, signal);
  return signals;
}

// The process has hundreds of threads, most of them asleep. Small stacks and few heaps (malloc
// arenas) keep it small.
void PrepareProcess(const sigset_t& signals) {
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  // An operation uses up to three descriptors, and Debian's default limit is 1024.
  rlimit descriptors = {};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    descriptors.rlim_cur = std::min<rlim_t>(descriptors.rlim_max, 65'536);
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

// Half of the descriptors stays free for files and for other servers.
std::size_t ConnectionsFor(const Configuration& configuration) {
  rlimit descriptors = {};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return configuration.max_connections;
  const std::size_t half = descriptors.rlim_cur / 2;
  if (half >= configuration.max_connections) return configuration.max_connections;
  spdlog::warn("--max-connections {} is lowered to {}: raise the limit of descriptors (ulimit -n)",
               configuration.max_connections, half);
  return half;
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

// Exit codes for supervisors. Another start does not help after kBadInput; it may help after
// kNoResource (a port or a directory cannot be used) and kFailed (a failure while the server ran).
constexpr int kFailed = 1;
constexpr int kBadInput = 2;
constexpr int kNoResource = 4;

int Die(const Error& error, int code = kBadInput) {
  fmt::print(stderr, "chunkserver: {}\n", error.message);
  return code;
}

int Run(const Configuration& configuration, const sigset_t& signals) {
  ServiceKey key;
  if (!configuration.service_key_file.empty()) {
    auto read = ServiceKey::Read(configuration.service_key_file);
    if (!read) return Die(read.error());
    key = *std::move(read);
  }
  transfer::ShortCircuitRegistry short_circuit(
      transfer::ShortCircuitRegistry::SegmentsFor(configuration.max_operations));
  auto opened = BlockStore::Open(
      RealFileSystem(), {.directories = configuration.directories,
                         .reserved_bytes = configuration.reserved_bytes,
                         .disks_per_file_system = configuration.disks_per_file_system,
                         .slow_disk_after = std::chrono::seconds(configuration.slow_disk_seconds),
                         .hung_disk_after = std::chrono::seconds(configuration.hung_disk_seconds),
                         .types = configuration.types});
  if (!opened) return Die(opened.error(), kNoResource);
  auto& store = **opened;

  // The objects that serve data. Each object outlives the objects below it.
  transfer::ClusterBlockIo io(store);
  CombineEngineOptions combine_options;
  combine_options.max_process_bytes = configuration.combine_memory_bytes;
  combine_options.limits.backend = configuration.kernel;
  CombineEngine combines(io, combine_options);
  ReadPlanClient plan_client(configuration.namenodes, std::chrono::seconds(10), key);
  DegradedReadOptions degraded_options;
  degraded_options.server_uuid = store.server_uuid();
  degraded_options.max_process_bytes = configuration.degraded_read_memory_bytes;
  degraded_options.backend = configuration.kernel;
  degraded_options.log_failure = [](const std::string& line) { spdlog::info("{}", line); };
  degraded_options.log_read = [](const std::string& line) { spdlog::debug("{}", line); };
  DegradedReader degraded_reader(io, plan_client, degraded_options);
  spdlog::info("combines and degraded reads are computed by {}", gf::Name(configuration.kernel));
  Scrubber scrubber(store, RealFileSystem(),
                    {.period = std::chrono::seconds(configuration.scrub_period_seconds),
                     .max_bytes_per_second = configuration.scrub_bytes_per_second});
  DiskInspector inspector(store, scrubber);
  transfer::TransferServer transfers(
      {.host = configuration.host,
       .port = configuration.transfer_port,
       .max_connections = ConnectionsFor(configuration),
       .balance = {.bytes_per_second = configuration.balance_bytes_per_second,
                   .max_moves = configuration.balance_moves},
       .domain_socket = configuration.domain_socket,
       .max_operations = configuration.max_operations},
      store, &degraded_reader);
  transfers.SetShortCircuit(&short_circuit);
  ChunkService chunk_service(combines, degraded_reader, inspector, &transfers.counters());
  if (auto listening = transfers.Listen(); !listening) {
    return Die(listening.error(), kNoResource);
  }
  RpcServerOptions rpc_options;
  rpc_options.address = configuration.host;
  rpc_options.port = configuration.ipc_port;
  RpcServer rpc(rpc_options);

  std::mutex fatal_mutex;
  std::optional<Error> fatal;
  NamenodeSession::Events events;
  events.on_attached = [&] { scrubber.Start(); };
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
  events.count_transfers = [&] { return transfers.operations(); };
  events.on_balancer_bandwidth = [&](std::uint64_t bytes) {
    transfers.throttler().SetBytesPerSecond(bytes);
  };
  NamenodeSession session(
      {.namenodes = configuration.namenodes,
       .host = configuration.host,
       .heartbeat_interval = std::chrono::milliseconds(configuration.heartbeat_millis),
       .block_report_interval = std::chrono::seconds(configuration.block_report_seconds)},
      store, events);
  store.SetListener(&session);
  store.SetWatcher(&short_circuit);
  io.SetListener(&session);
  transfers.SetListener(&session);

  // Every service of the IPC port is registered here.
  RegisterClientDatanodeProtocol(
      rpc, store, {.request_block_report = [&session] { session.RequestBlockReport(); },
                   .request_incremental_report = [&session] { session.RequestIncrementalReport(); },
                   .balancer_bandwidth = [&transfers] {
                     return transfers.throttler().bytes_per_second();
                   },
                   .evict_writers = [&transfers] { return transfers.EvictWriters(); }});
  RegisterInterDatanodeProtocol(rpc, store);
  chunk_service.RegisterAt(rpc, key);

  const MetricSources sources{store, transfers, rpc, combines, degraded_reader, scrubber};
  StatusServer status({[&session] { return session.NotReady(); },
                       [&] { return WriteMetrics(sources, session.SinceHeartbeat()); }});
  if (configuration.http_port != 0) {
    if (auto started = status.Start(configuration.host, configuration.http_port); !started) {
      return Die(started.error(), kNoResource);
    }
  }

  // Both ports answer before the disks are scanned: whoever asks for a block then learns that this
  // server is not ready.
  if (auto started = rpc.Start(); !started) return Die(started.error(), kNoResource);
  transfers.Serve();
  session.Start(transfers.port(), rpc.port());

  int signal = 0;
  sigwait(&signals, &signal);
  spdlog::info("stopping after signal {}", signal);
  status.Stop();
  combines.Stop();
  scrubber.Stop();
  transfers.Stop();
  rpc.Stop();
  session.Stop();
  const std::lock_guard lock(fatal_mutex);
  return fatal ? Die(*fatal, kFailed) : 0;
}

}  // namespace
}  // namespace ebb::server

int main(int argc, char** argv) {
  const auto configuration = ebb::server::ParseCommandLine(argc, argv);
  const sigset_t signals = ebb::server::WaitedSignals();
  ebb::server::PrepareProcess(signals);
  if (auto log = ebb::server::PrepareLog(configuration); !log) {
    return ebb::server::Die(log.error(), ebb::server::kNoResource);
  }
  const int code = ebb::server::Run(configuration, signals);
  google::protobuf::ShutdownProtobufLibrary();
  return code;
}
