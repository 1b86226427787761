#include "transfer/connection.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/bytes.h"
#include "transfer/block_checksum.h"
#include "transfer/block_mover.h"
#include "transfer/block_receiver.h"
#include "transfer/block_sender.h"
#include "transfer/group_checksum.h"
#include "transfer/record_append.h"
#include "transfer/replica_copier.h"
#include "transfer/short_circuit.h"

namespace ebb::transfer {

namespace {

using namespace hadoop::hdfs;

// How long an idle connection is kept for another operation. HDFS uses the same time.
constexpr Timeout kKeepAlive = std::chrono::seconds(4);
// How long the thread of a connection waits for the next operation before it gives the connection
// back: a client that reads piece by piece sends its next operation within this time.
constexpr Timeout kLinger = std::chrono::milliseconds(100);
constexpr std::uint64_t kSourceChunk = format::kDefaultBytesPerChecksum;

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

// The range of whole chunks that covers the requested range. `length` is that of the block.
Result<Range> RangeToSend(const OpReadBlockProto& op, std::uint64_t length, std::uint64_t chunk) {
  const bool whole = static_cast<std::int64_t>(op.len()) < 0;
  const std::uint64_t wanted = whole ? length - std::min(op.offset(), length) : op.len();
  if (op.offset() > length || wanted > length - op.offset()) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("{} bytes at {} of block {} were requested, but the block has {} bytes", wanted,
                    op.offset(), op.header().baseheader().block().blockid(), length));
  }
  const std::uint64_t end = op.offset() + wanted;
  return Range{op.offset() / chunk * chunk, std::min((end + chunk - 1) / chunk * chunk, length)};
}

std::string ReadResponse(const format::Checksum& checksum, bool with_checksums,
                         std::uint64_t offset) {
  BlockOpResponseProto response;
  response.set_status(SUCCESS);
  auto* const info = response.mutable_readopchecksuminfo();
  *info->mutable_checksum() = ToProto(checksum);
  if (!with_checksums) info->mutable_checksum()->set_type(CHECKSUM_NULL);
  info->set_chunkoffset(offset);
  std::string bytes;
  AppendMessage(bytes, response);
  return bytes;
}

bool IsPeersFault(const Error& error) {
  return error.code == ErrorCode::kNetwork || error.code == ErrorCode::kTimeout ||
         error.code == ErrorCode::kShutdown;
}

bool IsReplicasFault(const Error& error) {
  return !IsPeersFault(error) && !IsShortage(error.code);
}

}  // namespace

Connection::End Connection::Run() {
  for (bool first = true;; first = false) {
    waiting_.Begin();
    if (!first && reader_.buffered() == 0) {
      const auto next = socket_.WaitReadable(kLinger);
      if (next && !*next) return End::kIdle;
    }
    const auto header = reader_.Take(3, first ? kPeerTimeout : kKeepAlive);
    if (!header) return End::kClosed;
    const auto version = LoadBig16(header->data());
    if (version != kVersion) {
      spdlog::warn(
          "{} speaks data transfer version {:#x} instead of {}; has this client "
          "dfs.data.transfer.protection or encryption switched on?",
          socket_.peer(), version, kVersion);
      return End::kClosed;
    }
    const auto again = RunOperation(static_cast<Operation>((*header)[2]));
    if (!again) {
      if (IsPeersFault(again.error())) {
        spdlog::debug("{}: {}", socket_.peer(), again.error().message);
      } else {
        spdlog::warn("{}: {}", socket_.peer(), again.error().message);
      }
      return End::kClosed;
    }
    if (!*again) return End::kClosed;
  }
}

ebb::Status Connection::Receive(google::protobuf::MessageLite& op) {
  EBB_TRY(ReadMessage(reader_, op, kPeerTimeout));
  waiting_.End();
  return {};
}

