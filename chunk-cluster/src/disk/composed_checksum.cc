#include "disk/composed_checksum.h"

#include <algorithm>
#include <vector>

#include "common/bytes.h"
#include "common/crc32c.h"

namespace ebb {

namespace {

// Checksums in memory at once.
constexpr std::uint64_t kStepChunks = 16'384;

// Calls `append` with the checksum and the length of each chunk, in their order.
template <typename Append>
Status ForEachChunk(const ReplicaReader& replica, Append append) {
  const std::uint64_t chunk = replica.checksum().bytes_per_chunk;
  const std::uint64_t length = replica.length();
  std::vector<std::byte> sums(
      replica.checksum().BytesFor(std::min<std::uint64_t>(length, kStepChunks * chunk)));
  for (std::uint64_t start = 0; start < length; start += kStepChunks * chunk) {
    const std::uint64_t end = std::min(length, start + kStepChunks * chunk);
    EBB_TRY(replica.ReadChecksums(start, end, sums));
    for (std::uint64_t at = start; at < end; at += chunk) {
      append(LoadBig32(sums.data() + 4 * ((at - start) / chunk)), std::min(chunk, end - at));
    }
  }
  return {};
}

}  // namespace

Result<std::optional<std::uint32_t>> ComposeCrc32c(const ReplicaReader& replica) {
  if (replica.checksum().type != format::ChecksumType::kCrc32c) return std::nullopt;
  Crc32cComposer composer(replica.checksum().bytes_per_chunk);
  EBB_TRY(ForEachChunk(replica, [&](std::uint32_t crc, std::uint64_t length) {
    composer.Append(crc, length);
  }));
  return composer.value();
}

Result<std::optional<std::vector<std::uint32_t>>> ComposePieceCrc32cs(const ReplicaReader& replica,
                                                                      std::uint64_t piece_bytes) {
  const std::uint64_t chunk = replica.checksum().bytes_per_chunk;
  if (replica.checksum().type != format::ChecksumType::kCrc32c || piece_bytes % chunk != 0) {
    return std::nullopt;
  }
  const Crc32cComposer empty(chunk);
  std::vector<std::uint32_t> pieces;
  std::optional<Crc32cComposer> piece;
  std::uint64_t filled = 0;
  EBB_TRY(ForEachChunk(replica, [&](std::uint32_t crc, std::uint64_t length) {
    if (filled == 0) piece.emplace(empty);
    piece->Append(crc, length);
    filled += length;
    if (filled == piece_bytes) {
      pieces.push_back(piece->value());
      filled = 0;
    }
  }));
  if (filled > 0) pieces.push_back(piece->value());
  return pieces;
}

}  // namespace ebb
