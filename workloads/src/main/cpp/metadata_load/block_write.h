// Writing the data of a small file: the client side of OP_WRITE_BLOCK with the whole pipeline.
#pragma once

#include <memory>
#include <string>

#include "common/error.h"
#include "common/socket.h"
#include "hdfs.pb.h"

namespace ebb::metadata_load {

// The bytes of each small file.
inline constexpr std::size_t kSmallFileBytes = 1024;

// One write of one block. The operation and both packets leave together, without waiting for the
// first answer. One thread uses it; its owner waits for the descriptor with epoll.
class BlockWrite {
 public:
  // Connects to the first server of the pipeline and sends everything.
  [[nodiscard]] static Result<std::unique_ptr<BlockWrite>> Start(
      const hadoop::hdfs::LocatedBlockProto& block, const std::string& client);

  // To be called when the descriptor is readable. True once all servers have acknowledged all.
  [[nodiscard]] Result<bool> Receive();

  [[nodiscard]] int fd() const { return socket_.fd(); }

 private:
  explicit BlockWrite(Socket socket) : socket_(std::move(socket)) {}

  [[nodiscard]] Status Take(std::string_view message);

  Socket socket_;
  std::string in_;
  // The answer to the operation, and an acknowledgement for each of two packets.
  int answers_ = 0;
};

}  // namespace ebb::metadata_load
