// The command line of the chunk server, which is the only source of its settings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "disk/storage_type.h"
#include "gf/backend.h"
#include "rpc/address.h"

namespace ebb::server {

struct Configuration {
  std::vector<RpcAddress> namenodes;
  std::vector<std::string> directories;
  // Of each directory.
  std::vector<StorageType> types;
  std::string host = "127.0.0.1";
  std::uint16_t transfer_port = 0;
  std::uint16_t ipc_port = 0;
  // The port of probes and metrics. 0 for none.
  std::uint16_t http_port = 0;
  // Empty: without a key.
  std::string service_key_file;
  std::uint64_t reserved_bytes = std::uint64_t{64} << 20;
  // Disks of all servers that share the file system of each disk of this server.
  std::uint32_t disks_per_file_system = 1;
  std::uint64_t heartbeat_millis = 3000;
  std::uint64_t block_report_seconds = 6 * 3600;
  std::size_t max_connections = 16384;
  std::size_t max_operations = 4096;
  // A Unix domain socket for short-circuit reads. Empty: there are none.
  std::string domain_socket;
  // The limits of moves for HDFS's balancer and mover.
  std::uint64_t balance_bytes_per_second = std::uint64_t{100} << 20;
  std::size_t balance_moves = 100;
  std::size_t combine_memory_bytes = std::size_t{64} << 20;
  std::size_t degraded_read_memory_bytes = std::size_t{32} << 20;
  // The duration of one pass of the block scrub. 0 switches the scrub off.
  std::uint64_t scrub_period_seconds = 3 * 7 * 24 * 3600;
  // The scrub reads at most this much of one disk.
  std::uint64_t scrub_bytes_per_second = std::uint64_t{16} << 20;
  // A disk whose probe takes longer is avoided for new replicas, and has failed in the end.
  std::uint64_t slow_disk_seconds = 10;
  std::uint64_t hung_disk_seconds = 300;
  // The kernel that computes combines and degraded reads.
  gf::Backend kernel = gf::DefaultBackend();
  // A file that is written once the server is registered. Empty for no file.
  std::string ready_file;
  std::string log_level = "info";
  // Empty: messages go to stderr.
  std::string log_file;
  bool json_log = false;
};

// Exits with 0 after --help, and with 2 and one message on stderr after a mistake.
[[nodiscard]] Configuration ParseCommandLine(int argc, char** argv);

}  // namespace ebb::server