Result<bool> Connection::RunOperation(Operation operation) {
  switch (operation) {
    case Operation::kReadBlock: {
      OpReadBlockProto op;
      EBB_TRY(Receive(op));
      return ReadBlock(op);
    }
    case Operation::kWriteBlock: {
      OpWriteBlockProto op;
      EBB_TRY(Receive(op));
      ++counters_.writes;
      if (auto pool = CheckBlock(op.header().baseheader().block()); !pool) {
        return Refuse(ERROR, pool.error().message);
      }
      writes_ = true;
      EBB_TRY(BlockReceiver(socket_, reader_, store_, listener_, counters_, op).Run());
      return false;
    }
    case Operation::kBlockChecksum: {
      OpBlockChecksumProto op;
      EBB_TRY(Receive(op));
      return BlockChecksum(op);
    }
    case Operation::kBlockGroupChecksum: {
      OpBlockGroupChecksumProto op;
      EBB_TRY(Receive(op));
      return BlockGroupChecksum(op);
    }
    case Operation::kTransferBlock: {
      OpTransferBlockProto op;
      EBB_TRY(Receive(op));
      return TransferBlock(op);
    }
    case Operation::kCopyBlock: {
      OpCopyBlockProto op;
      EBB_TRY(Receive(op));
      return CopyBlock(op);
    }
    case Operation::kReplaceBlock: {
      OpReplaceBlockProto op;
      EBB_TRY(Receive(op));
      return ReplaceBlock(op);
    }
    case Operation::kAppendRecords: {
      ebbfs::OpAppendRecordsProto op;
      EBB_TRY(Receive(op));
      return AppendRecords(op);
    }
    case Operation::kRequestShortCircuitFds:
      return SendFiles();
    case Operation::kRequestShortCircuitShm:
      return ServeSegment();
    case Operation::kReleaseShortCircuitFds:
      return ReleaseSlot();
    default:
      break;
  }
  // The length of the request is unknown, so that the connection must end.
  EBB_TRY(Refuse(ERROR_UNSUPPORTED, fmt::format("operation {} of data transfer is not supported",
                                                static_cast<int>(operation))));
  return false;
}

ebb::Status Connection::Respond(const google::protobuf::MessageLite& response) {
  return WriteMessage(socket_, response, kPeerTimeout);
}

Result<bool> Connection::Refuse(hadoop::hdfs::Status status, const std::string& message) {
  BlockOpResponseProto response;
  response.set_status(status);
  response.set_message(message);
  EBB_TRY(Respond(response));
  return true;
}

ebb::Status Connection::CheckBlock(const ExtendedBlockProto& block) const {
  if (auto ready = store_.AwaitReady(patience_.time, patience_.stop); !ready) {
    ready.error().message = std::string(kNotReadyPrefix) + ready.error().message;
    return ready;
  }
  if (block.poolid() == store_.block_pool_id()) return {};
  return Fail(ErrorCode::kInvalid,
              fmt::format("block {} belongs to block pool {}, and this server serves pool {}",
                          block.blockid(), block.poolid(), store_.block_pool_id()));
}

// ---- reading ----------------------------------------------------------------------------------

Result<bool> Connection::ReadBlock(const OpReadBlockProto& op) {
  ++counters_.reads;
  const auto& block = op.header().baseheader().block();
  if (auto pool = CheckBlock(block); !pool) return Refuse(ERROR, pool.error().message);
  const auto replica = store_.OpenReader(block.blockid(), block.generationstamp());
  if (!replica) return ReadMissing(op, replica.error().message);
  return ReadReplica(op, **replica);
}

Result<bool> Connection::ReadReplica(const OpReadBlockProto& op, const ReplicaReader& replica) {
  const auto& checksum = replica.checksum();
  const auto range = RangeToSend(op, replica.length(), checksum.bytes_per_chunk);
  if (!range) return Refuse(ERROR, range.error().message);
  const SendRange send = {.offset = range->begin,
                          .end = range->end,
                          .with_checksums = op.sendchecksums() && checksum.size() != 0,
                          .sync = false,
                          .timeout = kSlowReaderTimeout};
  bool began = false;
  auto sent = SendReplica(socket_, replica, send,
                          ReadResponse(checksum, send.with_checksums, range->begin), &began);
  if (!sent) {
    if (IsReplicasFault(sent.error())) {
      store_.ReportUnreadable(replica.info(), sent.error().message);
    }
    if (!began && !IsPeersFault(sent.error())) return Refuse(ERROR, sent.error().message);
    return std::unexpected(std::move(sent).error());
  }
  ClientReadStatusProto status;
  EBB_TRY(ReadMessage(reader_, status, kSlowReaderTimeout));
  return true;
}

