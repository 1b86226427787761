// Where the scrub of one disk stands: a small file on the disk itself. docs/on-disk-format.md,
// section "Chunk server".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "disk/file_system.h"

namespace ebb::server {

// A replica that was found bad and that the namenode has not had removed yet.
struct ScrubFinding {
  std::uint64_t block_id = 0;
  std::uint64_t generation_stamp = 0;
  friend bool operator==(const ScrubFinding&, const ScrubFinding&) = default;
};

struct ScrubCursor {
  // Findings beyond it are forgotten; the next pass finds them again.
  static constexpr std::size_t kMaxFindings = 1000;

  // Milliseconds since the epoch; 0 if there was no pass yet.
  std::uint64_t pass_started_millis = 0;
  // The pass has seen every block up to this id.
  std::uint64_t after_block_id = 0;
  // Of this pass so far.
  std::uint64_t pass_blocks = 0;
  std::uint64_t pass_bytes = 0;
  // When the last whole pass ended; 0 if none has. A pass is under way if this is the older one.
  std::uint64_t pass_ended_millis = 0;
  std::vector<ScrubFinding> findings;

  [[nodiscard]] bool pass_over() const { return pass_ended_millis >= pass_started_millis; }
  friend bool operator==(const ScrubCursor&, const ScrubCursor&) = default;
};

[[nodiscard]] std::string EncodeScrubCursor(const ScrubCursor& cursor);
// kCorrupt if it is cut off or damaged.
[[nodiscard]] Result<ScrubCursor> DecodeScrubCursor(std::string_view text);

// Of a disk that has no such file: one that begins.
[[nodiscard]] Result<ScrubCursor> LoadScrubCursor(FileSystem& files, const std::string& directory);
// Durably; whoever dies in between leaves the old one or the new one.
[[nodiscard]] Status SaveScrubCursor(FileSystem& files, const std::string& directory,
                                     const ScrubCursor& cursor);

}  // namespace ebb::server
