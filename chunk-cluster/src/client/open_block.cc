#include "client/open_block.h"

#include "transfer/peer.h"

namespace ebb::client {

using namespace hadoop::hdfs;

namespace {

constexpr char kClientName[] = "DFSClient_EBB_READER";
constexpr std::size_t kBufferBytes = std::size_t{512} << 10;
constexpr std::size_t kSmallBufferBytes = std::size_t{16} << 10;

}  // namespace

Result<std::unique_ptr<transfer::BlockReader>> OpenBlock(const LocatedBlockProto& block,
                                                         const DatanodeIDProto& server,
                                                         std::uint64_t begin, std::uint64_t end,
                                                         const transfer::ReadHooks& hooks) {
  OpReadBlockProto op;
  transfer::FillHeader(*op.mutable_header(), block.b(), kClientName);
  *op.mutable_header()->mutable_baseheader()->mutable_token() = block.blocktoken();
  op.set_offset(begin);
  op.set_len(end - begin);
  const bool small = end - begin < kSmallBufferBytes;
  return transfer::BlockReader::Open(server, op, small ? kSmallBufferBytes : kBufferBytes, hooks);
}

}  // namespace ebb::client
