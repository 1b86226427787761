// Reads a file for one descriptor: streams what is read in order, and asks for the rest by range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "client/file_system.h"
#include "common/error.h"
#include "mount/read_pattern.h"

namespace ebb::mount {

// One thread at a time, except for Cancel().
class FileReader {
 public:
  explicit FileReader(client::FileSystem& files) : files_(files) {}

  // Sees the bytes that the file has now. Reads go on at the same place of the pattern.
  [[nodiscard]] Status Open(const std::string& path);
  // Fills `out` unless the file ends before, as it was at Open(): returns how many bytes there are.
  [[nodiscard]] Result<std::size_t> Read(std::uint64_t offset, std::span<std::byte> out);

  [[nodiscard]] bool is_open() const { return stream_ != nullptr; }
  // Of the file at Open().
  [[nodiscard]] std::uint64_t length() const { return stream_->length(); }

  // Makes a read that runs now fail; the next one wants Open() again. Thread-safe.
  void Cancel();

 private:
  void Replace(std::shared_ptr<client::InputStream> stream);
  [[nodiscard]] Status Skip(std::uint64_t bytes);

  client::FileSystem& files_;
  ReadPattern pattern_;
  std::mutex mutex_;
  // Shared with Cancel() while that runs.
  std::shared_ptr<client::InputStream> stream_;
};

}  // namespace ebb::mount
