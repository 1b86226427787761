#include "client/status_cache.h"

#include <algorithm>

#include "client/path.h"

namespace ebb::client {

namespace {

// Names files a second time: by their ids, and without encryption.
constexpr char kReserved[] = "/.reserved";

std::string Normal(const std::string& path) { return PathOf(PartsOf(path)); }

}  // namespace

StatusCache::Question StatusCache::Ask(Clock::time_point now) {
  if (off()) return {};
  const std::lock_guard lock(mutex_);
  return {now, changes_};
}

void StatusCache::Keep(const Question& question, const std::string& path,
                       const FileStatus& status) {
  if (off() || path.starts_with(kReserved) || path != Normal(path)) return;
  const std::lock_guard lock(mutex_);
  if (changes_ != question.changes) return;
  const auto present = entries_.find(path);
  if (present != entries_.end() && present->second.asked > question.asked) return;
  if (present == entries_.end() && entries_.size() >= kMostPaths) entries_.clear();
  entries_.insert_or_assign(path, Entry{status, question.asked});
}

std::optional<FileStatus> StatusCache::Find(const std::string& path, Clock::time_point now) {
  if (off()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(path);
  if (found == entries_.end()) return std::nullopt;
  if (now - found->second.asked <= time_to_live_) return found->second.status;
  entries_.erase(found);
  return std::nullopt;
}

void StatusCache::Forget(const std::string& path) {
  if (off()) return;
  const std::lock_guard lock(mutex_);
  ++changes_;
  if (path.starts_with(kReserved)) {
    entries_.clear();
  } else {
    entries_.erase(Normal(path));
  }
}

void StatusCache::ForgetName(const std::string& path) {
  if (off()) return;
  Forget(path);
  const std::lock_guard lock(mutex_);
  std::string at = Normal(path);
  EraseBelow(at);
  while (at != "/") {
    at.resize(std::max<std::size_t>(at.rfind('/'), 1));
    entries_.erase(at);
  }
}

void StatusCache::EraseBelow(const std::string& directory) {
  const std::string below = Below(directory, "");
  const auto begin = entries_.lower_bound(below);
  const auto end = std::find_if(begin, entries_.end(), [&](const auto& entry) {
    return !entry.first.starts_with(below);
  });
  entries_.erase(begin, end);
}

std::size_t StatusCache::size() {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace ebb::client
