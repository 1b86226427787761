// Reads a range of a block from one chunk server or DataNode: the client side of OP_READ_BLOCK.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "common/error.h"
#include "common/open_sockets.h"
#include "common/socket.h"
#include "common/socket_reader.h"
#include "datatransfer.pb.h"
#include "disk/format.h"
#include "hdfs.pb.h"
#include "transfer/idle_sockets.h"
#include "transfer/wire.h"

namespace ebb::transfer {

// What the caller of a read does meanwhile.
struct ReadHooks {
  // How long a connection may take.
  Timeout connect = kConnectTimeout;
  // Has the socket as long as the reader lives, also while it is being opened. Outlives the reader.
  OpenSockets* sockets = nullptr;
  // Called by each wait for bytes whenever it has lasted for another `silence`; see SocketReader.
  Timeout silence = Timeout(0);
  std::function<ebb::Status()> on_silence = {};
  // Where connections come from, and go to after a range was read to its end. Null: each read has a
  // connection of its own. Outlives the reader.
  IdleSockets* idle = nullptr;
};

// One thread at a time, except for Shutdown(). Every packet is verified against its checksums.
class BlockReader {
 public:
  // Reads the range that `op` asks for. kNotFound if the server refuses.
  [[nodiscard]] static Result<std::unique_ptr<BlockReader>> Open(
      const hadoop::hdfs::DatanodeIDProto& server, const hadoop::hdfs::OpReadBlockProto& op,
      std::size_t buffer_bytes, const ReadHooks& hooks = {});
  ~BlockReader();
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  // The next bytes of the range, at most `most`; none at its end. They are valid until the next
  // call. kCorrupt if they contradict their checksums.
  [[nodiscard]] Result<std::span<const std::byte>> Next(std::size_t most);
  // Where the next bytes begin in the block.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  // Makes a running call fail. Thread-safe.
  void Shutdown() { socket_.Shutdown(); }

 private:
  BlockReader(Socket socket, const hadoop::hdfs::OpReadBlockProto& op, std::size_t buffer_bytes);
  // Asks the server for the range, over this connection.
  [[nodiscard]] static Result<std::unique_ptr<BlockReader>> Over(
      Socket socket, const std::string& address, const hadoop::hdfs::OpReadBlockProto& op,
      std::size_t buffer_bytes, const ReadHooks& hooks, Timeout answer);
  [[nodiscard]] ebb::Status Obey(const ReadHooks& hooks);
  [[nodiscard]] ebb::Status Start(const hadoop::hdfs::OpReadBlockProto& op, Timeout answer);
  [[nodiscard]] ebb::Status NextPacket();
  // Ends the operation at the server in order. False if the end of the range does not come in time.
  bool Finish(Timeout timeout);
  // Leaves the connection to the next reader if the range was read to its end.
  void Leave();
  [[nodiscard]] std::unexpected<Error> Nonsense(const char* what) const;

  Socket socket_;
  // Null if the socket is in no list.
  OpenSockets* sockets_ = nullptr;
  // Null if the connection is closed at the end.
  IdleSockets* idle_ = nullptr;
  std::string address_;
  SocketReader reader_;
  const std::uint64_t block_id_;
  format::Checksum checksum_;
  std::uint64_t packet_offset_ = 0;
  std::uint64_t position_;
  const std::uint64_t end_;
  bool finished_ = false;
  // Whether the connection may take another operation.
  bool reusable_ = false;
  // The rest of the current packet, inside the reader's buffer.
  std::span<const std::byte> rest_;
};

}  // namespace ebb::transfer
