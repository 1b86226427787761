#include "capi/open_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ebb::capi {

namespace {

// Streams for so many positional reads at a time are kept.
constexpr std::size_t kMostIdleStreams = 8;

// The file exists, because it is open. So "not found" means that no server has a block.
std::unexpected<Error> Unreadable(Error error) {
  if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kIo;
  return std::unexpected(std::move(error));
}

}  // namespace

ReadFile::ReadFile(std::unique_ptr<client::InputStream> stream)
    : length_(stream->length()), stream_(std::move(stream)) {
  idle_.push_back(stream_->Another());
}

Result<std::size_t> ReadFile::Read(std::span<std::byte> out) {
  const std::lock_guard lock(reading_);
  const auto before = stream_->counts();
  auto read = std::exchange(jumped_, false) ? ReadAfterJump(out) : ReadOn(out);
  Count(before, stream_->counts());
  if (!read) return Unreadable(std::move(read).error());
  return *read;
}

// A reader that jumps may jump again: it gets these bytes, and no stream to the end of the block.
Result<std::size_t> ReadFile::ReadAfterJump(std::span<std::byte> out) {
  EBB_ASSIGN(const auto read, stream_->ReadAt(stream_->position(), out));
  EBB_TRY(stream_->Seek(stream_->position() + read));
  return read;
}

Result<std::size_t> ReadFile::ReadOn(std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto bytes = stream_->Next(out.size() - done);
    // The next call meets the error again.
    if (!bytes && done == 0) return std::unexpected(bytes.error());
    if (!bytes || bytes->empty()) break;
    std::memcpy(out.data() + done, bytes->data(), bytes->size());
    done += bytes->size();
  }
  return done;
}

Result<std::size_t> ReadFile::ReadAt(std::uint64_t offset, std::span<std::byte> out) {
  auto stream = TakeIdle();
  const auto before = stream->counts();
  const auto read = stream->ReadAt(offset, out);
  Count(before, stream->counts());
  PutBack(std::move(stream));
  if (!read) return Unreadable(read.error());
  return *read;
}

Status ReadFile::Seek(std::uint64_t offset) {
  const std::lock_guard lock(reading_);
  if (offset == stream_->position()) return {};
  EBB_TRY(stream_->Seek(offset));
  jumped_ = true;
  return {};
}

std::uint64_t ReadFile::position() {
  const std::lock_guard lock(reading_);
  return stream_->position();
}

void ReadFile::Unbuffer() {
  const std::lock_guard lock(reading_);
  stream_->Unbuffer();
}

client::ReadCounts ReadFile::counts() {
  const std::lock_guard lock(idle_mutex_);
  return counts_;
}

void ReadFile::ClearCounts() {
  const std::lock_guard lock(idle_mutex_);
  counts_ = {};
}

std::unique_ptr<client::InputStream> ReadFile::TakeIdle() {
  const std::lock_guard lock(idle_mutex_);
  if (idle_.size() == 1) return idle_.front()->Another();
  auto taken = std::move(idle_.back());
  idle_.pop_back();
  return taken;
}

void ReadFile::PutBack(std::unique_ptr<client::InputStream> stream) {
  const std::lock_guard lock(idle_mutex_);
  if (idle_.size() < kMostIdleStreams) idle_.push_back(std::move(stream));
}

void ReadFile::Count(const client::ReadCounts& before, const client::ReadCounts& after) {
  const std::lock_guard lock(idle_mutex_);
  counts_.bytes += after.bytes - before.bytes;
  counts_.local_bytes += after.local_bytes - before.local_bytes;
}

WriteFile::WriteFile(std::unique_ptr<client::OutputStream> stream)
    : stream_(std::move(stream)), position_(stream_->length()) {}

Status WriteFile::Write(std::span<const std::byte> data) {
  const std::lock_guard lock(mutex_);
  EBB_TRY(stream_->Write(data));
  position_ += data.size();
  return {};
}

Status WriteFile::Flush() {
  const std::lock_guard lock(mutex_);
  return stream_->Flush();
}

Status WriteFile::Sync() {
  const std::lock_guard lock(mutex_);
  return stream_->Sync();
}

Status WriteFile::Close() {
  const std::lock_guard lock(mutex_);
  return stream_->Close();
}

std::uint64_t WriteFile::position() {
  const std::lock_guard lock(mutex_);
  return position_;
}

Answer<std::unique_ptr<hdfsFile_internal>> OpenPath(
    const std::shared_ptr<client::FileSystem>& files, const std::string& path,
    const OpenOptions& options) {
  auto file = std::make_unique<hdfsFile_internal>();
  file->files = files;
  const int access = options.flags & O_ACCMODE;
  if (access == O_RDONLY) {
    EBB_ASSIGN(auto stream, files->OpenFile(path));
    file->reader = std::make_unique<ReadFile>(std::move(stream));
    return file;
  }
  if (access != O_WRONLY) {
    return FailWith(access == O_RDWR ? ENOTSUP : EINVAL,
                    fmt::format("{} cannot be opened with the flags {:#x}; a file is opened "
                                "either for reading or for writing",
                                path, options.flags));
  }
  if ((options.flags & O_APPEND) != 0) {
    EBB_ASSIGN(auto stream, files->Append(path));
    file->writer = std::make_unique<WriteFile>(std::move(stream));
    return file;
  }
  const bool must_be_new = (options.flags & O_CREAT) != 0 && (options.flags & O_EXCL) != 0;
  EBB_ASSIGN(auto stream, files->Create(path, {.overwrite = !must_be_new,
                                               .make_parents = true,
                                               .replication = options.replication,
                                               .block_bytes = options.block_bytes}));
  file->writer = std::make_unique<WriteFile>(std::move(stream));
  return file;
}

}  // namespace ebb::capi
