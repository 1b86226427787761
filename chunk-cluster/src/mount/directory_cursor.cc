#include "mount/directory_cursor.h"

#include <utility>

namespace ebb::mount {

Result<const client::FileStatus*> DirectoryCursor::At(std::uint64_t position) {
  if (position < first_) Rewind();
  while (position >= first_ + batch_.entries.size()) {
    if (!batch_.more) return nullptr;
    EBB_TRY(FetchNext());
  }
  return &batch_.entries[position - first_];
}

void DirectoryCursor::Rewind() {
  batch_ = {.entries = {}, .more = true};
  first_ = 0;
  last_name_.clear();
}

Status DirectoryCursor::FetchNext() {
  const auto asked = std::chrono::steady_clock::now();
  EBB_ASSIGN(auto next, fetch_(last_name_));
  fetched_ = asked;
  first_ += batch_.entries.size();
  batch_ = std::move(next);
  if (!batch_.entries.empty()) last_name_ = batch_.entries.back().name;
  return {};
}

}  // namespace ebb::mount
