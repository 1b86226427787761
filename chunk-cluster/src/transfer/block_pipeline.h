// Writing a new block through a pipeline of servers: the client side of OP_WRITE_BLOCK, for a
// writer that has to know when bytes are at all servers while the block goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "append.pb.h"
#include "common/error.h"
#include "common/socket.h"
#include "common/socket_reader.h"
#include "transfer/peer.h"

namespace ebb::transfer {

using ebbfs::OpenBlockProto;

// One thread at a time, except for Shutdown(). After an error the pipeline is of no more use.
class BlockPipeline {
 public:
  // Connects to the first target, which connects to the next one. Each server takes room for
  // `expected_bytes` at once, and gives back what is not used when the block becomes final.
  // kNetwork, naming the server that cannot be used, if one of them refuses, for example because
  // its disk has no such room.
  [[nodiscard]] static Result<std::unique_ptr<BlockPipeline>> Open(const OpenBlockProto& block,
                                                                   std::uint64_t expected_bytes,
                                                                   const Connect& connect);

  // Appends the parts, one after the other. Returns when all servers have them.
  [[nodiscard]] Status Append(std::span<const std::span<const std::byte>> parts);
  // Makes the block final at all servers.
  [[nodiscard]] Status Finish();
  // Makes a running call fail. Thread-safe.
  void Shutdown() { socket_.Shutdown(); }

  [[nodiscard]] std::uint64_t length() const { return length_; }

 private:
  BlockPipeline(Socket socket, std::uint64_t block_id, int servers);
  [[nodiscard]] Status AwaitSetUp();
  [[nodiscard]] Status SendParts(std::span<const std::span<const std::byte>> parts);
  // How many bytes the next packet may have.
  [[nodiscard]] std::size_t PacketRoom() const;
  [[nodiscard]] Status SendPacket(std::span<const std::byte> data);
  // Waits until at most `open` packets are without acknowledgement.
  [[nodiscard]] Status AwaitAcknowledgements(std::int64_t open);

  Socket socket_;
  SocketReader reader_;
  const std::uint64_t block_id_;
  const int servers_;
  std::uint64_t length_ = 0;
  std::int64_t sequence_ = 0;
  std::int64_t acknowledged_ = 0;
  // The bytes of a packet that come from several parts.
  std::vector<std::byte> packet_;
};

}  // namespace ebb::transfer
