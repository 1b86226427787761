// The progress of the block scrub of one disk: a small file on that disk. docs/on-disk-format.md,
// section "Chunk server", describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "disk/file_system.h"

namespace ebb::server {

// A bad replica that the namenode has not removed yet.
struct ScrubFinding {
  std::uint64_t block_id = 0;
  std::uint64_t generation_stamp = 0;
  friend bool operator==(const ScrubFinding&, const ScrubFinding&) = default;
};

struct ScrubCursor {
  // More findings are not kept. The next pass finds the bad blocks again.
  static constexpr std::size_t kMaxFindings = 1000;

  // Milliseconds since the epoch. 0 before the first pass.
  std::uint64_t pass_started_millis = 0;
  // The pass has read every block up to this id.
  std::uint64_t after_block_id = 0;
  // Blocks and bytes that this pass has read so far.
  std::uint64_t pass_blocks = 0;
  std::uint64_t pass_bytes = 0;
  // The end of the last complete pass, or 0. A pass is under way if pass_started_millis is later.
  std::uint64_t pass_ended_millis = 0;
  std::vector<ScrubFinding> findings;

  [[nodiscard]] bool pass_over() const { return pass_ended_millis >= pass_started_millis; }
  friend bool operator==(const ScrubCursor&, const ScrubCursor&) = default;
};

[[nodiscard]] std::string EncodeScrubCursor(const ScrubCursor& cursor);
// kCorrupt if the text is cut off or damaged.
[[nodiscard]] Result<ScrubCursor> DecodeScrubCursor(std::string_view text);

// An empty cursor if the disk has no such file.
[[nodiscard]] Result<ScrubCursor> LoadScrubCursor(FileSystem& files, const std::string& directory);
// Durable. A crash leaves either the old cursor or the new one.
[[nodiscard]] Status SaveScrubCursor(FileSystem& files, const std::string& directory,
                                     const ScrubCursor& cursor);

}  // namespace ebb::server
