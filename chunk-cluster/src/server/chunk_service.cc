#include "server/chunk_service.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "common/crc32c.h"

namespace ebb {

namespace {

constexpr std::size_t kVerifyStepBytes = std::size_t{128} << 10;

std::uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

struct Found {
  std::uint64_t length_bytes = 0;
  std::uint32_t crc32c = 0;
  // Of pieces of the block, if the request asks for them.
  std::vector<std::uint32_t> pieces = {};
};

Result<Found> ChecksumsOf(StorageInspector::OpenBlock& block, std::uint64_t piece_bytes,
                          std::vector<std::byte>& buffer) {
  Found found{.length_bytes = block.length_bytes};
  std::uint64_t left_of_piece = 0;
  for (std::uint64_t left = block.length_bytes; left > 0;) {
    if (piece_bytes > 0 && left_of_piece == 0) {
      left_of_piece = piece_bytes;
      found.pieces.push_back(0);
    }
    std::uint64_t step = std::min<std::uint64_t>(left, buffer.size());
    if (piece_bytes > 0) step = std::min(step, left_of_piece);
    const std::span data(buffer.data(), step);
    EBB_TRY(block.source->Read(data));
    found.crc32c = Crc32c(found.crc32c, data);
    if (piece_bytes > 0) {
      found.pieces.back() = Crc32c(found.pieces.back(), data);
      left_of_piece -= step;
    }
    left -= step;
  }
  return found;
}

// The health of a block that could not be read. Empty if the error does not concern the block, for
// example a lack of memory or descriptors: such a block must not be reported as bad.
std::optional<ebbfs::BlockHealthProto> HealthOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kNotFound:
      return ebbfs::BLOCK_MISSING;
    case ErrorCode::kCorrupt:
    case ErrorCode::kIo:
      return ebbfs::BLOCK_CORRUPT;
    case ErrorCode::kCannotTell:
      return ebbfs::BLOCK_UNKNOWN;
    default:
      return std::nullopt;
  }
}

Result<Found> ReadAll(StorageInspector& blocks, const hadoop::hdfs::ExtendedBlockProto& block,
                      std::uint64_t piece_bytes, std::vector<std::byte>& buffer) {
  EBB_ASSIGN(auto open, blocks.Open(block));
  buffer.resize(kVerifyStepBytes);
  return ChecksumsOf(open, piece_bytes, buffer);
}

Result<Found> ReadChecksumFile(StorageInspector& blocks,
                               const hadoop::hdfs::ExtendedBlockProto& block,
                               std::uint64_t piece_bytes, std::vector<std::byte>& buffer) {
  EBB_ASSIGN(auto file, blocks.ReadChecksums(block, piece_bytes));
  if (!file.crc32c) return ReadAll(blocks, block, piece_bytes, buffer);
  return Found{file.length_bytes, *file.crc32c, std::move(file.pieces)};
}

Result<Found> SyncAndRead(StorageInspector& blocks, const hadoop::hdfs::ExtendedBlockProto& block,
                          const ebbfs::VerifyRequestProto& request,
                          std::vector<std::byte>& buffer) {
  if (request.sync()) EBB_TRY(blocks.Sync(block));
  return request.checksumsonly() ? ReadChecksumFile(blocks, block, request.cellbytes(), buffer)
                                 : ReadAll(blocks, block, request.cellbytes(), buffer);
}

Result<ebbfs::VerifiedBlockProto> VerifyOne(StorageInspector& blocks,
                                            const hadoop::hdfs::ExtendedBlockProto& block,
                                            const ebbfs::VerifyRequestProto& request,
                                            std::vector<std::byte>& buffer) {
  ebbfs::VerifiedBlockProto verified;
  auto found = SyncAndRead(blocks, block, request, buffer);
  if (!found) {
    const auto health = HealthOf(found.error());
    if (!health) return std::unexpected(std::move(found).error());
    verified.set_health(*health);
    verified.set_message(found.error().message);
    return verified;
  }
  verified.set_health(ebbfs::BLOCK_OK);
  verified.set_lengthbytes(found->length_bytes);
  verified.set_crc32c(found->crc32c);
  verified.mutable_cellcrc32c()->Add(found->pieces.begin(), found->pieces.end());
  if (request.sync()) verified.set_synced(true);
  return verified;
}

}  // namespace

void ChunkService::RegisterAt(RpcServer& server, ServiceKey key) {
  RpcHandlers handlers;
  handlers["combine"] = MakeRpcHandler<ebbfs::CombineRequestProto>(
      [this](const RpcCaller&,
             const ebbfs::CombineRequestProto& request) -> Result<ebbfs::CombineResponseProto> {
        EBB_TRY(blocks_.CheckReady());
        return engine_.Combine(request);
      });
  handlers["verify"] = MakeRpcHandler<ebbfs::VerifyRequestProto>(
      [this](const RpcCaller&, const ebbfs::VerifyRequestProto& request) {
        return Verify(request);
      });
  handlers["status"] = MakeRpcHandler<ebbfs::ChunkStatusRequestProto>(
      [this](const RpcCaller&,
             const ebbfs::ChunkStatusRequestProto&) -> Result<ebbfs::ChunkStatusResponseProto> {
        return GetStatus();
      });
  server.RegisterService(kProtocol, kVersion, std::move(handlers), std::move(key));
}

Result<ebbfs::VerifyResponseProto> ChunkService::Verify(const ebbfs::VerifyRequestProto& request) {
  if (request.blocks_size() > kMaxVerifiedBlocks) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} blocks to verify in one call; at most {} are accepted",
                            request.blocks_size(), kMaxVerifiedBlocks));
  }
  if (request.has_cellbytes() && request.cellbytes() < kMinCellBytes) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("checksums of pieces of {} bytes are asked for; at least {} are accepted",
                            request.cellbytes(), kMinCellBytes));
  }
  EBB_TRY(blocks_.CheckReady());
  ebbfs::VerifyResponseProto response;
  std::vector<std::byte> buffer;
  for (const auto& block : request.blocks()) {
    EBB_ASSIGN(*response.add_blocks(), VerifyOne(blocks_, block, request, buffer));
  }
  return response;
}

ebbfs::ChunkStatusResponseProto ChunkService::GetStatus() {
  ebbfs::ChunkStatusResponseProto response;
  for (auto& disk : blocks_.Disks()) *response.add_disks() = std::move(disk);
  response.set_residentbytes(ResidentBytes());
  response.set_combinesrunning(engine_.running());
  response.set_combinebytesheld(engine_.bytes_held());
  const DegradedReader::Counters reads = degraded_reader_.counters();
  response.set_degradedreads(reads.reads);
  response.set_degradedreadbytes(reads.bytes);
  response.set_degradedreadsources(reads.sources);
  if (transfers_ != nullptr) {
    response.set_backgroundbytesreceived(transfers_->background_bytes + engine_.bytes_received());
  }
  blocks_.DescribeScrub(response);
  return response;
}

}  // namespace ebb
