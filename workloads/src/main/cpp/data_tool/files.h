// Writes and reads of the benchmark's files by the native client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "client/file_system.h"
#include "common/error.h"
#include "data_tool/content.h"
#include "data_tool/parts.h"

namespace ebb::data_tool {

// The files PREFIX0, PREFIX1 and so on, of `bytes` each.
struct FileSet {
  std::string prefix;
  std::size_t count = 0;
  std::uint64_t bytes = 0;

  [[nodiscard]] std::string Path(std::size_t number) const {
    return prefix + std::to_string(number);
  }
};

struct RandomReads {
  std::size_t length = 0;
  std::size_t count = 0;
  std::int64_t seed = 0;
};

// One thread at a time may call it; each call shares its files among threads of its own. Reads end
// with kCorrupt if a byte is not the one that was written, or if a byte is missing.
class Files {
 public:
  explicit Files(client::FileSystem& files) : files_(files) {}

  // Replaces files that exist.
  [[nodiscard]] Result<Timing> Write(const FileSet& set, std::uint32_t replication,
                                     std::size_t threads) const;
  // Reads the whole files. A file with more bytes than those of the set is an error, too.
  [[nodiscard]] Result<Timing> Read(const FileSet& set, std::size_t threads) const;
  // Reads the first bytes of files that may have more, on one thread.
  [[nodiscard]] Result<Timing> ReadBegin(const FileSet& set) const;
  // Reads at random offsets; the files are opened before the time begins.
  [[nodiscard]] Result<Timing> ReadParts(const FileSet& set, std::size_t threads,
                                         const RandomReads& reads) const;
  // `policy` is the erasure coding policy of the directory, which is enabled; empty for none.
  [[nodiscard]] Status MakeDirectory(const std::string& path, const std::string& policy) const;
  [[nodiscard]] Status Remove(const std::string& path) const;

 private:
  [[nodiscard]] Status WriteOne(const std::string& path, std::uint64_t bytes,
                                std::uint32_t replication) const;
  [[nodiscard]] Status ReadOne(const std::string& path, std::uint64_t bytes) const;
  [[nodiscard]] Status ReadBeginOfOne(const std::string& path, std::uint64_t bytes) const;

  client::FileSystem& files_;
  const Content content_;
};

}  // namespace ebb::data_tool
