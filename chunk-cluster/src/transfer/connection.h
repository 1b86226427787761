// One connection of the transfer server, while a thread serves its operations, one after the other.
// HDFS calls it DataXceiver.
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>

#include "common/error.h"
#include "common/socket.h"
#include "common/socket_reader.h"
#include "disk/block_store.h"
#include "transfer/balance_throttler.h"
#include "transfer/connection_pool.h"
#include "transfer/counters.h"
#include "transfer/missing_block_reader.h"
#include "transfer/record_lane.h"
#include "transfer/peer_listener.h"
#include "transfer/short_circuit_registry.h"
#include "transfer/waiting.h"
#include "transfer/wire.h"

namespace ebb::transfer {

class Connection {
 public:
  // How long an operation waits for the scan of the disks: so long, or until `stop` is requested.
  struct Patience {
    Timeout time;
    std::stop_token stop;
  };
  // What the connections of a server share. `missing` and `listener` may be null. `short_circuit`
  // is null unless the connection came through the Unix domain socket.
  struct Services {
    BlockStore& store;
    MissingBlockReader* missing;
    PeerListener* listener;
    TransferCounters& counters;
    BalanceThrottler& throttler;
    RecordLanes& lanes;
    ShortCircuitRegistry* short_circuit;
  };
  Connection(OpenConnection& opened, const Services& services, Patience patience)
      : socket_(opened.socket),
        reader_(opened.socket),
        store_(services.store),
        missing_(services.missing),
        listener_(services.listener),
        counters_(services.counters),
        throttler_(services.throttler),
        lanes_(services.lanes),
        short_circuit_(services.short_circuit),
        waiting_(opened.waiting),
        writes_(opened.writes),
        patience_(std::move(patience)) {}

  // kIdle: the peer may send another operation, and has sent nothing of it yet.
  enum class End { kClosed, kIdle };
  // Serves operations until the connection ends or its peer is silent.
  [[nodiscard]] End Run();

 private:
  // Reads the message of an operation. From then on the operation runs.
  [[nodiscard]] Status Receive(google::protobuf::MessageLite& op);
  // These return true if another operation may follow on the connection.
  [[nodiscard]] Result<bool> RunOperation(Operation operation);
  [[nodiscard]] Result<bool> ReadBlock(const hadoop::hdfs::OpReadBlockProto& op);
  [[nodiscard]] Result<bool> ReadReplica(const hadoop::hdfs::OpReadBlockProto& op,
                                         const ReplicaReader& replica);
  [[nodiscard]] Result<bool> ReadMissing(const hadoop::hdfs::OpReadBlockProto& op,
                                         const std::string& why);
  [[nodiscard]] Result<bool> TransferBlock(const hadoop::hdfs::OpTransferBlockProto& op);
  // The operations of short-circuit reads.
  [[nodiscard]] Result<bool> SendFiles();
  [[nodiscard]] Result<bool> ServeSegment();
  [[nodiscard]] Result<bool> ReleaseSlot();
  // The operations of HDFS's balancer and mover. The connection ends after them, as in HDFS.
  [[nodiscard]] Result<bool> CopyBlock(const hadoop::hdfs::OpCopyBlockProto& op);
  [[nodiscard]] Result<bool> ReplaceBlock(const hadoop::hdfs::OpReplaceBlockProto& op);
  // Refuses a move beyond the limit of moves.
  [[nodiscard]] Result<bool> RefuseMove(std::uint64_t block_id);
  // Takes the batches of one writer until one side closes the connection.
  [[nodiscard]] Result<bool> AppendRecords(const ebbfs::OpAppendRecordsProto& op);
  [[nodiscard]] Result<bool> BlockChecksum(const hadoop::hdfs::OpBlockChecksumProto& op);
  [[nodiscard]] Result<bool> BlockGroupChecksum(const hadoop::hdfs::OpBlockGroupChecksumProto& op);
  // Answers with an error. The peer may continue with another operation.
  [[nodiscard]] Result<bool> Refuse(hadoop::hdfs::Status status, const std::string& message);
  [[nodiscard]] Status Respond(const google::protobuf::MessageLite& response);
  // Waits a while until the store is ready, and checks the block pool. The message of an error is
  // for the peer.
  [[nodiscard]] Status CheckBlock(const hadoop::hdfs::ExtendedBlockProto& block) const;

  Socket& socket_;
  SocketReader reader_;
  BlockStore& store_;
  MissingBlockReader* const missing_;
  PeerListener* const listener_;
  TransferCounters& counters_;
  BalanceThrottler& throttler_;
  RecordLanes& lanes_;
  ShortCircuitRegistry* const short_circuit_;
  Waiting& waiting_;
  std::atomic<bool>& writes_;
  const Patience patience_;
};

}  // namespace ebb::transfer
