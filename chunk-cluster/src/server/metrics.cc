#include "server/metrics.h"

#include <fmt/format.h>

#include <string_view>

#include "disk/block_store.h"

namespace ebb::server {
namespace {

class Text {
 public:
  void Family(std::string_view name, std::string_view type, std::string_view help) {
    out_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }

  template <typename Value>
  void Gauge(std::string_view name, std::string_view help, Value value) {
    Family(name, "gauge", help);
    out_ += fmt::format("{} {}\n", name, value);
  }

  template <typename Value>
  void Counter(std::string_view name, std::string_view help, Value value) {
    Family(name, "counter", help);
    out_ += fmt::format("{} {}\n", name, value);
  }

  // One line for each disk.
  template <typename Item, typename Value>
  void PerDisk(std::string_view name, std::string_view type, std::string_view help,
               const std::vector<Item>& items, std::string Item::* disk, Value value) {
    Family(name, type, help);
    for (const auto& item : items) {
      out_ += fmt::format("{}{{disk=\"{}\"}} {}\n", name, Escaped(item.*disk), value(item));
    }
  }

  [[nodiscard]] std::string Take() { return std::move(out_); }

 private:
  static std::string Escaped(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
      if (c == '\\' || c == '"') escaped += '\\';
      escaped += c == '\n' ? ' ' : c;
    }
    return escaped;
  }

  std::string out_;
};

void AddDisks(const std::vector<DiskStatus>& disks, Text& text) {
  const auto add = [&](std::string_view name, std::string_view help, auto value) {
    text.PerDisk(name, "gauge", help, disks, &DiskStatus::directory, value);
  };
  add("ebbfs_chunk_disk_failed", "1 if the disk has failed",
      [](const DiskStatus& d) { return d.failed ? 1 : 0; });
  add("ebbfs_chunk_disk_slow", "1 if the disk answers slowly and gets no new replicas",
      [](const DiskStatus& d) { return d.slow ? 1 : 0; });
  add("ebbfs_chunk_disk_blocks", "Blocks on the disk", [](const DiskStatus& d) { return d.blocks; });
  add("ebbfs_chunk_disk_used_bytes", "Bytes of blocks and checksums on the disk",
      [](const DiskStatus& d) { return d.used_bytes; });
  add("ebbfs_chunk_disk_remaining_bytes", "Bytes that new blocks may take on the disk",
      [](const DiskStatus& d) { return d.remaining_bytes; });
  add("ebbfs_chunk_disk_capacity_bytes", "Size of the disk",
      [](const DiskStatus& d) { return d.capacity_bytes; });
  add("ebbfs_chunk_disk_calls", "Calls of the disk that are under way",
      [](const DiskStatus& d) { return d.load.calls; });
  add("ebbfs_chunk_disk_waiting_calls", "Calls that wait for the disk",
      [](const DiskStatus& d) { return d.load.waiting; });
  add("ebbfs_chunk_disk_recent_errors",
      "Calls of the disk that have failed lately; the count halves every ten minutes",
      [](const DiskStatus& d) { return d.recent_errors; });
  const auto count = [&](std::string_view name, std::string_view help, auto value) {
    text.PerDisk(name, "counter", help, disks, &DiskStatus::directory, value);
  };
  count("ebbfs_chunk_disk_call_seconds_total", "Time of all calls of the disk, with their waiting",
        [](const DiskStatus& d) { return static_cast<double>(d.load.call_micros) / 1e6; });
  count("ebbfs_chunk_disk_refused_calls_total", "Calls refused because the disk does not keep up",
        [](const DiskStatus& d) { return d.load.refused; });
}

void AddScrub(const std::vector<ScrubStatus>& scrubs, Text& text) {
  const auto add = [&](std::string_view name, std::string_view help, auto value) {
    text.PerDisk(name, "counter", help, scrubs, &ScrubStatus::storage_uuid, value);
  };
  add("ebbfs_chunk_scrubbed_bytes_total", "Bytes that the block scrub has read",
      [](const ScrubStatus& s) { return s.bytes; });
  add("ebbfs_chunk_scrub_corrupt_total", "Blocks that contradict their checksums",
      [](const ScrubStatus& s) { return s.corrupt; });
  add("ebbfs_chunk_scrub_missing_total", "Blocks whose files are gone or have another length",
      [](const ScrubStatus& s) { return s.missing; });
}

void AddTransfers(const MetricSources& sources, Text& text) {
  const auto& counters = sources.transfers.counters();
  text.Gauge("ebbfs_chunk_transfer_connections", "Connections of data transfer",
             sources.transfers.connections());
  text.Gauge("ebbfs_chunk_transfer_operations", "Operations of data transfer that run",
             sources.transfers.operations());
  text.Counter("ebbfs_chunk_reads_total", "Reads of blocks", counters.reads.load());
  text.Counter("ebbfs_chunk_writes_total", "Writes of blocks", counters.writes.load());
  text.Counter("ebbfs_chunk_degraded_reads_total", "Reads of blocks that are decoded",
               counters.reads_of_missing_blocks.load());
  text.Counter("ebbfs_chunk_short_circuit_requests_total",
               "Requests of clients on this machine for the files of a replica",
               counters.short_circuit_requests.load());
  text.Counter("ebbfs_chunk_moves_out_total", "Replicas that a balancer moved away from here",
               counters.moves_out.load());
  text.Counter("ebbfs_chunk_moves_in_total", "Replicas that a balancer moved here",
               counters.moves_in.load());
  text.Counter("ebbfs_chunk_background_bytes_total",
               "Bytes that came from other servers in the background: copies of replicas, and "
               "sources and outputs of combines",
               counters.background_bytes + sources.combines.bytes_received());
  text.Counter("ebbfs_chunk_refused_connections_total", "Connections refused at the limit",
               counters.refused_connections.load());
  text.Counter("ebbfs_chunk_displaced_connections_total",
               "Connections closed at the limit in favour of a new one",
               counters.displaced_connections.load());
  const auto decoded = sources.degraded_reader.counters();
  text.Counter("ebbfs_chunk_degraded_read_bytes_total", "Bytes that were decoded for reads",
               decoded.bytes);
  text.Gauge("ebbfs_chunk_rpc_connections", "Connections of Hadoop RPC",
             sources.rpc.connections());
}

}  // namespace

std::string WriteMetrics(const MetricSources& sources,
                         std::optional<std::chrono::milliseconds> since_heartbeat) {
  Text text;
  text.Gauge("ebbfs_chunk_heartbeat_age_seconds",
             "Seconds since the namenode answered a heartbeat; -1 if it never did",
             since_heartbeat ? static_cast<double>(since_heartbeat->count()) / 1000 : -1.0);
  AddDisks(sources.store.Disks(), text);
  AddScrub(sources.scrubber.Status(), text);
  AddTransfers(sources, text);
  text.Gauge("ebbfs_chunk_combines_running", "Combines that run", sources.combines.running());
  text.Gauge("ebbfs_chunk_combine_memory_bytes", "Bytes of buffers that combines hold",
             sources.combines.bytes_held());
  return text.Take();
}

}  // namespace ebb::server
