// A degraded read in the client: a range of a block is decoded from other blocks of its stripe.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/decoding_slots.h"
#include "client/range_reader.h"
#include "combine/degraded_reader.h"
#include "common/open_sockets.h"
#include "transfer/block_io.h"

namespace ebb::client {

// Does what a proxy does (combine/degraded_reader.h), with sources at other servers only. Start()
// takes one of the slots of the process, which the reader keeps as long as it lives. Holds at most
// 4 MiB of slices, 16 threads, and for each source the buffer of a packet, for each plan whose
// sources have not ended: 5 at most. No thread outlives
// the reader: its destructor waits for connections that are being made, 5 s at most. A thread that
// is inside Start() must return before; it waits for a call of the planner.
class DecodedReader final : public RangeReader {
 public:
  // `excluded` are the uuids of servers that do not serve. The planner outlives the reader.
  DecodedReader(ReadPlanSource& planner, BlockRange range, const std::set<std::string>& excluded);
  ~DecodedReader() override;

  // Returns once the first slice is decoded. kBusy if the process has no free slot for 2 s, or has
  // had none since another stream waited for so long.
  [[nodiscard]] Status Start() override;
  [[nodiscard]] Result<std::span<const std::byte>> Next(std::size_t most) override;
  [[nodiscard]] bool decoded() const override { return true; }
  void Shutdown() override;

 private:
  // Plans for a reader of a file, without the excluded servers. Fails after Stop().
  class Plans final : public ReadPlanSource {
   public:
    Plans(ReadPlanSource& planner, std::string path, const std::set<std::string>& excluded)
        : planner_(planner), path_(std::move(path)), excluded_(excluded) {}
    [[nodiscard]] Result<ebbfs::GetReadPlanResponseProto> GetReadPlan(
        const ebbfs::GetReadPlanRequestProto& request) override;
    void Stop() { stopped_ = true; }

   private:
    ReadPlanSource& planner_;
    const std::string path_;
    const std::set<std::string> excluded_;
    std::atomic<bool> stopped_ = false;
  };

  // Sources at peers.
  class Peers final : public BlockIo {
   public:
    [[nodiscard]] Result<std::unique_ptr<BlockSource>> OpenSource(const ebbfs::SourceProto& source,
                                                                  std::uint64_t offset,
                                                                  std::uint64_t end) override;
    [[nodiscard]] Result<std::unique_ptr<BlockSink>> OpenSink(
        const ebbfs::TargetProto& target) override;
    void Stop() { sockets_.ShutdownAll(); }

   private:
    OpenSockets sockets_;
  };

  std::atomic<bool> stopped_ = false;
  // Is free again when the members below are gone.
  DecodingSlots::Slot slot_;
  const BlockRange range_;
  Plans plans_;
  Peers peers_;
  // Waits for its threads, which use the members above.
  DegradedReader reads_;
  std::unique_ptr<BlockSource> source_;
  std::uint64_t position_;
  std::vector<std::byte> buffer_;
};

}  // namespace ebb::client
