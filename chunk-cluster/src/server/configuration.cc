#include "server/configuration.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace ebb::server {

namespace {

[[noreturn]] void Refuse(const std::string& message) {
  fmt::print(stderr, "chunkserver: {}\n", message);
  std::exit(2);
}

RpcAddress ParseAddress(const std::string& text) {
  const auto colon = text.rfind(':');
  unsigned port = 0;
  if (colon != std::string::npos && colon > 0) {
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, port);
    if (error != std::errc() || rest != end) port = 0;
  }
  if (port == 0 || port > 65535) {
    Refuse(fmt::format("--namenode '{}' is not HOST:PORT with a port of 1 to 65535", text));
  }
  return {text.substr(0, colon), static_cast<std::uint16_t>(port)};
}

std::vector<RpcAddress> ParseNamenodes(const std::vector<std::string>& texts) {
  std::vector<RpcAddress> addresses;
  for (const auto& text : texts) {
    const auto address = ParseAddress(text);
    if (std::ranges::find(addresses, address) != addresses.end()) {
      Refuse(fmt::format("--namenode names {} twice; name it once", text));
    }
    addresses.push_back(address);
  }
  return addresses;
}

// Takes the type from in front of each directory: [SSD]/disks/0.
std::vector<StorageType> TakeTypes(std::vector<std::string>& directories) {
  std::vector<StorageType> types;
  for (auto& directory : directories) {
    StorageType type = StorageType::kDisk;
    const auto end = directory.find(']');
    if (directory.starts_with('[') && end != std::string::npos) {
      const auto named = StorageTypeByName(directory.substr(1, end - 1));
      if (!named) {
        Refuse(fmt::format("--data '{}' begins with an unknown type of storage; give [DISK], "
                           "[SSD], [ARCHIVE], [RAM_DISK] or [NVDIMM]",
                           directory));
      }
      type = *named;
      directory.erase(0, end + 1);
    }
    types.push_back(type);
  }
  return types;
}

void CheckDirectories(const std::vector<std::string>& directories) {
  std::set<std::string> seen;
  for (const auto& directory : directories) {
    if (directory.empty())
      Refuse("--data holds an empty name; separate the directories by one comma each");
    if (!seen.insert(std::filesystem::weakly_canonical(directory).string()).second) {
      Refuse(fmt::format("--data names {} twice; name it once", directory));
    }
  }
}

gf::Backend ParseKernel(const std::string& name) {
  const auto backend = gf::BackendByName(name);
  if (!backend) {
    Refuse(
        fmt::format("--kernel '{}' is unknown; give auto, isal, jerasure, gfni-avx2 or "
                    "gfni-avx512",
                    name));
  }
  if (!gf::IsAvailable(*backend)) {
    Refuse(fmt::format("--kernel {}: this processor has no such instructions; give auto", name));
  }
  return *backend;
}

}  // namespace

