#include "client/block_locations.h"

#include <fmt/format.h>

#include <utility>

#include "ClientDatanodeProtocol.pb.h"
#include "ClientNamenodeProtocol.pb.h"
#include "rpc/client.h"

namespace ebb::client {

using namespace hadoop::hdfs;
using ebb::Status;

namespace {

constexpr char kClientDatanodeProtocol[] = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";

Result<std::uint64_t> VisibleLength(const DatanodeIDProto& server, const ExtendedBlockProto& block,
                                    const std::string& user) {
  RpcClient client(server.ipaddr(), static_cast<std::uint16_t>(server.ipcport()),
                   kClientDatanodeProtocol, 1, user);
  GetReplicaVisibleLengthRequestProto request;
  *request.mutable_block() = block;
  GetReplicaVisibleLengthResponseProto response;
  EBB_TRY(client.Call("getReplicaVisibleLength", request, response));
  return response.length();
}

}  // namespace

Status BlockLocations::Open() {
  EBB_ASSIGN(auto answer, Ask(0, prefetch_bytes_));
  if (answer.has_ecpolicy() && answer.ecpolicy().id() != 0) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} is encoded by its clients ({}), which this client cannot read; use "
                            "'hdfs dfs'",
                            path_, answer.ecpolicy().name()));
  }
  if (answer.has_fileencryptioninfo()) {
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format("{} is encrypted, which this client cannot read; use 'hdfs dfs'", path_));
  }
  length_ = answer.filelength();
  Keep(answer);
  if (answer.has_lastblock() && !answer.islastblockcomplete()) {
    return AddUnfinished(answer.lastblock());
  }
  return {};
}

Status BlockLocations::AddUnfinished(LocatedBlockProto last) {
  std::string failures;
  for (const auto& server : last.locs()) {
    const auto length = VisibleLength(server.id(), last.b(), namenode_.user());
    if (!length) {
      failures += "; " + length.error().message;
      continue;
    }
    length_ = last.offset() + *length;
    last.mutable_b()->set_numbytes(*length);
    blocks_[last.offset()] = last;
    unfinished_ = std::move(last);
    return {};
  }
  // The writer has not sent a byte to any server.
  if (last.b().numbytes() == 0) return {};
  return Fail(ErrorCode::kNetwork,
              fmt::format("no server tells the length of the last block of {}{}", path_, failures));
}

Result<LocatedBlocksProto> BlockLocations::Ask(std::uint64_t offset, std::uint64_t length) {
  GetBlockLocationsRequestProto request;
  request.set_src(path_);
  request.set_offset(offset);
  request.set_length(length);
  EBB_ASSIGN(auto answer,
             namenode_.Ask<GetBlockLocationsResponseProto>("getBlockLocations", request));
  if (!answer.has_locations()) {
    return Fail(ErrorCode::kNotFound, fmt::format("{} does not exist", path_));
  }
  return std::move(*answer.mutable_locations());
}

void BlockLocations::Keep(const LocatedBlocksProto& answer) {
  for (const auto& block : answer.blocks()) blocks_[block.offset()] = block;
}

Result<const LocatedBlockProto*> BlockLocations::At(std::uint64_t offset) {
  const auto find = [&]() -> const LocatedBlockProto* {
    auto after = blocks_.upper_bound(offset);
    if (after == blocks_.begin()) return nullptr;
    const LocatedBlockProto& block = std::prev(after)->second;
    return offset < block.offset() + block.b().numbytes() ? &block : nullptr;
  };
  if (const auto* found = find()) return found;
  EBB_ASSIGN(const auto answer, Ask(offset, prefetch_bytes_));
  Keep(answer);
  if (unfinished_.has_b()) blocks_.try_emplace(unfinished_.offset(), unfinished_);
  if (const auto* found = find()) return found;
  return Fail(ErrorCode::kNotFound,
              fmt::format("{} has no block at {} any more; was the file cut?", path_, offset));
}

}  // namespace ebb::client
