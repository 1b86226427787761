// Writes a file in order, for all descriptors that have it open for writing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "client/file_system.h"
#include "common/error.h"

namespace ebb::mount {

// Bytes that servers have not acknowledged, of all files that are written. Thread-safe.
class DirtyBytes {
 public:
  explicit DirtyBytes(std::uint64_t most) : most_(most) {}

  // Replaces one writer's count by another. False if the bytes of all are too many now.
  [[nodiscard]] bool Change(std::uint64_t before, std::uint64_t now) {
    return (total_ += now - before) <= most_;
  }
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  const std::uint64_t most_;
  std::atomic<std::uint64_t> total_ = 0;
};

// Thread-safe. The file is open at the namenode from the first write until Complete(). A write
// after that opens it again. After a write has failed, so does everything until all descriptors
// are closed, because nobody knows which bytes the file has.
class FileWriter {
 public:
  // The path of the file now; nothing if it was removed.
  using PathNow = std::function<std::optional<std::string>()>;

  // `file_id`: the namenode's number of the file. Another file at the path is left alone.
  FileWriter(client::FileSystem& files, DirtyBytes& dirty, PathNow path, std::uint64_t file_id,
             std::uint64_t length);
  ~FileWriter();

  // Goes on with a file that was just created.
  void Adopt(std::unique_ptr<client::OutputStream> stream);
  // Opens the file for appending, if it is not open.
  [[nodiscard]] Status Open();
  // See CheckWritePlace.
  [[nodiscard]] Status Write(std::uint64_t offset, bool appends, std::span<const std::byte> data);
  // Returns when readers that open the file see all bytes.
  [[nodiscard]] Status Flush();
  // The same, and the bytes are on disks.
  [[nodiscard]] Status Sync();
  // Ends the file: its length is that which the namenode tells. Nothing to do for a file that has
  // been created and not been written yet, unless `empty_too`.
  [[nodiscard]] Status Complete(bool empty_too);
  // Completes the file, without exceptions: for threads that nobody waits for.
  [[nodiscard]] Status EndSafely() noexcept;
  // Cuts the file. kUnsupported for more bytes than it has.
  [[nodiscard]] Status SetLength(std::uint64_t length, const std::function<bool()>& give_up);

  // The length of the file, written bytes included. Empty unless the file is open at the namenode.
  [[nodiscard]] std::optional<std::uint64_t> open_length() const;

 private:
  // These want the mutex.
  [[nodiscard]] Result<std::string> Path() const;
  // What the namenode tells of the file. kNotFound if the path stands for another one.
  [[nodiscard]] Result<client::FileStatus> Present(const std::string& path) const;
  [[nodiscard]] Status Reopen();
  // Of a file that is not open: so that a write that is refused opens nothing.
  [[nodiscard]] Status CheckPlace(std::uint64_t offset, bool appends);
  [[nodiscard]] Status Guarded(Status status);
  [[nodiscard]] Status End();
  [[nodiscard]] Status WriteNow(std::uint64_t offset, bool appends,
                                std::span<const std::byte> data);
  void CountDirty(std::uint64_t bytes);

  client::FileSystem& files_;
  DirtyBytes& dirty_;
  const PathNow path_;
  const std::uint64_t file_id_;
  // More is never without acknowledgement.
  const std::uint64_t window_bytes_;
  mutable std::mutex mutex_;
  std::unique_ptr<client::OutputStream> stream_;
  bool written_ = false;
  std::optional<Error> failure_;
  std::uint64_t dirty_bytes_ = 0;
  std::atomic<bool> open_ = false;
  std::atomic<std::uint64_t> length_;
};

using FileWriterPointer = std::shared_ptr<FileWriter>;

// Cuts a file that nobody writes, and waits until it has its new length, or until `give_up`.
[[nodiscard]] Status CutFile(client::FileSystem& files, const std::string& path,
                             std::uint64_t present, std::uint64_t length,
                             const std::function<bool()>& give_up);

}  // namespace ebb::mount
