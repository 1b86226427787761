// Receives the data of one block in a write pipeline: the server side of one OP_WRITE_BLOCK. The
// next server of the pipeline is called the mirror, as in HDFS's BlockReceiver.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "common/error.h"
#include "common/fail_point.h"
#include "common/socket.h"
#include "common/socket_reader.h"
#include "disk/block_store.h"
#include "transfer/counters.h"
#include "transfer/peer_listener.h"
#include "transfer/wire.h"

namespace ebb::transfer {

// One thread does everything. It takes packets from upstream, forwards each packet to the mirror,
// verifies and writes it, and merges the acknowledgements of the mirror with its own.
class BlockReceiver {
 public:
  // `listener` may be null.
  BlockReceiver(Socket& upstream, SocketReader& reader, BlockStore& store, PeerListener* listener,
                TransferCounters& counters, const hadoop::hdfs::OpWriteBlockProto& op);

  // Runs the whole operation. The caller closes the connection afterwards, also after success.
  [[nodiscard]] Status Run();

 private:
  struct PendingPacket {
    std::int64_t sequence;
    // The length of the block after this packet.
    std::uint64_t end;
    bool last;
  };
  using AckStatus = hadoop::hdfs::Status;

  // Before the packets.
  [[nodiscard]] Status OpenReplica();
  [[nodiscard]] std::optional<StorageType> WantedType() const;
  [[nodiscard]] Status SetUp();
  [[nodiscard]] Status ConnectMirror(BlockOpResponseProto& response);

  // The packets.
  [[nodiscard]] Status ReceiveAll();
  [[nodiscard]] Status AwaitUpstream();
  [[nodiscard]] Status TakePacket();
  [[nodiscard]] Status Store(const Packet& packet);
  [[nodiscard]] Status Finish(bool sync);
  [[nodiscard]] Status TakeMirrorAck();
  [[nodiscard]] bool MirrorExpected() const { return mirror_ && !pending_.empty(); }

  void Acknowledge(const PendingPacket& packet, const hadoop::hdfs::PipelineAckProto* downstream);
  [[nodiscard]] Status FlushAcks();
  // Tells upstream, and so the client, why the pipeline breaks here.
  void SendFailure(AckStatus mine, bool mirror_failed);
  // Reads until upstream closes. If the connection were closed with unread bytes, the kernel would
  // reset it, and upstream could lose the last answer.
  void Drain();

  Socket& upstream_;
  SocketReader& reader_;
  BlockStore& store_;
  PeerListener* const listener_;
  TransferCounters& counters_;
  const hadoop::hdfs::OpWriteBlockProto& op_;
  const hadoop::hdfs::ExtendedBlockProto& block_;
  // The operation copies a replica for pipeline recovery (TRANSFER_RBW or TRANSFER_FINALIZED).
  const bool transfer_;
  // Upstream is a client, or forwards for one, and waits for acknowledgements. Otherwise a server
  // copies a block.
  const bool acknowledges_;
  // The client is a combine of another server. It is told why a write broke off: see `why_`.
  const bool combine_;
  // No client waits for the block: a server copies a replica, or an output of a combine.
  const bool background_;
  std::string why_;

  std::unique_ptr<ReplicaWriter> writer_;
  std::optional<Socket> mirror_;
  std::optional<SocketReader> mirror_reader_;
  bool mirror_failed_ = false;
  fail_point::Half half_;
  std::deque<PendingPacket> pending_;
  // The sequence number of the current packet.
  std::int64_t sequence_ = 0;
  bool last_received_ = false;
  bool done_ = false;
  std::string acks_;
};

}  // namespace ebb::transfer
