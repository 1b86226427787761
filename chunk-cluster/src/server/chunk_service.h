// ChunkProtocol, the protocol between control plane and chunk server: combine, verify and status.
#pragma once

#include "combine/combine_engine.h"
#include "combine/degraded_reader.h"
#include "rpc/server.h"
#include "server/storage_inspector.h"
#include "transfer/counters.h"

namespace ebb {

// Thread-safe. The objects passed in outlive the service, and the service outlives the RPC server.
class ChunkService {
 public:
  static constexpr char kProtocol[] = "io.ebbfs.protocol.ChunkProtocol";
  static constexpr std::uint64_t kVersion = 1;
  // A request with more blocks is refused, because it would occupy a handler for too long.
  static constexpr int kMaxVerifiedBlocks = 10'000;
  // Checksums of shorter pieces are refused, because the answer would be long.
  static constexpr std::uint32_t kMinCellBytes = 4096;

  // `transfers` may be null: then the status does not tell what other servers sent.
  ChunkService(CombineEngine& engine, const DegradedReader& degraded_reader,
               StorageInspector& blocks, const transfer::TransferCounters* transfers = nullptr)
      : engine_(engine),
        degraded_reader_(degraded_reader),
        blocks_(blocks),
        transfers_(transfers) {}

  // Callers prove that they know the key.
  void RegisterAt(RpcServer& server, ServiceKey key = {});

  // An error if nothing can be said of a block, for example for lack of descriptors. kNotReady until
  // the disks are scanned.
  [[nodiscard]] Result<ebbfs::VerifyResponseProto> Verify(const ebbfs::VerifyRequestProto& request);
  [[nodiscard]] ebbfs::ChunkStatusResponseProto GetStatus();

 private:
  CombineEngine& engine_;
  const DegradedReader& degraded_reader_;
  StorageInspector& blocks_;
  const transfer::TransferCounters* const transfers_;
};

}  // namespace ebb
