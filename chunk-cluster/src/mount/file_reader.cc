#include "mount/file_reader.h"

#include <algorithm>
#include <utility>

namespace ebb::mount {

namespace {

constexpr std::uint64_t kSkippedAtOnce = std::uint64_t{64} << 10;

}  // namespace

void FileReader::Replace(std::shared_ptr<client::InputStream> stream) {
  const std::lock_guard lock(mutex_);
  stream_ = std::move(stream);
}

Status FileReader::Open(const std::string& path) {
  Replace(nullptr);
  EBB_ASSIGN(auto opened, files_.OpenFile(path));
  Replace(std::move(opened));
  return {};
}

Result<std::size_t> FileReader::Read(std::uint64_t offset, std::span<std::byte> out) {
  if (offset >= length()) return 0;
  const auto step = pattern_.Next(offset, out.size());
  auto done = [&]() -> Result<std::size_t> {
    if (step.way == ReadPattern::Way::kPositional) return stream_->ReadAt(offset, out);
    if (step.skipped > 0 && stream_->position() + step.skipped == offset) {
      EBB_TRY(Skip(step.skipped));
    }
    EBB_TRY(stream_->Seek(offset));
    return stream_->Read(out);
  }();
  // A stream that has failed stays as it was before the failure: another one asks anew.
  if (!done) Replace(nullptr);
  return done;
}

Status FileReader::Skip(std::uint64_t bytes) {
  while (bytes > 0) {
    EBB_ASSIGN(const auto dropped, stream_->Next(std::min(bytes, kSkippedAtOnce)));
    if (dropped.empty()) break;
    bytes -= dropped.size();
  }
  return {};
}

void FileReader::Cancel() {
  std::shared_ptr<client::InputStream> stream;
  {
    const std::lock_guard lock(mutex_);
    stream = stream_;
  }
  if (stream) stream->Cancel();
}

}  // namespace ebb::mount
