// A replica that is not finalized: a client, a copy or a combine writes it. HDFS calls it
// ReplicaInPipeline. It has two open files: data and checksums ("meta").
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "disk/disk.h"
#include "disk/format.h"

namespace ebb {

// Internal to the store. `mutex` guards every member. A thread that holds `mutex` may take the
// store's mutex, but not the other way round.
struct ReplicaInPipeline {
  ReplicaInPipeline(Disk& on, std::string_view in, std::uint64_t id, std::uint64_t stamp)
      : disk(on), folder(in), block_id(id), generation_stamp(stamp) {}

  // Creates both files, with room for `expected_bytes` of data. The meta file gets its header.
  // kNoSpace if there is no such room.
  [[nodiscard]] Status Create(const format::Checksum& with, std::uint64_t expected_bytes);
  // Gives back the room that was taken for bytes that did not come.
  [[nodiscard]] Status ReleaseRoom();
  // Opens the existing files of a replica and reads the last checksum: after a restart, or to
  // append to a finalized replica. The first `length` bytes must be valid.
  [[nodiscard]] Status OpenExisting(std::uint64_t length);

  // `sums` holds the checksums of the chunks of `data`. Either `offset` begins a chunk, or `offset`
  // is the end of the replica and `data` ends in the same chunk. kInvalid for a gap. kCorrupt if
  // `verify` is set and the data contradict `sums`. Bytes that the replica has are not written
  // again.
  [[nodiscard]] Status Write(std::uint64_t offset, std::span<const std::byte> data,
                             std::span<const std::byte> sums, bool verify);
  // Cuts both files to `length` bytes of data. `length` is at most `on_disk`; if it is equal, only
  // what a failed write has left behind the end is cut. kBusy leaves the replica as it was. A cut
  // that breaks off after that is finished by the next call, whatever its length.
  [[nodiscard]] Status Truncate(std::uint64_t length);
  // kCorrupt if the chunk within which a cut to `length` bytes ends does not fit its checksum.
  [[nodiscard]] Status VerifyChunkOf(std::uint64_t length);
  [[nodiscard]] Status Sync();
  [[nodiscard]] Status SetGenerationStamp(std::uint64_t stamp);
  // Moves both files to another folder of the disk. The meta file is the first that is finalized,
  // and the last that is not any more: after a crash between the two, disk_scan.cc finalizes the
  // replica.
  [[nodiscard]] Status MoveTo(std::string_view to);
  void RemoveFiles();
  // Takes the mutex. A writer that waits for the disk holds it: kBusy if that takes longer than a
  // call of the disk may wait. kBusy also if the disk does not answer: what the caller is about to
  // do would hang.
  [[nodiscard]] Result<std::unique_lock<std::timed_mutex>> Lock();
  // Takes the right to write from the current writer, and wakes its thread.
  void TakeOver();

  [[nodiscard]] std::string DataPath() const { return disk.BlockPath(folder, block_id); }
  [[nodiscard]] std::string MetaPath() const {
    return disk.MetaPath(folder, block_id, generation_stamp);
  }

  std::timed_mutex mutex;
  Disk& disk;
  std::string folder;
  const std::uint64_t block_id;
  std::uint64_t generation_stamp;
  // See WriteRequest.
  std::string replaces;
  format::Checksum checksum;
  std::unique_ptr<File> data;
  std::unique_ptr<File> meta;
  // Bytes for which room was taken.
  std::uint64_t reserved = 0;
  // Bytes on this disk. May be read without the mutex.
  std::atomic<std::uint64_t> on_disk = 0;
  // Bytes that every later server of the pipeline has, too. May be read without the mutex.
  std::atomic<std::uint64_t> acknowledged = 0;
  // The length to which a cut broke off: the bytes beyond it may have no checksums any more.
  std::optional<std::uint64_t> unfinished_cut;
  // The checksum of the last chunk, if that chunk is not full.
  std::array<std::byte, 4> last_sum = {};
  // Only the writer that holds this ticket may write. A new writer increments it.
  std::uint64_t ticket = 0;
  std::function<void()> wake_writer;
  // The replica was finalized or removed. If its disk has failed, only the disk tells.
  bool closed = false;

 private:
  [[nodiscard]] Status WriteInsideChunk(std::uint64_t offset, std::span<const std::byte> bytes,
                                        std::span<const std::byte> sums, bool verify);
  // The checksum of the data in [chunk_start, end).
  [[nodiscard]] Result<std::array<std::byte, 4>> SumOf(std::uint64_t chunk_start,
                                                       std::uint64_t end);
  [[nodiscard]] Status Cut(std::uint64_t length);
  [[nodiscard]] Status StoreLastSum(std::uint64_t chunk_start);
};

}  // namespace ebb
