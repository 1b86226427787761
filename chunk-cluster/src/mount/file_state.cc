#include "mount/file_state.h"

#include <algorithm>
#include <utility>

namespace ebb::mount {

void FileState::Tell(const Version& version) {
  const std::lock_guard lock(mutex_);
  const bool only_grew = version_ && version.modified_millis == version_->modified_millis &&
                         version.length >= version_->length;
  if (version_ && !only_grew) ++changes_;
  version_ = version;
  known_length_ = version.length;
  told_ = std::chrono::steady_clock::now();
}

void FileState::Cut() {
  const std::lock_guard lock(mutex_);
  ++changes_;
  version_.reset();
  known_length_ = 0;
}

std::uint64_t FileState::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

std::optional<Version> FileState::Known(std::chrono::duration<double> freshness) const {
  const std::lock_guard lock(mutex_);
  if (std::chrono::steady_clock::now() - told_ > freshness) return std::nullopt;
  return version_;
}

void FileState::Grow(std::uint64_t length) {
  const std::lock_guard lock(mutex_);
  known_length_ = std::max(known_length_, length);
}

std::uint64_t FileState::known_length() const {
  const std::lock_guard lock(mutex_);
  return known_length_;
}

bool FileState::HasPagesOf(const Version& version) {
  const std::lock_guard lock(mutex_);
  return std::exchange(pages_, version) == version;
}

FileWriterPointer FileState::UseWriter(const std::function<FileWriterPointer()>& make) {
  const std::lock_guard lock(mutex_);
  if (users_++ == 0) writer_ = make();
  return writer_;
}

void FileState::ReleaseWriter() {
  FileWriterPointer last;  // Its destruction is long: without the lock.
  const std::lock_guard lock(mutex_);
  if (--users_ == 0) last = std::exchange(writer_, nullptr);
}

FileWriterPointer FileState::writer() const {
  const std::lock_guard lock(mutex_);
  return writer_;
}

StrandPointer FileState::strand() {
  const std::lock_guard lock(mutex_);
  if (!strand_) strand_ = std::make_shared<Strand>();
  return strand_;
}

}  // namespace ebb::mount
