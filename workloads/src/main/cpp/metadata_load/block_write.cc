#include "metadata_load/block_write.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "datatransfer.pb.h"
#include "disk/format.h"
#include "rpc/wire.h"
#include "transfer/wire.h"

namespace ebb::metadata_load {

namespace {

namespace hdfs = hadoop::hdfs;

constexpr Timeout kTimeout = std::chrono::seconds(60);
constexpr int kAnswers = 3;

std::string Operation(const hdfs::LocatedBlockProto& block, const std::string& client) {
  hdfs::OpWriteBlockProto write;
  auto* header = write.mutable_header();
  *header->mutable_baseheader()->mutable_block() = block.b();
  *header->mutable_baseheader()->mutable_token() = block.blocktoken();
  header->set_clientname(client);
  for (int i = 1; i < block.locs_size(); ++i) {
    *write.add_targets() = block.locs(i);
    if (i < block.storagetypes_size()) write.add_targetstoragetypes(block.storagetypes(i));
    if (i < block.storageids_size()) write.add_targetstorageids(block.storageids(i));
    write.add_targetpinnings(false);
  }
  write.set_stage(hdfs::OpWriteBlockProto::PIPELINE_SETUP_CREATE);
  write.set_pipelinesize(static_cast<std::uint32_t>(block.locs_size()));
  write.set_minbytesrcvd(0);
  write.set_maxbytesrcvd(0);
  write.set_latestgenerationstamp(0);
  *write.mutable_requestedchecksum() = transfer::ToProto(format::Checksum());
  if (block.storagetypes_size() > 0) write.set_storagetype(block.storagetypes(0));
  if (block.storageids_size() > 0) write.set_storageid(block.storageids(0));
  std::string out;
  transfer::AppendOperation(out, transfer::Operation::kWriteBlock, write);
  return out;
}

void AppendPackets(std::string& out) {
  const std::vector<std::byte> data(kSmallFileBytes, std::byte{'e'});
  const format::Checksum checksum;
  std::vector<std::byte> sums(checksum.BytesFor(data.size()));
  checksum.ComputeAll(data, sums.data());
  transfer::AppendPacketPrefix(out, {.offset = 0,
                                     .sequence = 0,
                                     .sums_bytes = sums.size(),
                                     .data_bytes = data.size()});
  out.append(reinterpret_cast<const char*>(sums.data()), sums.size());
  out.append(reinterpret_cast<const char*>(data.data()), data.size());
  transfer::AppendPacketPrefix(out, {.offset = data.size(), .sequence = 1, .last = true});
}

}  // namespace

Result<std::unique_ptr<BlockWrite>> BlockWrite::Start(const hdfs::LocatedBlockProto& block,
                                                      const std::string& client) {
  if (block.locs_size() == 0) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} has no server to write to", block.b().blockid()));
  }
  const hdfs::DatanodeIDProto& first = block.locs(0).id();
  const auto port = static_cast<std::uint16_t>(first.xferport());
  EBB_ASSIGN(Socket socket, Socket::Connect(first.ipaddr(), port, kTimeout));
  std::unique_ptr<BlockWrite> write(new BlockWrite(std::move(socket)));
  std::string bytes = Operation(block, client);
  AppendPackets(bytes);
  EBB_TRY(transfer::WriteString(write->socket_, bytes, kTimeout));
  return write;
}

Result<bool> BlockWrite::Receive() {
  std::array<std::byte, 4096> buffer = {};
  EBB_ASSIGN(const std::size_t got, socket_.ReadSome(buffer, kTimeout));
  if (got == 0) {
    return Fail(ErrorCode::kRemote,
                fmt::format("{} closed the connection during a write; see its log",
                            socket_.peer()));
  }
  in_.append(reinterpret_cast<const char*>(buffer.data()), got);
  rpc_wire::Cursor cursor(in_);
  while (answers_ < kAnswers) {
    const auto message = cursor.Next();
    if (!message) break;  // the rest of it has not arrived yet
    EBB_TRY(Take(*message));
  }
  in_ = std::string(cursor.rest());
  return answers_ == kAnswers;
}

Status BlockWrite::Take(std::string_view message) {
  if (answers_ == 0) {
    hdfs::BlockOpResponseProto response;
    EBB_TRY(rpc_wire::Parse(response, message, "the answer to a write"));
    if (response.status() != hdfs::SUCCESS) {
      return Fail(ErrorCode::kRemote, fmt::format("{} refused a write: {}", socket_.peer(),
                                                  response.message()));
    }
    ++answers_;
    return {};
  }
  hdfs::PipelineAckProto ack;
  EBB_TRY(rpc_wire::Parse(ack, message, "an acknowledgement"));
  if (ack.seqno() == transfer::kHeartbeatSequence) return {};
  for (const int status : ack.reply()) {
    if (status != hdfs::SUCCESS) {
      const std::string name = hdfs::Status_Name(static_cast<hdfs::Status>(status));
      return Fail(ErrorCode::kRemote,
                  fmt::format("a server of the pipeline behind {} answered {} to a packet",
                              socket_.peer(), name));
    }
  }
  ++answers_;
  return {};
}

}  // namespace ebb::metadata_load
