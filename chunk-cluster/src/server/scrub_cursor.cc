#include "server/scrub_cursor.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>
#include <span>

#include "common/crc32c.h"
#include "disk/format.h"

namespace ebb::server {

namespace {

constexpr std::string_view kSeal = "crc32c=";
constexpr std::string_view kFinding = "finding=";
constexpr std::size_t kMaxFileBytes = 64 << 10;

std::uint32_t SealOf(std::string_view body) { return Crc32c(0, std::as_bytes(std::span(body))); }

std::optional<std::uint64_t> Number(std::string_view text, int base = 10) {
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

std::unexpected<Error> Damaged(std::string_view line) {
  return Fail(ErrorCode::kCorrupt, fmt::format("line '{}' is malformed", line));
}

// The numeric fields and their names in the file.
struct Field {
  std::string_view name;
  std::uint64_t ScrubCursor::*value;
};
constexpr Field kFields[] = {
    {"passStartedMillis", &ScrubCursor::pass_started_millis},
    {"afterBlock", &ScrubCursor::after_block_id},
    {"passBlocks", &ScrubCursor::pass_blocks},
    {"passBytes", &ScrubCursor::pass_bytes},
    {"passEndedMillis", &ScrubCursor::pass_ended_millis},
};

Status DecodeLine(std::string_view line, ScrubCursor& cursor) {
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) return Damaged(line);
  if (line.starts_with(kFinding)) {
    const auto stamp_at = line.find('_');
    if (stamp_at == std::string_view::npos) return Damaged(line);
    const auto id = Number(line.substr(kFinding.size(), stamp_at - kFinding.size()));
    const auto stamp = Number(line.substr(stamp_at + 1));
    if (!id || !stamp) return Damaged(line);
    cursor.findings.push_back({*id, *stamp});
    return {};
  }
  for (const Field& field : kFields) {
    if (line.substr(0, equals) != field.name) continue;
    const auto value = Number(line.substr(equals + 1));
    if (!value) return Damaged(line);
    cursor.*field.value = *value;
    return {};
  }
  return {};  // a field of a later version
}

}  // namespace

std::string EncodeScrubCursor(const ScrubCursor& cursor) {
  std::string text;
  for (const Field& field : kFields) {
    text += fmt::format("{}={}\n", field.name, cursor.*field.value);
  }
  for (const ScrubFinding& finding : cursor.findings) {
    text += fmt::format("{}{}_{}\n", kFinding, finding.block_id, finding.generation_stamp);
  }
  return text + fmt::format("{}{:08x}\n", kSeal, SealOf(text));
}

Result<ScrubCursor> DecodeScrubCursor(std::string_view text) {
  const auto seal_at = text.rfind(kSeal);
  if (seal_at == std::string_view::npos || !text.ends_with('\n')) {
    return Fail(ErrorCode::kCorrupt, "it is cut off");
  }
  const auto body = text.substr(0, seal_at);
  const auto seal = text.substr(seal_at + kSeal.size());
  if (Number(seal.substr(0, seal.size() - 1), 16) != SealOf(body)) {
    return Fail(ErrorCode::kCorrupt, "it contradicts its checksum");
  }
  ScrubCursor cursor;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = body.find('\n', at);
    if (end == std::string_view::npos) return Damaged(body.substr(at));
    EBB_TRY(DecodeLine(body.substr(at, end - at), cursor));
    at = end + 1;
  }
  return cursor;
}

Result<ScrubCursor> LoadScrubCursor(FileSystem& files, const std::string& directory) {
  const std::string path = fmt::format("{}/{}", directory, format::kScrubFile);
  auto file = files.OpenForReading(path);
  if (!file && file.error().code == ErrorCode::kNotFound) return ScrubCursor{};
  if (!file) return std::unexpected(std::move(file).error());
  std::string text(kMaxFileBytes, '\0');
  EBB_ASSIGN(const auto size, (*file)->Read(0, std::as_writable_bytes(std::span(text))));
  text.resize(size);
  auto cursor = DecodeScrubCursor(text);
  if (!cursor) cursor.error().message = fmt::format("{}: {}", path, cursor.error().message);
  return cursor;
}

Status SaveScrubCursor(FileSystem& files, const std::string& directory, const ScrubCursor& cursor) {
  const std::string path = fmt::format("{}/{}", directory, format::kScrubFile);
  const std::string draft = path + ".new";
  const std::string text = EncodeScrubCursor(cursor);
  {
    EBB_ASSIGN(const auto file, files.Create(draft));
    EBB_TRY(file->Write(0, std::as_bytes(std::span(text))));
    EBB_TRY(file->Sync());
  }
  EBB_TRY(files.Rename(draft, path));
  return files.SyncDirectory(directory);
}

}  // namespace ebb::server
