// One connection of the transfer server. It serves operations, one after the other, until the peer
// closes. HDFS calls it DataXceiver.
#pragma once

#include <string>

#include "common/error.h"
#include "common/socket.h"
#include "common/socket_reader.h"
#include "disk/block_store.h"
#include "transfer/missing_block_reader.h"
#include "transfer/server.h"
#include "transfer/wire.h"

namespace ebb::transfer {

class Connection {
 public:
  Connection(Socket& socket, BlockStore& store, MissingBlockReader* missing,
             TransferCounters& counters)
      : socket_(socket), reader_(socket), store_(store), missing_(missing), counters_(counters) {}

  // Serves operations until the connection ends.
  void Run();

 private:
  // These return true if another operation may follow on the connection.
  [[nodiscard]] Result<bool> RunOperation(Operation operation);
  [[nodiscard]] Result<bool> ReadBlock(const hadoop::hdfs::OpReadBlockProto& op);
  [[nodiscard]] Result<bool> ReadReplica(const hadoop::hdfs::OpReadBlockProto& op,
                                         const ReplicaReader& replica);
  [[nodiscard]] Result<bool> ReadMissing(const hadoop::hdfs::OpReadBlockProto& op,
                                         const std::string& why);
  [[nodiscard]] Result<bool> TransferBlock(const hadoop::hdfs::OpTransferBlockProto& op);
  [[nodiscard]] Result<bool> BlockChecksum(const hadoop::hdfs::OpBlockChecksumProto& op);
  // Answers with an error. The peer may continue with another operation.
  [[nodiscard]] Result<bool> Refuse(hadoop::hdfs::Status status, const std::string& message);
  [[nodiscard]] Status Respond(const BlockOpResponseProto& response);
  [[nodiscard]] Status CheckPool(const hadoop::hdfs::ExtendedBlockProto& block) const;

  Socket& socket_;
  SocketReader reader_;
  BlockStore& store_;
  MissingBlockReader* const missing_;
  TransferCounters& counters_;
};

}  // namespace ebb::transfer
