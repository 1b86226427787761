// The metrics of a chunk server, in the text format of Prometheus.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "combine/combine_engine.h"
#include "combine/degraded_reader.h"
#include "disk/disk.h"
#include "rpc/server.h"
#include "server/scrubber.h"
#include "transfer/server.h"

namespace ebb::server {

// The parts that are asked. They outlive the value.
struct MetricSources {
  BlockStore& store;
  const transfer::TransferServer& transfers;
  const RpcServer& rpc;
  const CombineEngine& combines;
  const DegradedReader& degraded_reader;
  const Scrubber& scrubber;
};

// Thread-safe. `since_heartbeat`: since the namenode last answered; empty if it never did.
[[nodiscard]] std::string WriteMetrics(const MetricSources& sources,
                                       std::optional<std::chrono::milliseconds> since_heartbeat);

}  // namespace ebb::server