Result<bool> Connection::ReadMissing(const OpReadBlockProto& op, const std::string& why) {
  const auto& block = op.header().baseheader().block();
  if (missing_ == nullptr || op.header().clientname() == kSourceReaderName) {
    return Refuse(ERROR, why);
  }
  const std::uint64_t begin = op.offset() / kSourceChunk * kSourceChunk;
  const bool whole = static_cast<std::int64_t>(op.len()) < 0;
  // Whole chunks are sent, so the last one is decoded to its end.
  const std::uint64_t end = op.offset() - begin + op.len();
  const std::uint64_t length =
      whole ? ~std::uint64_t{0} - begin : (end + kSourceChunk - 1) / kSourceChunk * kSourceChunk;
  auto opened = missing_->Open(block, begin, length);
  if (!opened) {
    return Refuse(ERROR, fmt::format("{}, and a degraded read of the block failed: {}", why,
                                     opened.error().message));
  }
  const auto range = RangeToSend(op, opened->length_bytes, kSourceChunk);
  if (!range) return Refuse(ERROR, range.error().message);
  ++counters_.reads_of_missing_blocks;
  const format::Checksum checksum;
  const SendRange send = {.offset = range->begin,
                          .end = range->end,
                          .with_checksums = op.sendchecksums(),
                          .sync = false,
                          .timeout = kSlowReaderTimeout};
  bool began = false;
  const auto sent =
      SendSource(socket_, *opened->source, checksum, send,
                 ReadResponse(checksum, send.with_checksums, range->begin), &began);
  if (!sent && !began) {
    return Refuse(ERROR, fmt::format("{}, and a degraded read of the block failed: {}", why,
                                     sent.error().message));
  }
  EBB_TRY(sent);
  opened->source.reset();
  ClientReadStatusProto status;
  EBB_TRY(ReadMessage(reader_, status, kSlowReaderTimeout));
  return true;
}

// ---- short-circuit reads ------------------------------------------------------------------------

namespace {

constexpr char kNoDomainSocket[] =
    "files and memory are shared only through the Unix domain socket of a server that has one "
    "(domainSocketPath); read by TCP";

}  // namespace

Result<bool> Connection::SendFiles() {
  OpRequestShortCircuitAccessProto op;
  EBB_TRY(Receive(op));
  if (short_circuit_ == nullptr) return Refuse(ERROR_UNSUPPORTED, kNoDomainSocket);
  if (auto pool = CheckBlock(op.header().block()); !pool) {
    return Refuse(ERROR, pool.error().message);
  }
  ++counters_.short_circuit_requests;
  EBB_TRY(ShortCircuit(socket_, reader_, store_, *short_circuit_).SendFiles(op));
  return true;
}

Result<bool> Connection::ServeSegment() {
  ShortCircuitShmRequestProto op;
  EBB_TRY(Receive(op));
  if (short_circuit_ == nullptr) {
    ShortCircuitShmResponseProto response;
    response.set_status(ERROR_INVALID);
    response.set_error(kNoDomainSocket);
    EBB_TRY(Respond(response));
    return true;
  }
  return ShortCircuit(socket_, reader_, store_, *short_circuit_).ServeSegment();
}

Result<bool> Connection::ReleaseSlot() {
  ReleaseShortCircuitAccessRequestProto op;
  EBB_TRY(Receive(op));
  if (short_circuit_ == nullptr) {
    ReleaseShortCircuitAccessResponseProto response;
    response.set_status(ERROR_UNSUPPORTED);
    response.set_error(kNoDomainSocket);
    EBB_TRY(Respond(response));
    return true;
  }
  EBB_TRY(ShortCircuit(socket_, reader_, store_, *short_circuit_).ReleaseSlot(op));
  return true;
}

// ---- copies and checksums -----------------------------------------------------------------------

Result<bool> Connection::TransferBlock(const OpTransferBlockProto& op) {
  const auto& block = op.header().baseheader().block();
  if (auto pool = CheckBlock(block); !pool) return Refuse(ERROR, pool.error().message);
  const auto replica = store_.OpenReader(block.blockid(), block.generationstamp());
  if (!replica) return Refuse(ERROR, replica.error().message);
  CopyTargets targets;
  targets.servers.assign(op.targets().begin(), op.targets().end());
  targets.storage_uuids.assign(op.targetstorageids().begin(), op.targetstorageids().end());
  for (const int type : op.targetstoragetypes()) {
    targets.storage_types.push_back(static_cast<StorageTypeProto>(type));
  }
  const auto copied = CopyReplica(**replica, block.poolid(), targets, op.header().clientname());
  if (!copied) return Refuse(ERROR, copied.error().message);
  BlockOpResponseProto response;
  response.set_status(SUCCESS);
  EBB_TRY(Respond(response));
  return true;
}

Result<bool> Connection::RefuseMove(std::uint64_t block_id) {
  EBB_TRY(Refuse(ERROR, fmt::format("block {} cannot be moved now: {} moves are under way, and no "
                                    "more are allowed; try again, or raise balance.moves or the "
                                    "bandwidth of moves",
                                    block_id, throttler_.max_moves())));
  return false;
}

