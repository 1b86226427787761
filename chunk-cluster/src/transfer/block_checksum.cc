#include "transfer/block_checksum.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/bytes.h"
#include "common/crc32c.h"
#include "transfer/md5.h"

namespace ebb::transfer {

namespace {

Result<ChunkChecksums> FromReplica(const ReplicaReader& replica, std::uint64_t length) {
  ChunkChecksums result{replica.checksum(), length, {}};
  const std::uint64_t chunk = result.checksum.bytes_per_chunk;
  result.sums.resize(result.checksum.BytesFor(length));
  const std::uint64_t covered = std::min((length + chunk - 1) / chunk * chunk, replica.length());
  EBB_TRY(replica.ReadChecksums(0, covered, result.sums));
  // The stored checksum of the last chunk covers bytes beyond the requested length.
  if (covered != length && result.checksum.size() != 0) {
    std::vector<std::byte> tail(length % chunk);
    EBB_TRY(replica.ReadData(length - tail.size(), tail));
    StoreBig32(result.sums.data() + result.sums.size() - 4, result.checksum.Compute(0, tail));
  }
  return result;
}

Result<ChunkChecksums> FromSource(BlockSource& source, std::uint64_t length) {
  ChunkChecksums result{{}, length, {}};
  result.sums.resize(result.checksum.BytesFor(length));
  std::vector<std::byte> bytes(std::size_t{128} * result.checksum.bytes_per_chunk);
  for (std::uint64_t offset = 0; offset < length; offset += bytes.size()) {
    const auto part =
        std::span(bytes).first(std::min<std::uint64_t>(bytes.size(), length - offset));
    EBB_TRY(source.Read(part));
    result.checksum.ComputeAll(part, result.sums.data() + result.checksum.BytesFor(offset));
  }
  return result;
}

std::uint32_t Compose(const ChunkChecksums& sums) {
  std::uint32_t crc = 0;
  const std::uint64_t chunk = sums.checksum.bytes_per_chunk;
  for (std::uint64_t offset = 0; offset < sums.length_bytes; offset += chunk) {
    const std::uint32_t next = LoadBig32(sums.sums.data() + 4 * (offset / chunk));
    const std::uint64_t length = std::min(chunk, sums.length_bytes - offset);
    crc = sums.checksum.type == format::ChecksumType::kCrc32c ? Crc32cConcat(crc, next, length)
                                                              : Crc32Concat(crc, next, length);
  }
  return crc;
}

}  // namespace

Result<ChunkChecksums> CollectChecksums(BlockStore& store, MissingBlockReader* missing,
                                        const hadoop::hdfs::ExtendedBlockProto& block) {
  const auto replica = store.OpenReader(block.blockid(), block.generationstamp());
  if (replica) {
    if (block.numbytes() > (*replica)->length()) {
      return Fail(
          ErrorCode::kInvalid,
          fmt::format("the checksum of {} bytes of block {} was requested, but the block has {}",
                      block.numbytes(), block.blockid(), (*replica)->length()));
    }
    return FromReplica(**replica, block.numbytes());
  }
  if (missing == nullptr) return std::unexpected(replica.error());
  EBB_ASSIGN(const auto opened, missing->Open(block, 0, block.numbytes()));
  if (block.numbytes() > opened.length_bytes) {
    return Fail(ErrorCode::kInvalid, fmt::format("block {} has {} bytes, not {}", block.blockid(),
                                                 opened.length_bytes, block.numbytes()));
  }
  return FromSource(*opened.source, block.numbytes());
}

Status FillChecksumResponse(const ChunkChecksums& sums,
                            const hadoop::hdfs::BlockChecksumOptionsProto& options,
                            hadoop::hdfs::OpBlockChecksumResponseProto& response) {
  response.set_bytespercrc(sums.checksum.bytes_per_chunk);
  response.set_crcperblock(sums.checksum.ChunksOf(sums.length_bytes));
  response.set_crctype(static_cast<hadoop::hdfs::ChecksumTypeProto>(sums.checksum.type));
  *response.mutable_blockchecksumoptions() = options;
  if (options.blockchecksumtype() == hadoop::hdfs::MD5CRC) {
    const auto digest = Md5(sums.sums);
    response.set_blockchecksum(digest.data(), digest.size());
    return {};
  }
  if (options.stripelength() != 0 || sums.checksum.size() == 0) {
    return Fail(ErrorCode::kUnsupported,
                "composite checksums by stripe, and of blocks without checksums, are not "
                "supported; use MD5MD5CRC");
  }
  std::byte crc[4];
  StoreBig32(crc, Compose(sums));
  response.set_blockchecksum(crc, sizeof crc);
  return {};
}

}  // namespace ebb::transfer
