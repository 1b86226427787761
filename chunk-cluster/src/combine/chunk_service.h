// ChunkProtocol: combine, verify and status, as handlers of the RPC server.
#pragma once

#include "combine/combine_engine.h"
#include "combine/degraded_reads.h"
#include "combine/local_blocks.h"
#include "rpc/server.h"

namespace ebb {

// Thread-safe. Everything handed in outlives it, and it outlives the RPC server.
class ChunkService {
 public:
  static constexpr char kProtocol[] = "io.ebbfs.protocol.ChunkProtocol";
  static constexpr std::uint64_t kVersion = 1;
  // A request with more blocks is refused: it would hold a handler for too long.
  static constexpr int kMaxVerifiedBlocks = 10'000;

  ChunkService(CombineEngine& engine, const DegradedReads& degraded_reads, LocalBlocks& blocks)
      : engine_(engine), degraded_reads_(degraded_reads), blocks_(blocks) {}

  void RegisterAt(RpcServer& server);

  // An error if a block can be called neither good nor bad for want of memory or descriptors.
  [[nodiscard]] Result<ebbfs::VerifyResponseProto> Verify(const ebbfs::VerifyRequestProto& request);
  [[nodiscard]] ebbfs::ChunkStatusResponseProto GetStatus();

 private:
  CombineEngine& engine_;
  const DegradedReads& degraded_reads_;
  LocalBlocks& blocks_;
};

}  // namespace ebb