Result<bool> Connection::CopyBlock(const OpCopyBlockProto& op) {
  const auto& block = op.header().block();
  if (auto pool = CheckBlock(block); !pool) return Refuse(ERROR, pool.error().message);
  auto move = throttler_.Begin();
  if (!move) return RefuseMove(block.blockid());
  const auto replica = store_.OpenReader(block.blockid(), block.generationstamp());
  if (!replica) return Refuse(ERROR, replica.error().message);
  if ((*replica)->info().state != ReplicaState::kFinalized) {
    return Refuse(ERROR, fmt::format("block {} is {}: only a finished replica can be moved",
                                     block.blockid(), NameOf((*replica)->info().state)));
  }
  ++counters_.moves_out;
  auto sent = SendForMove(socket_, **replica, throttler_, *std::exchange(move, std::nullopt),
                          patience_.stop);
  if (!sent && IsReplicasFault(sent.error())) {
    store_.ReportUnreadable((*replica)->info(), sent.error().message);
  }
  EBB_TRY(std::move(sent));
  return false;
}

Result<bool> Connection::ReplaceBlock(const OpReplaceBlockProto& op) {
  const auto& block = op.header().block();
  if (auto pool = CheckBlock(block); !pool) return Refuse(ERROR, pool.error().message);
  const auto fetch = [&]() -> Result<bool> {
    const auto move = throttler_.Begin();
    if (!move) return false;
    EBB_TRY(BlockMover(socket_, store_, throttler_, listener_, patience_.stop, op).Run());
    return true;
  };
  const auto fetched = fetch();
  if (fetched && !*fetched) return RefuseMove(block.blockid());
  if (!fetched) {
    EBB_TRY(Refuse(ERROR, fetched.error().message));
    return false;
  }
  ++counters_.moves_in;
  BlockOpResponseProto response;
  response.set_status(SUCCESS);
  EBB_TRY(Respond(response));
  return false;
}

Result<bool> Connection::AppendRecords(const ebbfs::OpAppendRecordsProto& op) {
  if (auto pool = CheckBlock(op.lane().block().block()); !pool) {
    return Refuse(ERROR, pool.error().message);
  }
  if (auto valid = CheckOperation(op); !valid) return Refuse(ERROR, valid.error().message);
  auto lane = lanes_.Find(op.lane(), op.joinonly());
  if (!lane) {
    const bool busy = lane.error().code == ErrorCode::kBusy;
    return Refuse(ERROR, fmt::format("{}{}", busy ? kBusyPrefix : "", lane.error().message));
  }
  if ((*lane)->crowded()) {
    return Refuse(ERROR, fmt::format("{}the lane has {} writers, and no more are allowed; append "
                                     "to another lane, and use more lanes",
                                     kBusyPrefix, kMaxLaneWriters));
  }
  BlockOpResponseProto response;
  response.set_status(SUCCESS);
  EBB_TRY(Respond(response));
  EBB_TRY(RecordAppend(socket_, reader_, **lane, op).Run());
  return false;
}

Result<bool> Connection::BlockChecksum(const OpBlockChecksumProto& op) {
  const auto& block = op.header().block();
  if (auto pool = CheckBlock(block); !pool) return Refuse(ERROR, pool.error().message);
  const auto sums = CollectChecksums(store_, missing_, block);
  if (!sums) return Refuse(ERROR, sums.error().message);
  BlockOpResponseProto response;
  response.set_status(SUCCESS);
  const auto filled =
      FillChecksumResponse(*sums, op.blockchecksumoptions(), *response.mutable_checksumresponse());
  if (!filled) return Refuse(ERROR_UNSUPPORTED, filled.error().message);
  EBB_TRY(Respond(response));
  return true;
}

Result<bool> Connection::BlockGroupChecksum(const OpBlockGroupChecksumProto& op) {
  if (auto pool = CheckBlock(op.header().block()); !pool) {
    return Refuse(ERROR, pool.error().message);
  }
  auto checksum = ChecksumOfGroup(store_, missing_, op);
  if (!checksum) return Refuse(ERROR, checksum.error().message);
  BlockOpResponseProto response;
  response.set_status(SUCCESS);
  *response.mutable_checksumresponse() = std::move(*checksum);
  EBB_TRY(Respond(response));
  return true;
}

}  // namespace ebb::transfer
