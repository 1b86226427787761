#include "disk/queued_file_system.h"

#include <utility>

namespace ebb {

namespace {

// Passes a result on, and counts an error of the disk itself.
template <typename AnyResult>
[[nodiscard]] AnyResult Counted(RecentErrors& errors, AnyResult result) {
  if (!result && result.error().code == ErrorCode::kIo) errors.Add();
  return result;
}

class QueuedCalls : public File {
 public:
  QueuedCalls(File& file, DiskQueue& queue, RecentErrors& errors, bool refuses)
      : file_(file), queue_(queue), errors_(errors), refuses_(refuses) {}

  Result<std::size_t> Read(std::uint64_t offset, std::span<std::byte> out) override {
    EBB_ASSIGN(const auto permit, Enter());
    return Counted(errors_, file_.Read(offset, out));
  }
  Status Write(std::uint64_t offset, std::span<const std::byte> data) override {
    EBB_ASSIGN(const auto permit, Enter());
    return Counted(errors_, file_.Write(offset, data));
  }
  Status Reserve(std::uint64_t bytes) override {
    EBB_ASSIGN(const auto permit, Enter());
    return Counted(errors_, file_.Reserve(bytes));
  }
  Status Truncate(std::uint64_t length) override {
    const auto permit = queue_.EnterAtOnce();
    return Counted(errors_, file_.Truncate(length));
  }
  Status Sync() override {
    EBB_ASSIGN(const auto permit, Enter());
    return Counted(errors_, file_.Sync());
  }
  Result<std::uint64_t> Size() override {
    EBB_ASSIGN(const auto permit, Enter());
    return Counted(errors_, file_.Size());
  }
  Status Call(const std::function<Status()>& call) override {
    EBB_ASSIGN(const auto permit, Enter());
    return Counted(errors_, file_.Call(call));
  }
  int descriptor() const override { return file_.descriptor(); }

 private:
  [[nodiscard]] Result<DiskQueue::Permit> Enter() {
    if (refuses_) return queue_.Enter();
    return queue_.EnterAtOnce();
  }

  File& file_;
  DiskQueue& queue_;
  RecentErrors& errors_;
  const bool refuses_;
};

class QueuedFile final : public QueuedCalls {
 public:
  QueuedFile(std::unique_ptr<File> file, DiskQueue& queue, RecentErrors& errors)
      : QueuedCalls(*file, queue, errors, true),
        file_(std::move(file)),
        unrefused_(*file_, queue, errors, false) {}

  File& Unrefused() override { return unrefused_; }

 private:
  const std::unique_ptr<File> file_;
  QueuedCalls unrefused_;
};

}  // namespace

Result<std::unique_ptr<File>> QueuedFileSystem::Queued(Result<std::unique_ptr<File>> file) {
  EBB_ASSIGN(auto opened, std::move(file));
  return std::make_unique<QueuedFile>(std::move(opened), queue_, errors_);
}

Result<std::unique_ptr<File>> QueuedFileSystem::OpenForReading(const std::string& path) {
  EBB_ASSIGN(const auto permit, queue_.Enter());
  return Queued(Counted(errors_, files_.OpenForReading(path)));
}

Result<std::unique_ptr<File>> QueuedFileSystem::OpenForWriting(const std::string& path) {
  EBB_ASSIGN(const auto permit, queue_.Enter());
  return Queued(Counted(errors_, files_.OpenForWriting(path)));
}

Result<std::unique_ptr<File>> QueuedFileSystem::Create(const std::string& path) {
  EBB_ASSIGN(const auto permit, queue_.Enter());
  return Queued(Counted(errors_, files_.Create(path)));
}

Status QueuedFileSystem::Rename(const std::string& from, const std::string& to) {
  const auto permit = queue_.EnterAtOnce();
  return Counted(errors_, files_.Rename(from, to));
}

Status QueuedFileSystem::Remove(const std::string& path) {
  const auto permit = queue_.EnterAtOnce();
  return Counted(errors_, files_.Remove(path));
}

Status QueuedFileSystem::SyncDirectory(const std::string& path) {
  const auto permit = queue_.EnterAtOnce();
  return Counted(errors_, files_.SyncDirectory(path));
}

Status QueuedFileSystem::MakeDirectories(const std::string& path) {
  const auto permit = queue_.EnterAtOnce();
  return Counted(errors_, files_.MakeDirectories(path));
}

Result<std::vector<DirectoryEntry>> QueuedFileSystem::List(const std::string& path) {
  EBB_ASSIGN(const auto permit, queue_.Enter());
  return Counted(errors_, files_.List(path));
}

Result<std::uint64_t> QueuedFileSystem::FileSize(const std::string& path) {
  EBB_ASSIGN(const auto permit, queue_.Enter());
  return Counted(errors_, files_.FileSize(path));
}

Result<Space> QueuedFileSystem::GetSpace(const std::string& path) {
  EBB_ASSIGN(const auto permit, queue_.Enter());
  return Counted(errors_, files_.GetSpace(path));
}

Result<std::uint64_t> QueuedFileSystem::FileSystemId(const std::string& path) {
  return files_.FileSystemId(path);
}

}  // namespace ebb
