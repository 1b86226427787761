#include "client/block_locations.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ClientDatanodeProtocol.pb.h"
#include "ClientNamenodeProtocol.pb.h"
#include "rpc/client.h"

namespace ebb::client {

using namespace hadoop::hdfs;
using ebb::Status;

namespace {

constexpr char kClientDatanodeProtocol[] = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";
constexpr char kReplicaNotFound[] =
    "org.apache.hadoop.hdfs.server.datanode.ReplicaNotFoundException";

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
  if (answer.has_ecpolicy()) {
    if (const auto policy = ToErasurePolicy(answer.ecpolicy())) {
      EBB_TRY(CheckKnown(*policy, path_));
      code_ = std::make_shared<const GroupCode>(*policy);
    }
  }
  if (answer.has_fileencryptioninfo()) {
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format("{} is encrypted, which this client cannot read; use 'hdfs dfs'", path_));
  }
  length_ = answer.filelength();
  Keep(answer);
  if (answer.has_lastblock() && !answer.islastblockcomplete() && !code_) {
    return AddUnfinished(answer.lastblock());
  }
  return {};
}

Status BlockLocations::AddUnfinished(LocatedBlockProto last) {
  std::string failures;
  int without = 0;
  for (const auto& server : last.locs()) {
    const auto length = VisibleLength(server.id(), last.b(), namenode_.user());
    if (!length) {
      failures += "; " + length.error().message;
      if (length.error().exception_class == kReplicaNotFound) ++without;
      continue;
    }
    length_ = last.offset() + *length;
    last.mutable_b()->set_numbytes(*length);
    blocks_[last.offset()] = last;
    Remember(last);
    unfinished_ = std::move(last);
    return {};
  }
  // The writer has not opened the block at any server. A server that does not answer may have
  // bytes: the namenode does not learn of those that a writer has flushed.
  if (last.b().numbytes() == 0 && without == last.locs_size()) return {};
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

Result<bool> BlockLocations::Continues(const LocatedBlocksProto& answer) const {
  bool known = false;
  const auto agrees = [&](const LocatedBlockProto& block) {
    const auto at = ids_.find(block.offset());
    if (at == ids_.end()) return true;
    known = true;
    return at->second == block.b().blockid();
  };
  if (!std::ranges::all_of(answer.blocks(), agrees)) return Replaced();
  if (answer.has_lastblock() && !agrees(answer.lastblock())) return Replaced();
  return known;
}

Status BlockLocations::CheckSameFile(const LocatedBlocksProto& answer) {
  EBB_ASSIGN(bool same, Continues(answer));
  if (same || ids_.empty()) return {};
  // The file has grown, or another one has its name: a block that is known tells.
  EBB_ASSIGN(const auto known, Ask(ids_.rbegin()->first, 1));
  EBB_ASSIGN(same, Continues(known));
  return same ? Status() : Replaced();
}

std::unexpected<Error> BlockLocations::Replaced() const {
  return Fail(ErrorCode::kNotFound,
              fmt::format("{} was replaced or cut while it was read; read it again", path_));
}

void BlockLocations::Remember(const LocatedBlockProto& block) {
  // A writer may give up a block without bytes, and allocate another one in its place.
  if (block.b().numbytes() > 0) ids_[block.offset()] = block.b().blockid();
}

void BlockLocations::Keep(const LocatedBlocksProto& answer) {
  for (const auto& block : answer.blocks()) {
    blocks_[block.offset()] = block;
    Remember(block);
  }
  if (answer.has_lastblock()) Remember(answer.lastblock());
  if (!unfinished_.has_b()) return;
  // A namenode may leave the block out, or tell a length from before Open(). Where the block is now
  // is what the namenode says now.
  const bool told =
      answer.has_lastblock() && answer.lastblock().b().blockid() == unfinished_.b().blockid();
  const auto at =
      blocks_.try_emplace(unfinished_.offset(), told ? answer.lastblock() : unfinished_).first;
  auto& block = *at->second.mutable_b();
  block.set_numbytes(std::max(block.numbytes(), unfinished_.b().numbytes()));
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
  EBB_TRY(CheckSameFile(answer));
  Keep(answer);
  if (const auto* found = find()) return found;
  return Fail(ErrorCode::kNotFound,
              fmt::format("{} has no block at {} any more; was the file cut?", path_, offset));
}

}  // namespace ebb::client
