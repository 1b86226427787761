// Helpers for tests that use a block store.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "disk/block_store.h"

namespace ebb::testing {

// Block lengths around the boundaries of 512-byte chunks and 64 KiB packets.
inline constexpr std::size_t kBoundarySizes[] = {0,   1,    2,     3,     127,   511,   512,
                                                 513, 1024, 65535, 65536, 65537, 70300, 1000000};

inline std::vector<std::byte> RandomBytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> data(size);
  for (auto& b : data) b = static_cast<std::byte>(random());
  return data;
}

// A new directory. The destructor removes it with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "ebb-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  // The files below the directory whose path contains `text`.
  [[nodiscard]] std::vector<std::string> Find(const std::string& text) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      if (entry.is_regular_file() && entry.path().string().find(text) != std::string::npos) {
        found.push_back(entry.path().string());
      }
    }
    return found;
  }

 private:
  std::string path_;
};

// The bytes that the files below the directory whose path contains `text` take on the disk.
inline std::uint64_t RoomOf(const TemporaryDirectory& directory, const std::string& text) {
  std::uint64_t bytes = 0;
  for (const auto& path : directory.Find(text)) {
    struct stat status = {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    bytes += 512 * static_cast<std::uint64_t>(status.st_blocks);
  }
  return bytes;
}

inline void FlipByte(const std::string& path, std::size_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  const char byte = static_cast<char>(file.get() ^ 0x40);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(byte);
}

class RecordingListener final : public StoreListener {
 public:
  void OnStored(const ReplicaInfo& replica) override {
    const bool moved = !replica.replaces.empty();
    Add("stored " + std::to_string(replica.block_id) + (moved ? " for " + replica.replaces : ""));
  }
  void OnDeleted(const ReplicaInfo& replica) override { Add("deleted", replica.block_id); }
  void OnCorrupt(const ReplicaInfo& replica, const std::string&) override {
    Add("corrupt", replica.block_id);
  }
  void OnDiskFailed(const DiskStatus& disk) override {
    Add("failed " + disk.storage_uuid);
  }
  [[nodiscard]] std::vector<std::string> events() {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  // Waits until there are so many events. False if they do not come in time.
  [[nodiscard]] bool AwaitEvents(std::size_t count, std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return events_.size() >= count; });
  }

 private:
  void Add(const char* what, std::uint64_t block_id) {
    Add(what + (" " + std::to_string(block_id)));
  }
  void Add(std::string event) {
    {
      const std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
    }
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> events_;
};

inline std::unique_ptr<BlockStore> OpenStore(FileSystem& files,
                                             std::vector<std::string> directories,
                                             std::vector<StorageType> types = {},
                                             DiskQueue::Options calls = {}) {
  BlockStore::Options options;
  options.directories = std::move(directories);
  options.types = std::move(types);
  options.calls = calls;
  auto store = BlockStore::Open(files, options);
  EXPECT_TRUE(store.has_value()) << store.error().message;
  if (!store) return nullptr;
  const auto attached = (*store)->Attach("CID-1", "BP-1", 7);
  EXPECT_TRUE(attached.has_value()) << attached.error().message;
  return std::move(store).value();
}

inline Status WriteBytes(ReplicaWriter& writer, std::uint64_t offset,
                         std::span<const std::byte> data) {
  std::vector<std::byte> sums(writer.checksum().BytesFor(data.size()));
  writer.checksum().ComputeAll(data, sums.data());
  return writer.Write(offset, data, sums);
}

// Writes and finalizes a block.
inline void StoreBlock(BlockStore& store, std::uint64_t id, std::span<const std::byte> data,
                       std::uint64_t stamp = 1001, const std::string& storage_uuid = {}) {
  auto writer = store.Create(
      {.block_id = id, .generation_stamp = stamp, .checksum = {}, .storage_uuid = storage_uuid});
  ASSERT_TRUE(writer.has_value()) << writer.error().message;
  ASSERT_TRUE(WriteBytes(**writer, 0, data).has_value());
  const auto finished = (*writer)->Finish(false);
  ASSERT_TRUE(finished.has_value()) << finished.error().message;
}

// The data of the block, verified against its checksums.
inline Result<std::vector<std::byte>> ReadBlock(BlockStore& store, std::uint64_t id) {
  EBB_ASSIGN(const auto reader, store.OpenReader(id, 0));
  std::vector<std::byte> data(reader->length());
  EBB_TRY(reader->ReadData(0, data));
  std::vector<std::byte> sums(reader->checksum().BytesFor(data.size()));
  EBB_TRY(reader->ReadChecksums(0, data.size(), sums));
  if (reader->checksum().FirstMismatch(data, sums))
    return Fail(ErrorCode::kCorrupt, "bad checksum");
  return data;
}

}  // namespace ebb::testing
