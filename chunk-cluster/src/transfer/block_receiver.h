// Receives one block: the server of one OP_WRITE_BLOCK, with the pipeline behind it.
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
#include "transfer/wire.h"

namespace ebb::transfer {

// One thread does everything: it takes packets from upstream, hands each on to the next server,
// writes it, and merges the acknowledgements that come back. Every packet is verified here.
class BlockReceiver {
 public:
  BlockReceiver(Socket& upstream, SocketReader& reader, BlockStore& store,
                const hadoop::hdfs::OpWriteBlockProto& op);

  // The whole operation. The connection is to be closed afterwards, whatever comes of it.
  [[nodiscard]] Status Run();

 private:
  struct PendingPacket {
    std::int64_t sequence;
    // Of the block once this packet is in it.
    std::uint64_t end;
    bool last;
  };
  using AckStatus = hadoop::hdfs::Status;

  // What comes before the packets.
  [[nodiscard]] Status OpenReplica();
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
  // Tells upstream why the pipeline breaks here, so that it reaches the client.
  void SendFailure(AckStatus mine, bool mirror_failed);
  // Lets the last answer arrive before the connection is closed under it.
  void Drain();

  Socket& upstream_;
  SocketReader& reader_;
  BlockStore& store_;
  const hadoop::hdfs::OpWriteBlockProto& op_;
  const hadoop::hdfs::ExtendedBlockProto& block_;
  // A client that waits for acknowledgements; otherwise a server that copies a block.
  const bool transfer_;
  const bool acknowledges_;
  // The client is a combine of another server, which is told why a write broke off.
  const bool combine_;
  std::string why_;

  std::unique_ptr<ReplicaWriter> writer_;
  std::optional<Socket> mirror_;
  std::optional<SocketReader> mirror_reader_;
  bool mirror_failed_ = false;
  fail_point::Half half_;
  std::deque<PendingPacket> pending_;
  // Of the packet at hand.
  std::int64_t sequence_ = 0;
  bool last_received_ = false;
  bool done_ = false;
  std::string acks_;
};

}  // namespace ebb::transfer
