// The two operations of HDFS's balancer and mover. REPLACE_BLOCK goes to the server that gets a
// replica: it asks the server that the request names for the replica, by COPY_BLOCK.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>

#include "common/error.h"
#include "common/socket.h"
#include "common/socket_reader.h"
#include "datatransfer.pb.h"
#include "disk/block_store.h"
#include "transfer/balance_throttler.h"
#include "transfer/peer_listener.h"

namespace ebb::transfer {

// Sends the replica to the server that asked for it: the answer, the packets, and two bytes that
// say that the move counts here no more. Waits as the throttler says.
[[nodiscard]] Status SendForMove(Socket& socket, const ReplicaReader& replica,
                                 BalanceThrottler& throttler, BalanceThrottler::Move move,
                                 const std::stop_token& stop);

// Fetches a replica for the client of one REPLACE_BLOCK. One thread uses it.
class BlockMover {
 public:
  // `listener` may be null. All outlive the mover.
  BlockMover(Socket& client, BlockStore& store, BalanceThrottler& throttler,
             PeerListener* listener, std::stop_token stop,
             const hadoop::hdfs::OpReplaceBlockProto& op)
      : client_(client),
        store_(store),
        throttler_(throttler),
        listener_(listener),
        stop_(std::move(stop)),
        op_(op),
        block_(op.header().block()) {}

  // Fetches, verifies, syncs and finalizes the replica, and tells the namenode of it together with
  // the server whose replica it replaces. The client hears every half minute that the move goes on.
  // An error leaves nothing behind; the caller tells the client.
  [[nodiscard]] Status Run();

 private:
  // Why this server cannot get the replica.
  [[nodiscard]] Status Check() const;
  // Whether the replica is on another disk of this server.
  [[nodiscard]] bool IsFromHere() const;
  [[nodiscard]] StorageType type() const;
  [[nodiscard]] Status Relocate();
  [[nodiscard]] Status Fetch();
  [[nodiscard]] Status Receive(SocketReader& reader, ReplicaWriter& writer);
  [[nodiscard]] Status TellProgress();

  Socket& client_;
  BlockStore& store_;
  BalanceThrottler& throttler_;
  PeerListener* const listener_;
  const std::stop_token stop_;
  const hadoop::hdfs::OpReplaceBlockProto& op_;
  const hadoop::hdfs::ExtendedBlockProto& block_;
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
};

}  // namespace ebb::transfer
