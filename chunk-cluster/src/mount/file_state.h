// What a mount knows of a file: how fresh its attributes are, and who writes it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "mount/file_writer.h"
#include "mount/worker_pool.h"

namespace ebb::mount {

// A file with another version has other bytes.
struct Version {
  std::int64_t modified_millis = 0;
  std::uint64_t length = 0;

  bool operator==(const Version&) const = default;
};

// Thread-safe.
class FileState {
 public:
  // The namenode has told this now.
  void Tell(const Version& version);
  // What the namenode told within this time.
  [[nodiscard]] std::optional<Version> Known(std::chrono::duration<double> freshness) const;
  // This mount has cut the file, or may have.
  void Cut();
  // Grows when the file may have other bytes where it had some: a reader that was opened before may
  // have old ones.
  [[nodiscard]] std::uint64_t changes() const;
  // This mount has written so many bytes.
  void Grow(std::uint64_t length);
  // As the namenode told last, or as this mount wrote later.
  [[nodiscard]] std::uint64_t known_length() const;
  // Whether pages that the kernel got at the last opening are those of this version. Pages that it
  // gets from now on are.
  [[nodiscard]] bool HasPagesOf(const Version& version);

  // The writer that all descriptors of the file share. Each user releases it once.
  [[nodiscard]] FileWriterPointer UseWriter(const std::function<FileWriterPointer()>& make);
  void ReleaseWriter();
  // Null if nobody has the file open for writing.
  [[nodiscard]] FileWriterPointer writer() const;
  // The order of what writers do.
  [[nodiscard]] StrandPointer strand();

 private:
  mutable std::mutex mutex_;
  std::optional<Version> version_;
  std::uint64_t known_length_ = 0;
  std::uint64_t changes_ = 0;
  std::chrono::steady_clock::time_point told_ = {};
  std::optional<Version> pages_;
  FileWriterPointer writer_;
  int users_ = 0;
  StrandPointer strand_;
};

}  // namespace ebb::mount
