#include "transfer/block_pipeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "disk/format.h"
#include "transfer/wire.h"

namespace ebb::transfer {

namespace {

using namespace hadoop::hdfs;

// The most packets without acknowledgement.
constexpr std::int64_t kWindow = 16;

OpWriteBlockProto CreateOperation(const OpenBlockProto& block, std::uint64_t expected_bytes) {
  OpWriteBlockProto op;
  FillHeader(*op.mutable_header(), block.block(),
             fmt::format("EBBFS_LANE_{}", block.block().blockid()));
  op.mutable_header()->mutable_baseheader()->mutable_block()->set_numbytes(expected_bytes);
  op.set_stage(OpWriteBlockProto::PIPELINE_SETUP_CREATE);
  op.set_pipelinesize(static_cast<std::uint32_t>(block.targets_size()));
  op.set_minbytesrcvd(0);
  op.set_maxbytesrcvd(0);
  op.set_latestgenerationstamp(block.block().generationstamp());
  *op.mutable_requestedchecksum() = ToProto({});
  op.set_storagetype(DISK);
  if (block.storageuuids_size() > 0) op.set_storageid(block.storageuuids(0));
  for (int i = 1; i < block.targets_size(); ++i) {
    *op.add_targets() = block.targets(i);
    op.add_targetstoragetypes(DISK);
    if (i < block.storageuuids_size()) op.add_targetstorageids(block.storageuuids(i));
  }
  return op;
}

}  // namespace

BlockPipeline::BlockPipeline(Socket socket, std::uint64_t block_id, int servers)
    : socket_(std::move(socket)), reader_(socket_), block_id_(block_id), servers_(servers) {}

Result<std::unique_ptr<BlockPipeline>> BlockPipeline::Open(const OpenBlockProto& block,
                                                           std::uint64_t expected_bytes,
                                                           const Connect& connect) {
  if (block.targets_size() == 0) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} has no servers", block.block().blockid()));
  }
  EBB_ASSIGN(auto socket, connect(block.targets(0).id()));
  EBB_TRY(SendWrite(socket, CreateOperation(block, expected_bytes)));
  std::unique_ptr<BlockPipeline> pipeline(
      new BlockPipeline(std::move(socket), block.block().blockid(), block.targets_size()));
  EBB_TRY(pipeline->AwaitSetUp());
  return pipeline;
}

ebb::Status BlockPipeline::AwaitSetUp() {
  BlockOpResponseProto response;
  EBB_TRY(ReadMessage(reader_, response, PipelineTimeout(servers_)));
  const std::string& bad = response.firstbadlink();
  return CheckResponse(response, bad.empty() ? socket_.peer() : bad, block_id_, "write");
}

ebb::Status BlockPipeline::Append(std::span<const std::span<const std::byte>> parts) {
  EBB_TRY(SendParts(parts));
  return AwaitAcknowledgements(0);
}

ebb::Status BlockPipeline::SendParts(std::span<const std::span<const std::byte>> parts) {
  packet_.clear();
  for (auto part : parts) {
    while (!part.empty()) {
      const std::size_t n = std::min(part.size(), PacketRoom() - packet_.size());
      if (packet_.empty() && n == PacketRoom()) {
        EBB_TRY(SendPacket(part.first(n)));
      } else {
        packet_.insert(packet_.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(n));
        if (packet_.size() == PacketRoom()) {
          EBB_TRY(SendPacket(packet_));
          packet_.clear();
        }
      }
      part = part.subspan(n);
    }
  }
  if (packet_.empty()) return {};
  return SendPacket(packet_);
}

std::size_t BlockPipeline::PacketRoom() const {
  // A packet that begins inside a chunk ends where the chunk ends.
  const std::size_t in_chunk = length_ % format::kDefaultBytesPerChecksum;
  return in_chunk == 0 ? kPacketDataBytes : format::kDefaultBytesPerChecksum - in_chunk;
}

ebb::Status BlockPipeline::SendPacket(std::span<const std::byte> data) {
  const format::Checksum checksum;
  std::vector<std::byte> sums(checksum.BytesFor(data.size()));
  checksum.ComputeAll(data, sums.data());
  std::string prefix;
  AppendPacketPrefix(prefix, {.offset = length_,
                              .sequence = sequence_++,
                              .last = false,
                              .sync = false,
                              .sums_bytes = sums.size(),
                              .data_bytes = data.size()});
  iovec parts[3] = {{prefix.data(), prefix.size()},
                    {sums.data(), sums.size()},
                    {const_cast<std::byte*>(data.data()), data.size()}};
  EBB_TRY(socket_.WriteAll(std::span<iovec>(parts), kPeerTimeout));
  length_ += data.size();
  return AwaitAcknowledgements(kWindow);
}

ebb::Status BlockPipeline::Finish() {
  std::string bytes;
  AppendPacketPrefix(bytes, {.offset = length_, .sequence = sequence_++, .last = true});
  EBB_TRY(WriteString(socket_, bytes, kPeerTimeout));
  return AwaitAcknowledgements(0);
}

ebb::Status BlockPipeline::AwaitAcknowledgements(std::int64_t open) {
  while (sequence_ - acknowledged_ > open) {
    PipelineAckProto ack;
    EBB_TRY(ReadMessage(reader_, ack, PipelineTimeout(servers_)));
    if (ack.seqno() == kHeartbeatSequence) continue;
    for (int i = 0; i < ack.reply_size(); ++i) {
      if (ack.reply(i) == SUCCESS) continue;
      return Fail(ErrorCode::kNetwork,
                  fmt::format("server {} of the pipeline of block {} answered {}", i + 1, block_id_,
                              Status_Name(static_cast<hadoop::hdfs::Status>(ack.reply(i)))));
    }
    if (ack.seqno() != acknowledged_) {
      return Fail(ErrorCode::kNetwork,
                  fmt::format("{} acknowledged packet {} of block {} instead of {}", socket_.peer(),
                              ack.seqno(), block_id_, acknowledged_));
    }
    ++acknowledged_;
  }
  return {};
}

}  // namespace ebb::transfer
