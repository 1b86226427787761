// Reads and writes of open files.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "mount/error_number.h"
#include "mount/mounted_files.h"

namespace ebb::mount {

namespace {

// A copy of the bytes of a write, while it waits for a thread.
class WaitingBytes {
 public:
  WaitingBytes(std::atomic<std::uint64_t>& total, std::span<const std::byte> data)
      : total_(total), data_(data.begin(), data.end()) {}
  ~WaitingBytes() { total_ -= data_.size(); }
  WaitingBytes(const WaitingBytes&) = delete;
  WaitingBytes& operator=(const WaitingBytes&) = delete;

  [[nodiscard]] std::span<const std::byte> data() const { return data_; }

 private:
  std::atomic<std::uint64_t>& total_;
  const std::vector<std::byte> data_;
};

}  // namespace

Status MountedFiles::PrepareReader(OpenFile& file, std::uint64_t end) {
  auto& reader = *file.reader;
  auto& state = file.node->state();
  // Before the reader is opened: a change meanwhile opens it once more.
  const auto changes = state.changes();
  const bool right = reader.is_open() && file.reader_changes == changes;
  if (right && end <= reader.length()) return {};
  std::uint64_t present = state.known_length();
  const auto writer = state.writer();
  const auto written = writer ? writer->open_length() : std::nullopt;
  if (written && (!right || *written > reader.length())) {
    EBB_TRY(writer->Flush());
    present = std::max(present, *written);
  }
  if (right && present <= reader.length()) return {};
  const auto path = nodes_.PathOf(*file.node);
  if (!path) return Fail(ErrorCode::kNotFound, "the file was removed while it was open");
  EBB_TRY(reader.Open(*path));
  file.reader_changes = changes;
  return {};
}

void MountedFiles::Read(fuse_req_t request, std::uint64_t handle, std::size_t size, off_t offset) {
  const auto file = open_files_.Find(handle);
  if (!file || !file->reader) {
    fuse_reply_err(request, EBADF);
    return;
  }
  Do(Begin(request, "a read"), file->strand, [this, file, size, offset](const CallPointer& call) {
    call->OnExpiry([file] { file->reader->Cancel(); });
    return ReadData(call, *file, size, static_cast<std::uint64_t>(offset));
  });
}

int MountedFiles::ReadData(const CallPointer& call, OpenFile& file, std::size_t size,
                           std::uint64_t offset) {
  thread_local std::vector<std::byte> buffer;
  if (buffer.size() < size) buffer.resize(size);
  for (int attempt = 0;; ++attempt) {
    auto done = [&]() -> Result<std::size_t> {
      EBB_TRY(PrepareReader(file, offset + size));
      return file.reader->Read(offset, std::span(buffer).first(size));
    }();
    if (done) {
      call->Data(std::span(buffer).first(*done));
      return 0;
    }
    // The deadline of the read before this one came after its last byte.
    const bool other = done.error().code == ErrorCode::kShutdown && !call->answered();
    if (other && attempt == 0) continue;
    return Tell(ErrorNumberOfRead(done.error()), "a read", done.error());
  }
}

void MountedFiles::Write(fuse_req_t request, std::uint64_t handle, std::span<const std::byte> data,
                         off_t offset, bool appends) {
  const auto file = open_files_.Find(handle);
  if (!file || !file->writer) {
    fuse_reply_err(request, EBADF);
    return;
  }
  if ((waiting_bytes_ += data.size()) > options_.dirty_bytes) {
    waiting_bytes_ -= data.size();
    log_.Write("the writes that wait for a thread have more bytes than -o dirty allows");
    fuse_reply_err(request, ENOMEM);
    return;
  }
  const auto waiting = std::make_shared<WaitingBytes>(waiting_bytes_, data);
  Do(Begin(request, "a write"), file->strand,
     [this, file, waiting, offset, appends](const CallPointer& call) {
       return WriteData(call, *file, waiting->data(), static_cast<std::uint64_t>(offset), appends);
     });
}

int MountedFiles::WriteData(const CallPointer& call, OpenFile& file,
                            std::span<const std::byte> data, std::uint64_t offset,
                            bool appends) {
  // It would open a file again that Stop() has ended.
  if (stopping_) return ESHUTDOWN;
  const auto written = file.writer->Write(offset, appends, data);
  if (written) {
    file.node->state().Grow(file.writer->open_length().value_or(offset + data.size()));
    call->Written(data.size());
    return 0;
  }
  const int number = ErrorNumberOf(written.error());
  if (number == EOPNOTSUPP && std::exchange(file.refusal_told, true)) return number;
  return Tell(number, "a write", written.error());
}

void MountedFiles::Flush(fuse_req_t request, std::uint64_t handle) {
  const auto file = open_files_.Find(handle);
  if (!file || !file->writer) {
    fuse_reply_err(request, 0);
    return;
  }
  Do(Begin(request, "the end of a file"), file->strand, [this, file](const CallPointer& call) {
    const auto ended = file->writer->Complete(false);
    if (!ended) return Tell(ErrorNumberOf(ended.error()), "the end of a file", ended.error());
    call->Error(0);
    return 0;
  });
}

void MountedFiles::Sync(fuse_req_t request, std::uint64_t handle) {
  const auto file = open_files_.Find(handle);
  if (!file || !file->writer) {
    fuse_reply_err(request, 0);
    return;
  }
  Do(Begin(request, "fsync"), file->strand, [this, file](const CallPointer& call) {
    const auto synced = file->writer->Sync();
    if (!synced) return Tell(ErrorNumberOf(synced.error()), "fsync", synced.error());
    call->Error(0);
    return 0;
  });
}

}  // namespace ebb::mount
