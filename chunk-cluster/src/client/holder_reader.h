// Reads a range of a block at a server that holds it, and around that server while it is silent.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "client/decoded_reader.h"
#include "client/range_reader.h"
#include "common/open_sockets.h"
#include "transfer/block_reader.h"
#include "transfer/idle_sockets.h"

namespace ebb::client {

// How to read around a silent server.
struct Hedging {
  // Null: the reader waits. Outlives the reader.
  ReadPlanSource* planner = nullptr;
  // A server that sends nothing for so long is silent. 0: the reader waits.
  Timeout straggler = Timeout(0);
  // Servers that do not serve.
  std::set<std::string> excluded = {};

  [[nodiscard]] bool wanted() const { return planner != nullptr && straggler > Timeout(0); }
};

// While the server is silent, a thread decodes the rest of the range: one at a time. After a
// failure another one begins, each time after twice as many silences as the time before, because a
// cluster that cannot decode may have too much to do already. The first that has bytes goes on, and
// the other one is closed. With hedging, a server that accepts no connection within `straggler` has
// failed.
class HolderReader final : public RangeReader {
 public:
  // `idle` has connections for the reader; it may be null, and outlives the reader.
  HolderReader(const hadoop::hdfs::DatanodeIDProto& server, BlockRange range, Hedging hedging,
               transfer::IdleSockets* idle);
  ~HolderReader() override;

  [[nodiscard]] Status Start() override;
  [[nodiscard]] Result<std::span<const std::byte>> Next(std::size_t most) override;
  [[nodiscard]] bool decoded() const override { return decoded_ != nullptr; }
  void Shutdown() override;

 private:
  class Hedge;

  void StartHedge();
  // True if the hedge was first: its bytes are read from now on.
  [[nodiscard]] bool TakeHedge();

  const hadoop::hdfs::DatanodeIDProto server_;
  const BlockRange range_;
  const Hedging hedging_;
  transfer::IdleSockets* const idle_;
  std::uint64_t position_;
  OpenSockets sockets_;
  std::unique_ptr<transfer::BlockReader> holder_;
  // Guards the pointers below, which Shutdown() follows, and `stopped_`.
  std::mutex mutex_;
  bool stopped_ = false;
  std::unique_ptr<DecodedReader> decoded_;
  std::unique_ptr<Hedge> hedge_;
  // Of the reading thread: the silences since the last hedge began, and how many the next one waits
  // for.
  std::uint64_t silences_ = 0;
  std::uint64_t silences_between_ = 1;
};

}  // namespace ebb::client
