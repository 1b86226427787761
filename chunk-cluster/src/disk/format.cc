#include "disk/format.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "common/bytes.h"
#include "common/crc32c.h"

namespace ebb::format {

namespace {

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

constexpr std::string_view kBlockPrefix = "blk_";
constexpr std::string_view kMetaSuffix = ".meta";

}  // namespace

std::uint32_t Checksum::Compute(std::uint32_t crc, std::span<const std::byte> data) const {
  switch (type) {
    case ChecksumType::kNull:
      return 0;
    case ChecksumType::kCrc32:
      return Crc32(crc, data);
    case ChecksumType::kCrc32c:
      return Crc32c(crc, data);
  }
  return 0;
}

void Checksum::ComputeAll(std::span<const std::byte> data, std::byte* out) const {
  if (type == ChecksumType::kNull) return;
  if (type == ChecksumType::kCrc32c) return Crc32cChunks(data, bytes_per_chunk, out);
  for (; !data.empty(); out += 4) {
    const std::size_t n = std::min<std::size_t>(bytes_per_chunk, data.size());
    StoreBig32(out, Crc32(0, data.first(n)));
    data = data.subspan(n);
  }
}

std::optional<std::size_t> Checksum::FirstMismatch(std::span<const std::byte> data,
                                                   std::span<const std::byte> sums) const {
  if (type == ChecksumType::kNull) return std::nullopt;
  constexpr std::size_t kBatch = 48;
  std::byte computed[4 * kBatch];
  for (std::size_t chunk = 0; !data.empty(); chunk += kBatch) {
    const std::size_t n = std::min<std::size_t>(kBatch * bytes_per_chunk, data.size());
    const std::size_t count = ChunksOf(n);
    ComputeAll(data.first(n), computed);
    for (std::size_t i = 0; i < count; ++i) {
      if (std::memcmp(computed + 4 * i, sums.data() + 4 * (chunk + i), 4) != 0) return chunk + i;
    }
    data = data.subspan(n);
  }
  return std::nullopt;
}

Result<Checksum> MakeChecksum(int type, std::uint32_t bytes_per_chunk) {
  if (type < 0 || type > 2) {
    return Fail(ErrorCode::kInvalid, fmt::format("checksum type {} is unknown; use CRC32C", type));
  }
  if (bytes_per_chunk == 0 || bytes_per_chunk > kMaxBytesPerChecksum) {
    return Fail(ErrorCode::kInvalid, fmt::format("{} bytes per checksum are refused; use 1 to {}",
                                                 bytes_per_chunk, kMaxBytesPerChecksum));
  }
  return Checksum{static_cast<ChecksumType>(type), bytes_per_chunk};
}

void EncodeMetaHeader(const Checksum& checksum, std::span<std::byte, kMetaHeaderBytes> out) {
  StoreBig16(out.data(), kMetaVersion);
  out[2] = static_cast<std::byte>(checksum.type);
  StoreBig32(out.data() + 3, checksum.bytes_per_chunk);
}

Result<Checksum> DecodeMetaHeader(std::span<const std::byte> header) {
  if (header.size() < kMetaHeaderBytes) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("the header has {} of {} bytes", header.size(), kMetaHeaderBytes));
  }
  const auto version = LoadBig16(header.data());
  if (version != kMetaVersion) {
    return Fail(ErrorCode::kCorrupt, fmt::format("the header has version {}", version));
  }
  auto checksum = MakeChecksum(static_cast<int>(header[2]), LoadBig32(header.data() + 3));
  if (!checksum) return Fail(ErrorCode::kCorrupt, checksum.error().message);
  return checksum;
}

std::string BlockFileName(std::uint64_t block_id) {
  return fmt::format("{}{}", kBlockPrefix, static_cast<std::int64_t>(block_id));
}

std::string MetaFileName(std::uint64_t block_id, std::uint64_t generation_stamp) {
  return fmt::format("{}_{}{}", BlockFileName(block_id), generation_stamp, kMetaSuffix);
}

std::string SubdirectoryName(std::uint64_t block_id) {
  return fmt::format("{:02x}", block_id & 0xff);
}

std::optional<ParsedName> ParseName(std::string_view name) {
  if (!name.starts_with(kBlockPrefix)) return std::nullopt;
  name.remove_prefix(kBlockPrefix.size());
  if (!name.ends_with(kMetaSuffix)) {
    const auto id = ParseNumber<std::int64_t>(name);
    if (!id) return std::nullopt;
    return ParsedName{static_cast<std::uint64_t>(*id), std::nullopt};
  }
  name.remove_suffix(kMetaSuffix.size());
  const auto separator = name.rfind('_');
  if (separator == std::string_view::npos) return std::nullopt;
  const auto id = ParseNumber<std::int64_t>(name.substr(0, separator));
  const auto stamp = ParseNumber<std::uint64_t>(name.substr(separator + 1));
  if (!id || !stamp) return std::nullopt;
  return ParsedName{static_cast<std::uint64_t>(*id), *stamp};
}

std::string EncodeIdentity(const Identity& identity) {
  return fmt::format(
      "layoutVersion={}\nstorageUuid={}\nserverUuid={}\nclusterId={}\nblockPoolId={}\n"
      "namespaceId={}\n",
      kLayoutVersion, identity.storage_uuid, identity.server_uuid, identity.cluster_id,
      identity.block_pool_id, identity.namespace_id);
}

Result<Identity> DecodeIdentity(std::string_view text) {
  std::map<std::string, std::string, std::less<>> values;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) {
      return Fail(ErrorCode::kCorrupt, fmt::format("line '{}' is not key=value", line));
    }
    values.emplace(line.substr(0, equals), line.substr(equals + 1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  for (const char* key :
       {"layoutVersion", "storageUuid", "serverUuid", "clusterId", "blockPoolId", "namespaceId"}) {
    if (!values.contains(key)) {
      return Fail(ErrorCode::kCorrupt, fmt::format("line '{}=' is missing", key));
    }
  }
  if (values["layoutVersion"] != std::to_string(kLayoutVersion)) {
    return Fail(ErrorCode::kCorrupt, fmt::format("layoutVersion is '{}' and this program knows {}",
                                                 values["layoutVersion"], kLayoutVersion));
  }
  const auto namespace_id = ParseNumber<std::uint32_t>(values["namespaceId"]);
  if (!namespace_id || values["storageUuid"].empty() || values["serverUuid"].empty()) {
    return Fail(ErrorCode::kCorrupt, "namespaceId is not a number, or a uuid is empty");
  }
  return Identity{values["storageUuid"], values["serverUuid"], values["clusterId"],
                  values["blockPoolId"], *namespace_id};
}

}  // namespace ebb::format