Configuration ParseCommandLine(int argc, char** argv) {
  Configuration c;
  std::vector<std::string> namenodes;
  std::string kernel = "auto";
  std::string log_format = "text";
  CLI::App app(
      "EbbFS chunk server: stores blocks, serves them to HDFS clients, and computes parities.");
  app.add_option(
         "--namenode", namenodes,
         "HOST:PORT of the namenode's RPC server; of all namenodes, separated by commas, if "
         "several share a store")
      ->required()
      ->delimiter(',');
  app.add_option("--data", c.directories,
                 "directories, one for each disk, separated by commas; each may have the type of "
                 "its storage in front: [SSD]/disks/0 (default: DISK)")
      ->required()
      ->delimiter(',');
  app.add_option("--host", c.host,
                 "address to listen on, and at which clients and other servers reach this server")
      ->capture_default_str();
  app.add_option("--transfer-port", c.transfer_port,
                 "port of DataTransferProtocol; 0: any free port")
      ->capture_default_str();
  app.add_option("--ipc-port", c.ipc_port, "port of Hadoop RPC; 0: any free port")
      ->capture_default_str();
  app.add_option("--http-port", c.http_port,
                 "port of the probes /live and /ready and of /metrics; 0: none")
      ->capture_default_str();
  app.add_option("--service-key", c.service_key_file,
                 "file (mode 600) with the secret that the services of the cluster share; without "
                 "it, ChunkProtocol answers callers on this machine only");
  app.add_option("--reserved-bytes", c.reserved_bytes, "bytes of each disk that stay free")
      ->capture_default_str();
  app.add_option("--disks-per-file-system", c.disks_per_file_system,
                 "number of disks of all chunk servers on the file system of this server's disks: "
                 "each disk reports an equal share of the space. For several servers on one "
                 "machine; the disks of this server are counted without it")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--heartbeat-millis", c.heartbeat_millis, "time between heartbeats")
      ->capture_default_str()
      ->check(CLI::Range(10, 600'000));
  app.add_option("--block-report-seconds", c.block_report_seconds,
                 "time between full block reports")
      ->capture_default_str()
      ->check(CLI::Range(1, 7 * 24 * 3600));
  app.add_option("--max-connections", c.max_connections,
                 "most data transfer connections at a time; at most half of the descriptors")
      ->capture_default_str()
      ->check(CLI::Range(4, 65536));
  app.add_option("--max-operations", c.max_operations,
                 "most operations of data transfer at a time, with one thread each")
      ->capture_default_str()
      ->check(CLI::Range(4, 65536));
  app.add_option("--domain-socket", c.domain_socket,
                 "path of a Unix domain socket through which clients on this machine read the files "
                 "of blocks themselves (their dfs.domain.socket.path); _PORT in it stands for the "
                 "port of data transfer. Only root and the user of this server may be able to "
                 "write to the directories above it (default: none)");
  app.add_option("--balance-bytes-per-second", c.balance_bytes_per_second,
                 "most bytes per second that moves of a balancer send, and receive, until the "
                 "namenode says otherwise (setBalancerBandwidth)")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{4096}, std::uint64_t{1} << 40));
  app.add_option("--balance-moves", c.balance_moves, "most moves of a balancer at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  app.add_option("--combine-memory-bytes", c.combine_memory_bytes,
                 "memory for the buffers of all combines")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1} << 20, std::size_t{1} << 40));
  app.add_option("--degraded-read-memory-bytes", c.degraded_read_memory_bytes,
                 "memory for the buffers of all degraded reads")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1} << 20, std::size_t{1} << 40));
  app.add_option(
         "--scrub-period-seconds", c.scrub_period_seconds,
         "the block scrub verifies every block against its checksums once in this time; 0: never")
      ->capture_default_str()
      ->check(CLI::Range(0, 366 * 24 * 3600));
  app.add_option("--scrub-bytes-per-second", c.scrub_bytes_per_second,
                 "most bytes per second that the block scrub reads of one disk")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{4096}, std::uint64_t{1} << 40));
  app.add_option("--slow-disk-seconds", c.slow_disk_seconds,
                 "a disk that does not answer for this time gets no new replicas until it answers")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  app.add_option("--hung-disk-seconds", c.hung_disk_seconds,
                 "a disk that does not answer for this time has failed")
      ->capture_default_str()
      ->check(CLI::Range(1, 24 * 3600));
  app.add_option(
         "--kernel", kernel,
         "code that computes parities: auto (the fastest on this processor), isal, jerasure, "
         "gfni-avx2 or gfni-avx512")
      ->capture_default_str();
  app.add_option("--ready-file", c.ready_file,
                 "file to write, with the ports, once this server is registered");
  app.add_option("--log-level", c.log_level, "debug, info, warn or error")
      ->capture_default_str()
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  app.add_option("--log-file", c.log_file,
                 "file of the log; it is renamed at 64 MiB, and ten old files are kept (default: "
                 "stderr)");
  app.add_option("--log-format", log_format, "text, or json for one JSON object on each line")
      ->capture_default_str()
      ->check(CLI::IsMember({"text", "json"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    std::exit(0);
  } catch (const CLI::ParseError& error) {
    Refuse(fmt::format("{}; see --help", error.what()));
  }
  c.namenodes = ParseNamenodes(namenodes);
  c.types = TakeTypes(c.directories);
  CheckDirectories(c.directories);
  c.json_log = log_format == "json";
  if (kernel != "auto") c.kernel = ParseKernel(kernel);
  return c;
}

}  // namespace ebb::server
