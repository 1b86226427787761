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

Result<ChunkChecksums> FromSource(BlockSource& source, std::uint64_t length,
                                  const format::Checksum& checksum) {
  ChunkChecksums result{checksum, length, {}};
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

// One CRC for each `stripe` bytes, big endian. A stripe consists of whole chunks.
std::string Compose(const ChunkChecksums& sums, std::uint64_t stripe) {
  std::string composed;
  const std::uint64_t chunk = sums.checksum.bytes_per_chunk;
  for (std::uint64_t begin = 0; begin < sums.length_bytes; begin += stripe) {
    const std::uint64_t end = begin + std::min(stripe, sums.length_bytes - begin);
    std::uint32_t crc = 0;
    for (std::uint64_t offset = begin; offset < end; offset += chunk) {
      crc = ConcatChecksums(sums.checksum.type, crc,
                            LoadBig32(sums.sums.data() + 4 * (offset / chunk)),
                            std::min(chunk, end - offset));
    }
    composed.resize(composed.size() + 4);
    StoreBig32(reinterpret_cast<std::byte*>(composed.data() + composed.size() - 4), crc);
  }
  return composed;
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
  return DecodeChecksums(*missing, block, {});
}

Result<ChunkChecksums> DecodeChecksums(MissingBlockReader& missing,
                                       const hadoop::hdfs::ExtendedBlockProto& block,
                                       const format::Checksum& checksum) {
  EBB_ASSIGN(const auto opened, missing.Open(block, 0, block.numbytes()));
  if (block.numbytes() > opened.length_bytes) {
    return Fail(ErrorCode::kInvalid, fmt::format("block {} has {} bytes, not {}", block.blockid(),
                                                 opened.length_bytes, block.numbytes()));
  }
  return FromSource(*opened.source, block.numbytes(), checksum);
}

std::uint32_t ConcatChecksums(format::ChecksumType type, std::uint32_t a, std::uint32_t b,
                              std::uint64_t length_b) {
  return type == format::ChecksumType::kCrc32c ? Crc32cConcat(a, b, length_b)
                                               : Crc32Concat(a, b, length_b);
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
  if (sums.checksum.size() == 0) {
    return Fail(ErrorCode::kUnsupported,
                "blocks without checksums have no composite checksum; use MD5MD5CRC");
  }
  const std::uint64_t stripe = options.stripelength();
  if (stripe % sums.checksum.bytes_per_chunk != 0) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("a checksum for each {} bytes was requested, but the block has one for "
                            "each {}; use MD5MD5CRC, or write the file with another "
                            "dfs.bytes-per-checksum",
                            stripe, sums.checksum.bytes_per_chunk));
  }
  if (stripe == 0 && sums.length_bytes == 0) {
    response.set_blockchecksum(std::string(4, '\0'));
  } else {
    response.set_blockchecksum(Compose(sums, stripe == 0 ? sums.length_bytes : stripe));
  }
  return {};
}

}  // namespace ebb::transfer
