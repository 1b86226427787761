// A file system for tests: the real one, with injected failures.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "disk/file_system.h"

namespace ebb {

// Thread-safe. A fault concerns paths that contain `where`. It stays until Set(kNone).
class FaultyFileSystem final : public FileSystem {
 public:
  enum class Fault {
    kNone,
    kFailWrites,
    // Writes fail. The file system takes no room in advance.
    kFillDisk,
    // Room in advance is refused.
    kNoRoom,
    kFailReads,
    kShortReads,
    kFailSync,
    kFailAll,
    // Every call waits until the next Set.
    kHang,
  };

  void Set(Fault fault, std::string where = {}) {
    {
      const std::lock_guard lock(mutex_);
      fault_ = fault;
      where_ = std::move(where);
      room_bytes_ = 0;
    }
    changed_.notify_all();
  }
  // Waits until so many calls hang. False if they do not within the time.
  [[nodiscard]] bool AwaitHanging(std::size_t calls, std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return hanging_ >= calls; });
  }
  // After so many more changes and syncs of files, all others fail, as if the process had died.
  void DieAfter(std::int64_t changes) { changes_left_ = changes; }
  void Revive() { changes_left_ = kImmortal; }
  // After Set(kFillDisk): the number of bytes that can be written before the disk is full.
  void SetRoomBytes(std::int64_t bytes) { room_bytes_ = bytes; }
  // The free bytes that GetSpace reports. Negative for the real number.
  void SetFreeBytes(std::int64_t bytes) { free_bytes_ = bytes; }
  // Only of paths that contain `where`.
  void SetFreeBytesOf(std::string where, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    free_bytes_of_.emplace_back(std::move(where), bytes);
  }
  // Paths that contain `where` are on a file system of their own, with this id.
  void SetFileSystemId(std::string where, std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    file_system_ids_.emplace_back(std::move(where), id);
  }
  // Calls `then` once, after the next file whose path contains `where` was opened for writing.
  void AfterOpening(std::string where, std::function<void()> then) {
    const std::lock_guard lock(mutex_);
    after_opening_ = {std::move(where), std::move(then)};
  }
  // The same, after bytes were read from such a file, and before the reader has them.
  void AfterReading(std::string where, std::function<void()> then) {
    const std::lock_guard lock(mutex_);
    after_reading_ = {std::move(where), std::move(then)};
  }
  [[nodiscard]] std::uint64_t syncs() const { return syncs_; }

  Result<std::unique_ptr<File>> OpenForReading(const std::string& path) override {
    return Wrap(path, Fault::kFailAll, [&] { return real_.OpenForReading(path); });
  }
  Result<std::unique_ptr<File>> OpenForWriting(const std::string& path) override {
    auto file = Wrap(path, Fault::kFailWrites, [&] { return real_.OpenForWriting(path); });
    if (const auto then = Take(after_opening_, path)) then();
    return file;
  }
  Result<std::unique_ptr<File>> Create(const std::string& path) override {
    return Wrap(path, Fault::kFailWrites, [&] { return real_.Create(path); });
  }
  Status Rename(const std::string& from, const std::string& to) override {
    EBB_TRY(Check(from, Fault::kFailWrites));
    return real_.Rename(from, to);
  }
  Status Remove(const std::string& path) override {
    EBB_TRY(Check(path, Fault::kFailWrites));
    return real_.Remove(path);
  }
  Status SyncDirectory(const std::string& path) override {
    EBB_TRY(Check(path, Fault::kFailSync));
    ++syncs_;
    return real_.SyncDirectory(path);
  }
  Status MakeDirectories(const std::string& path) override {
    EBB_TRY(Check(path, Fault::kFailWrites));
    return real_.MakeDirectories(path);
  }
  Result<std::vector<DirectoryEntry>> List(const std::string& path) override {
    EBB_TRY(Check(path, Fault::kFailReads));
    return real_.List(path);
  }
  Result<std::uint64_t> FileSize(const std::string& path) override {
    EBB_TRY(Check(path, Fault::kFailReads));
    return real_.FileSize(path);
  }
  Result<std::uint64_t> FileSystemId(const std::string& path) override {
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [where, id] : file_system_ids_) {
        if (path.find(where) != std::string::npos) return id;
      }
    }
    return real_.FileSystemId(path);
  }
  Result<Space> GetSpace(const std::string& path) override {
    EBB_TRY(Check(path, Fault::kFailAll));
    EBB_ASSIGN(auto space, real_.GetSpace(path));
    if (free_bytes_ >= 0) space.free_bytes = static_cast<std::uint64_t>(free_bytes_);
    const std::lock_guard lock(mutex_);
    for (const auto& [where, bytes] : free_bytes_of_) {
      if (path.find(where) != std::string::npos) space.free_bytes = bytes;
    }
    return space;
  }

 private:
  class FaultyFile final : public File {
   public:
    FaultyFile(FaultyFileSystem& owner, std::string path, std::unique_ptr<File> real)
        : owner_(owner), path_(std::move(path)), real_(std::move(real)) {}

    Result<std::size_t> Read(std::uint64_t offset, std::span<std::byte> out) override {
      EBB_TRY(owner_.Check(path_, Fault::kFailReads));
      if (owner_.Has(path_, Fault::kShortReads)) out = out.first(out.size() / 2);
      auto got = real_->Read(offset, out);
      if (const auto then = owner_.Take(owner_.after_reading_, path_)) then();
      return got;
    }
    Status Write(std::uint64_t offset, std::span<const std::byte> data) override {
      if (owner_.Has(path_, Fault::kFillDisk) &&
          (owner_.room_bytes_ -= static_cast<std::int64_t>(data.size())) < 0) {
        // A real disk writes the part that fits.
        (void)real_->Write(offset, data.first(data.size() / 2));
        return Fail(ErrorCode::kNoSpace, "writing " + path_ + " failed: No space left on device");
      }
      EBB_TRY(owner_.Check(path_, Fault::kFailWrites));
      return real_->Write(offset, data);
    }
    Status Reserve(std::uint64_t bytes) override {
      if (owner_.Has(path_, Fault::kFillDisk)) return {};
      if (owner_.Has(path_, Fault::kNoRoom)) {
        return Fail(ErrorCode::kNoSpace, "taking room for " + path_ + " failed: No space left");
      }
      return real_->Reserve(bytes);
    }
    Status Truncate(std::uint64_t length) override {
      EBB_TRY(owner_.Check(path_, Fault::kFailWrites));
      return real_->Truncate(length);
    }
    Status Sync() override {
      EBB_TRY(owner_.Check(path_, Fault::kFailSync));
      ++owner_.syncs_;
      return real_->Sync();
    }
    Result<std::uint64_t> Size() override { return real_->Size(); }

   private:
    FaultyFileSystem& owner_;
    const std::string path_;
    const std::unique_ptr<File> real_;
  };

  // What is called once, for a path that contains `where`.
  struct Hook {
    std::string where;
    std::function<void()> then;
  };
  std::function<void()> Take(Hook& hook, const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (path.find(hook.where) == std::string::npos) return nullptr;
    return std::exchange(hook.then, nullptr);
  }
  bool Has(const std::string& path, Fault fault) {
    std::unique_lock lock(mutex_);
    if (Hangs(path)) {
      ++hanging_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return !Hangs(path); });
      --hanging_;
    }
    return (fault_ == fault || (fault_ == Fault::kFailAll && fault != Fault::kFillDisk &&
                                fault != Fault::kNoRoom && fault != Fault::kShortReads)) &&
           path.find(where_) != std::string::npos;
  }
  bool Hangs(const std::string& path) const {
    return fault_ == Fault::kHang && path.find(where_) != std::string::npos;
  }
  Status Check(const std::string& path, Fault fault) {
    const bool changes = fault == Fault::kFailWrites || fault == Fault::kFailSync;
    if (!Has(path, fault) && !(changes && changes_left_-- <= 0)) return {};
    return Fail(ErrorCode::kIo, "using " + path + " failed: Input/output error");
  }
  template <typename Open>
  Result<std::unique_ptr<File>> Wrap(const std::string& path, Fault fault, Open open) {
    EBB_TRY(Check(path, fault));
    EBB_ASSIGN(auto file, open());
    return std::make_unique<FaultyFile>(*this, path, std::move(file));
  }

  FileSystem& real_ = RealFileSystem();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t hanging_ = 0;
  Fault fault_ = Fault::kNone;
  std::string where_;
  Hook after_opening_;
  Hook after_reading_;
  std::vector<std::pair<std::string, std::uint64_t>> file_system_ids_;
  std::vector<std::pair<std::string, std::uint64_t>> free_bytes_of_;
  std::atomic<std::int64_t> free_bytes_ = -1;
  std::atomic<std::int64_t> room_bytes_ = 0;
  std::atomic<std::uint64_t> syncs_ = 0;
  static constexpr std::int64_t kImmortal = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> changes_left_ = kImmortal;
};

}  // namespace ebb
