// The common beginning of all client operations of DataTransferProtocol: the connection to a peer,
// the request, and the check of its answer. A peer is a chunk server or a stock HDFS DataNode.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/error.h"
#include "common/socket.h"
#include "datatransfer.pb.h"
#include "hdfs.pb.h"
#include "transfer/wire.h"

namespace ebb::transfer {

// The longest time for the answer of a pipeline of `hops` servers.
[[nodiscard]] Timeout PipelineTimeout(int hops);

[[nodiscard]] Result<Socket> ConnectTo(const hadoop::hdfs::DatanodeIDProto& peer,
                                       Timeout timeout = kConnectTimeout);

// How a server is connected to.
using Connect = std::function<Result<Socket>(const hadoop::hdfs::DatanodeIDProto& server)>;

// Sends the operation as the first one of a connection. The caller reads the peer's answer.
[[nodiscard]] Status SendWrite(Socket& socket, const hadoop::hdfs::OpWriteBlockProto& op);

// Connects to a peer and does the same.
[[nodiscard]] Result<Socket> StartWrite(const hadoop::hdfs::DatanodeIDProto& peer,
                                        const hadoop::hdfs::OpWriteBlockProto& op);

void FillHeader(hadoop::hdfs::ClientOperationHeaderProto& header,
                const hadoop::hdfs::ExtendedBlockProto& block, const std::string& client_name);

// An error unless the peer answered SUCCESS: kNoSpace if its disk is full, kCorrupt after
// ERROR_CHECKSUM, else kNotFound. `what` is the refused verb for the message, for example "read".
[[nodiscard]] Status CheckResponse(const BlockOpResponseProto& response, const std::string& peer,
                                   std::uint64_t block_id, const char* what);

// The same error, with the peer's address in its message.
[[nodiscard]] Error WithPeer(const std::string& peer, Error error);

}  // namespace ebb::transfer
