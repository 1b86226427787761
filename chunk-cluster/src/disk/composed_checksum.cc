#include "disk/composed_checksum.h"

#include <algorithm>
#include <vector>

#include "common/bytes.h"
#include "common/crc32c.h"

namespace ebb {

namespace {

// Checksums in memory at once.
constexpr std::uint64_t kStepChunks = 16'384;

}  // namespace

Result<std::optional<std::uint32_t>> ComposeCrc32c(const ReplicaReader& replica) {
  const auto& checksum = replica.checksum();
  if (checksum.type != format::ChecksumType::kCrc32c) return std::nullopt;
  const std::uint64_t chunk = checksum.bytes_per_chunk;
  const std::uint64_t length = replica.length();
  Crc32cComposer composer(chunk);
  std::vector<std::byte> sums(
      checksum.BytesFor(std::min<std::uint64_t>(length, kStepChunks * chunk)));
  for (std::uint64_t start = 0; start < length; start += kStepChunks * chunk) {
    const std::uint64_t end = std::min(length, start + kStepChunks * chunk);
    EBB_TRY(replica.ReadChecksums(start, end, sums));
    for (std::uint64_t at = start; at < end; at += chunk) {
      composer.Append(LoadBig32(sums.data() + 4 * ((at - start) / chunk)),
                      std::min(chunk, end - at));
    }
  }
  return composer.value();
}

}  // namespace ebb
