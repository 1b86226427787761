#include "transfer/peer.h"

#include <fmt/core.h>

#include <span>
#include <utility>

namespace ebb::transfer {

using namespace hadoop::hdfs;

Timeout PipelineTimeout(int hops) { return kPeerTimeout + hops * kTimeoutPerHop; }

Error WithPeer(const std::string& peer, Error error) {
  if (error.message.find(peer) == std::string::npos) error.message = peer + ": " + error.message;
  return error;
}

ebb::Status CheckResponse(const BlockOpResponseProto& response, const std::string& peer,
                          std::uint64_t block_id, const char* what) {
  if (response.status() == SUCCESS) return {};
  if (response.message().starts_with(kNoSpacePrefix)) {
    return Fail(ErrorCode::kNoSpace,
                fmt::format("{}: {}", peer, response.message().substr(kNoSpacePrefix.size())));
  }
  if (response.message().starts_with(kNotReadyPrefix)) {
    return Fail(ErrorCode::kNotReady,
                fmt::format("{}: {}", peer, response.message().substr(kNotReadyPrefix.size())));
  }
  return Fail(response.status() == ERROR_CHECKSUM ? ErrorCode::kCorrupt : ErrorCode::kNotFound,
              fmt::format("{} refused to {} block {}: {} {}", peer, what, block_id,
                          Status_Name(response.status()), response.message()));
}

void FillHeader(ClientOperationHeaderProto& header, const ExtendedBlockProto& block,
                const std::string& client_name) {
  *header.mutable_baseheader()->mutable_block() = block;
  header.set_clientname(client_name);
}

Result<Socket> ConnectTo(const DatanodeIDProto& peer, Timeout timeout) {
  return Socket::Connect(peer.ipaddr(), static_cast<std::uint16_t>(peer.xferport()), timeout);
}

ebb::Status SendWrite(Socket& socket, const OpWriteBlockProto& op) {
  std::string request;
  AppendOperation(request, Operation::kWriteBlock, op);
  return WriteString(socket, request, kPeerTimeout);
}

Result<Socket> StartWrite(const DatanodeIDProto& peer, const OpWriteBlockProto& op) {
  EBB_ASSIGN(auto socket, ConnectTo(peer));
  EBB_TRY(SendWrite(socket, op));
  return socket;
}

}  // namespace ebb::transfer
