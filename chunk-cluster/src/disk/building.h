// A replica that is being written: two open files and what is known about them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "disk/disk.h"
#include "disk/format.h"

namespace ebb {

// Internal to the store. Every member is guarded by `mutex`; the store's own mutex may be taken
// while it is held, never the other way round.
struct Building {
  Building(Disk& on, std::string_view in, std::uint64_t id, std::uint64_t stamp)
      : disk(on), folder(in), block_id(id), generation_stamp(stamp) {}

  // Makes both files, empty but for the header.
  [[nodiscard]] Status Create(const format::Checksum& with);
  // Opens the files of an earlier process or of a finalized block that is appended to, and reads
  // the last checksum. `length` must be right.
  [[nodiscard]] Status OpenExisting(std::uint64_t length);

  // `sums` holds the checksums of the chunks of `data`. `offset` begins a chunk, or it is the end
  // of what is there and `data` stays in that chunk. kInvalid for a gap, kCorrupt if the checksums
  // do not fit and `verify`. Bytes that are there already are not written again.
  [[nodiscard]] Status Write(std::uint64_t offset, std::span<const std::byte> data,
                             std::span<const std::byte> sums, bool verify);
  [[nodiscard]] Status Truncate(std::uint64_t length);
  [[nodiscard]] Status Sync();
  [[nodiscard]] Status SetGenerationStamp(std::uint64_t stamp);
  // Moves both files to another folder of the disk, checksums first.
  [[nodiscard]] Status MoveTo(std::string_view to);
  void RemoveFiles();
  // Ends the right of the current writer to write, and wakes it.
  void TakeOver();

  [[nodiscard]] std::string DataPath() const { return disk.BlockPath(folder, block_id); }
  [[nodiscard]] std::string MetaPath() const {
    return disk.MetaPath(folder, block_id, generation_stamp);
  }

  std::mutex mutex;
  Disk& disk;
  std::string folder;
  const std::uint64_t block_id;
  std::uint64_t generation_stamp;
  format::Checksum checksum;
  std::unique_ptr<File> data;
  std::unique_ptr<File> meta;
  // These two may be read without the mutex.
  std::atomic<std::uint64_t> on_disk = 0;
  // Every later server of the pipeline has them too.
  std::atomic<std::uint64_t> acknowledged = 0;
  // Of the chunk that `on_disk` ends in, if it ends inside one.
  std::array<std::byte, 4> last_sum = {};
  // Only the writer that holds this ticket may write.
  std::uint64_t ticket = 0;
  std::function<void()> wake_writer;
  // Gone from the store: finalized, removed, or its disk failed.
  bool closed = false;

 private:
  [[nodiscard]] Status WriteInsideChunk(std::uint64_t offset, std::span<const std::byte> bytes,
                                        std::span<const std::byte> sums, bool verify);
};

}  // namespace ebb
