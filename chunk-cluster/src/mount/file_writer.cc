#include "mount/file_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "mount/write_place.h"

namespace ebb::mount {

namespace {

// The client sends at most 32 packets without acknowledgement, and fills another one.
constexpr std::uint64_t kPackets = 33;
constexpr std::int64_t kPacketBytes = 256 << 10;
constexpr auto kLookInterval = std::chrono::milliseconds(100);

std::uint64_t WindowBytes(const client::FileSystem& files) {
  const auto packet =
      files.configuration().Number("dfs.client-write-packet-size", kPacketBytes, 1);
  return kPackets * static_cast<std::uint64_t>(packet.value_or(kPacketBytes));
}

}  // namespace

Status CutFile(client::FileSystem& files, const std::string& path, std::uint64_t present,
               std::uint64_t length, const std::function<bool()>& give_up) {
  if (length == present) return {};
  if (length > present) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} has {} bytes and cannot be made longer than that without a write "
                            "(asked for: {})",
                            path, present, length));
  }
  EBB_ASSIGN(const bool done, files.Truncate(path, length));
  while (!done) {
    EBB_ASSIGN(const auto status, files.Stat(path));
    if (!status) return Fail(ErrorCode::kNotFound, fmt::format("{} was removed", path));
    if (status->length == length) break;
    if (give_up()) {
      return Fail(ErrorCode::kTimeout, fmt::format("the last block of {} is not cut yet", path));
    }
    std::this_thread::sleep_for(kLookInterval);
  }
  return {};
}

FileWriter::FileWriter(client::FileSystem& files, DirtyBytes& dirty, PathNow path,
                       std::uint64_t file_id, std::uint64_t length)
    : files_(files),
      dirty_(dirty),
      path_(std::move(path)),
      file_id_(file_id),
      window_bytes_(WindowBytes(files)),
      length_(length) {}

FileWriter::~FileWriter() { CountDirty(0); }

Result<std::string> FileWriter::Path() const {
  if (auto path = path_()) return *path;
  return Fail(ErrorCode::kNotFound, "the file was removed while it was open");
}

void FileWriter::CountDirty(std::uint64_t bytes) {
  (void)dirty_.Change(std::exchange(dirty_bytes_, bytes), bytes);
}

Status FileWriter::Guarded(Status status) {
  if (status) return status;
  if (!failure_) failure_ = status.error();
  CountDirty(0);
  return std::unexpected(*failure_);
}

void FileWriter::Adopt(std::unique_ptr<client::OutputStream> stream) {
  const std::lock_guard lock(mutex_);
  stream_ = std::move(stream);
  written_ = false;
  length_ = stream_->length();
  open_ = true;
}

Result<client::FileStatus> FileWriter::Present(const std::string& path) const {
  EBB_ASSIGN(auto status, files_.Stat(path));
  if (status && status->file_id == file_id_) return std::move(*status);
  return Fail(ErrorCode::kNotFound,
              fmt::format("the file was removed or replaced while it was open: {}", path));
}

Status FileWriter::Reopen() {
  if (stream_) return {};
  EBB_ASSIGN(const auto path, Path());
  EBB_TRY(Present(path));
  EBB_ASSIGN(auto stream, files_.Append(path));
  if (stream->opened().file_id != file_id_) {
    (void)stream->Close();
    return Fail(ErrorCode::kNotFound, fmt::format("another file was just put at {}", path));
  }
  stream_ = std::move(stream);
  written_ = false;
  length_ = stream_->length();
  open_ = true;
  return {};
}

Status FileWriter::Open() {
  const std::lock_guard lock(mutex_);
  if (failure_) return std::unexpected(*failure_);
  return Reopen();
}

Status FileWriter::Write(std::uint64_t offset, bool appends, std::span<const std::byte> data) {
  const std::lock_guard lock(mutex_);
  if (failure_) return std::unexpected(*failure_);
  return WriteNow(offset, appends, data);
}

Status FileWriter::WriteNow(std::uint64_t offset, bool appends, std::span<const std::byte> data) {
  if (!stream_) {
    EBB_TRY(CheckPlace(offset, appends));
    EBB_TRY(Reopen());
  }
  EBB_TRY(CheckWritePlace(path_().value_or("a removed file"), offset, length_, appends));
  EBB_TRY(Guarded(stream_->Write(data)));
  written_ = true;
  // The stream itself does not count the packet that it fills.
  length_ += data.size();
  const auto dirty = std::min(dirty_bytes_ + data.size(), window_bytes_);
  if (dirty_.Change(std::exchange(dirty_bytes_, dirty), dirty)) return {};
  EBB_TRY(Guarded(stream_->Drain()));
  CountDirty(0);
  return {};
}

Status FileWriter::CheckPlace(std::uint64_t offset, bool appends) {
  EBB_ASSIGN(const auto path, Path());
  if (!CheckWritePlace(path, offset, length_, appends)) {
    // Another client may have written meanwhile.
    EBB_ASSIGN(const auto status, Present(path));
    length_ = status.length;
  }
  return CheckWritePlace(path, offset, length_, appends);
}

Status FileWriter::Flush() {
  const std::lock_guard lock(mutex_);
  if (failure_) return std::unexpected(*failure_);
  if (!stream_) return {};
  EBB_TRY(Guarded(stream_->Flush()));
  CountDirty(0);
  return {};
}

Status FileWriter::Sync() {
  const std::lock_guard lock(mutex_);
  if (failure_) return std::unexpected(*failure_);
  if (!stream_) return {};
  EBB_TRY(Guarded(stream_->Sync()));
  CountDirty(0);
  return {};
}

Status FileWriter::Complete(bool empty_too) {
  const std::lock_guard lock(mutex_);
  if (!stream_ && failure_) return std::unexpected(*failure_);
  if (!stream_ || (!written_ && !empty_too && !failure_)) return {};
  return End();
}

Status FileWriter::EndSafely() noexcept {
  try {
    return Complete(true);
  } catch (const std::exception& error) {  // no memory, or no thread for a connection
    return Fail(ErrorCode::kIo, error.what());
  }
}

Status FileWriter::End() {
  const auto status = Guarded(failure_ ? Status(std::unexpected(*failure_)) : stream_->Close());
  stream_ = nullptr;
  written_ = false;
  CountDirty(0);
  open_ = false;
  const auto path = path_();
  if (status) return status;
  if (!path) {
    // Nobody misses the bytes of a file that has no name any more.
    failure_.reset();
    return {};
  }
  // The lease is renewed for all files of this client, so that it would never expire.
  if (Present(*path)) (void)files_.RecoverLease(*path);
  return status;
}

Status FileWriter::SetLength(std::uint64_t length, const std::function<bool()>& give_up) {
  const std::lock_guard lock(mutex_);
  if (failure_) return std::unexpected(*failure_);
  if (stream_ && length == length_) return {};
  if (stream_ && length < length_) EBB_TRY(End());
  EBB_ASSIGN(const auto path, Path());
  if (!stream_) {
    EBB_ASSIGN(const auto status, Present(path));
    length_ = status.length;
  }
  EBB_TRY(CutFile(files_, path, length_, length, give_up));
  length_ = length;
  return {};
}

std::optional<std::uint64_t> FileWriter::open_length() const {
  if (!open_) return std::nullopt;
  return length_;
}

}  // namespace ebb::mount
