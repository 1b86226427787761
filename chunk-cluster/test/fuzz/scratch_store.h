// A block store in a temporary folder (TMPDIR) that is removed again.
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "disk/block_store.h"

namespace ebb::fuzz {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = std::filesystem::temp_directory_path() / "ebb-fuzz-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) abort();
    path_ = name;
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::unique_ptr<BlockStore> OpenStore(const std::string& directory) {
  auto store = BlockStore::Open(RealFileSystem(), {.directories = {directory}});
  if (!store || !(*store)->Attach("CID-1", "BP-1", 7)) abort();
  return std::move(*store);
}

// A replica of `length` bytes of 'x', finalized or left to a writer.
inline void Write(BlockStore& store, std::uint64_t id, std::size_t length, bool finish) {
  auto writer = store.Create({.block_id = id, .generation_stamp = 1001, .checksum = {}});
  if (!writer) abort();
  const std::vector<std::byte> data(length, std::byte{'x'});
  std::vector<std::byte> sums((*writer)->checksum().BytesFor(length));
  (*writer)->checksum().ComputeAll(data, sums.data());
  if (!(*writer)->Write(0, data, sums)) abort();
  (*writer)->Acknowledge(length);
  if (finish && !(*writer)->Finish(false)) abort();
}

}  // namespace ebb::fuzz
