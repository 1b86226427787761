// What an hdfsFile points at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "capi/connection.h"
#include "client/input_stream.h"
#include "client/output_stream.h"

namespace ebb::capi {

// Thread-safe. Reads that move the position follow one another; positional reads have streams of
// their own, and run beside all other calls.
class ReadFile {
 public:
  explicit ReadFile(std::unique_ptr<client::InputStream> stream);

  // Fills `out` unless the file ends before.
  [[nodiscard]] Result<std::size_t> Read(std::span<std::byte> out);
  [[nodiscard]] Result<std::size_t> ReadAt(std::uint64_t offset, std::span<std::byte> out);
  [[nodiscard]] Status Seek(std::uint64_t offset);
  [[nodiscard]] std::uint64_t position();
  [[nodiscard]] std::uint64_t length() const { return length_; }
  void Unbuffer();
  [[nodiscard]] client::ReadCounts counts();
  void ClearCounts();

 private:
  [[nodiscard]] Result<std::size_t> ReadAfterJump(std::span<std::byte> out);
  [[nodiscard]] Result<std::size_t> ReadOn(std::span<std::byte> out);
  [[nodiscard]] std::unique_ptr<client::InputStream> TakeIdle();
  void PutBack(std::unique_ptr<client::InputStream> stream);
  void Count(const client::ReadCounts& before, const client::ReadCounts& after);

  const std::uint64_t length_;
  std::mutex reading_;
  std::unique_ptr<client::InputStream> stream_;
  // The position has been set since the last read.
  bool jumped_ = false;

  std::mutex idle_mutex_;
  // Streams of positional reads that nobody uses: never none, because each is a copy of one.
  std::vector<std::unique_ptr<client::InputStream>> idle_;
  client::ReadCounts counts_;
};

// Thread-safe. Calls follow one another.
class WriteFile {
 public:
  explicit WriteFile(std::unique_ptr<client::OutputStream> stream);

  [[nodiscard]] Status Write(std::span<const std::byte> data);
  [[nodiscard]] Status Flush();
  [[nodiscard]] Status Sync();
  [[nodiscard]] Status Close();
  // Where the next byte goes.
  [[nodiscard]] std::uint64_t position();

 private:
  std::mutex mutex_;
  const std::unique_ptr<client::OutputStream> stream_;
  std::uint64_t position_;
};

// How a file is opened, as hdfsOpenFile takes it. 0 stands for what is configured.
struct OpenOptions {
  int flags = 0;
  std::uint32_t replication = 0;
  std::uint64_t block_bytes = 0;
};

[[nodiscard]] Answer<std::unique_ptr<hdfsFile_internal>> OpenPath(
    const std::shared_ptr<client::FileSystem>& files, const std::string& path,
    const OpenOptions& options);

}  // namespace ebb::capi

struct hdfsFile_internal {
  // Outlives the streams.
  std::shared_ptr<ebb::client::FileSystem> files;
  // One of the two.
  std::unique_ptr<ebb::capi::ReadFile> reader;
  std::unique_ptr<ebb::capi::WriteFile> writer;
  // As of hdfs_internal.
  const pid_t process = getpid();
};
