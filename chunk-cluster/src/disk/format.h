// Names and layout of everything on a disk of a chunk server. docs/on-disk-format.md, section
// "Chunk server", describes the same: change both together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/error.h"

namespace ebb::format {

inline constexpr int kLayoutVersion = 1;
inline constexpr std::string_view kVersionFile = "VERSION";
inline constexpr std::string_view kLockFile = "in_use.lock";
inline constexpr std::string_view kScrubFile = "scrub.cursor";
inline constexpr std::string_view kFinalized = "finalized";
inline constexpr std::string_view kBeingWritten = "rbw";
inline constexpr std::string_view kTemporary = "tmp";
// Replicas that cannot be served, set aside at a start.
inline constexpr std::string_view kCorrupt = "corrupt";

// Header of a meta file: version (2 bytes), checksum type (1), bytes per checksum (4), big endian.
inline constexpr std::uint16_t kMetaVersion = 1;
inline constexpr std::size_t kMetaHeaderBytes = 7;
inline constexpr std::uint32_t kDefaultBytesPerChecksum = 512;
// The largest chunk that is accepted. A read of one byte reads a whole chunk.
inline constexpr std::uint32_t kMaxBytesPerChecksum = 1 << 20;

// The values are those of ChecksumTypeProto and of the type byte in the meta header.
enum class ChecksumType : std::uint8_t { kNull = 0, kCrc32 = 1, kCrc32c = 2 };

struct Checksum {
  ChecksumType type = ChecksumType::kCrc32c;
  std::uint32_t bytes_per_chunk = kDefaultBytesPerChecksum;

  [[nodiscard]] std::size_t size() const { return type == ChecksumType::kNull ? 0 : 4; }
  [[nodiscard]] std::uint64_t ChunksOf(std::uint64_t bytes) const {
    return (bytes + bytes_per_chunk - 1) / bytes_per_chunk;
  }
  // Bytes of the checksums of `bytes` bytes of data.
  [[nodiscard]] std::uint64_t BytesFor(std::uint64_t bytes) const {
    return ChunksOf(bytes) * size();
  }
  // The position, in the meta file, of the checksum of the chunk that holds byte `offset`.
  [[nodiscard]] std::uint64_t MetaOffset(std::uint64_t offset) const {
    return kMetaHeaderBytes + offset / bytes_per_chunk * size();
  }
  // The checksum of one chunk whose beginning has the checksum `crc`.
  [[nodiscard]] std::uint32_t Compute(std::uint32_t crc, std::span<const std::byte> data) const;
  // Writes the checksums of all chunks of `data` to `out`. `data` begins a chunk.
  void ComputeAll(std::span<const std::byte> data, std::byte* out) const;
  // Verifies `data`, which begins a chunk, against `sums`. The index of the first chunk that
  // contradicts its checksum, or nothing if all agree. Every verification of checksums ends here.
  [[nodiscard]] std::optional<std::size_t> FirstMismatch(std::span<const std::byte> data,
                                                         std::span<const std::byte> sums) const;

  friend bool operator==(const Checksum&, const Checksum&) = default;
};

// kInvalid for a type or chunk size that is not supported.
[[nodiscard]] Result<Checksum> MakeChecksum(int type, std::uint32_t bytes_per_chunk);

void EncodeMetaHeader(const Checksum& checksum, std::span<std::byte, kMetaHeaderBytes> out);
// kCorrupt if the header is no valid meta header.
[[nodiscard]] Result<Checksum> DecodeMetaHeader(std::span<const std::byte> header);

[[nodiscard]] std::string BlockFileName(std::uint64_t block_id);
[[nodiscard]] std::string MetaFileName(std::uint64_t block_id, std::uint64_t generation_stamp);
// Two hex digits: blocks of consecutive ids spread over 256 folders.
[[nodiscard]] std::string SubdirectoryName(std::uint64_t block_id);

struct ParsedName {
  std::uint64_t block_id;
  // Present for a meta file.
  std::optional<std::uint64_t> generation_stamp;
};
// Empty for a foreign name.
[[nodiscard]] std::optional<ParsedName> ParseName(std::string_view name);

// The VERSION file: the cluster, the server and the disk that a directory belongs to.
struct Identity {
  std::string storage_uuid;
  std::string server_uuid;
  // Empty until the first contact with a namenode.
  std::string cluster_id;
  std::string block_pool_id;
  std::uint32_t namespace_id = 0;
};

[[nodiscard]] std::string EncodeIdentity(const Identity& identity);
// kCorrupt, naming the line that is wrong or missing.
[[nodiscard]] Result<Identity> DecodeIdentity(std::string_view text);

}  // namespace ebb::format
