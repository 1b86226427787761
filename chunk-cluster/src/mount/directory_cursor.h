// Reads a directory of any size in the order of names, with one batch of it in memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "client/file_system.h"
#include "common/error.h"

namespace ebb::mount {

// One thread at a time. Positions count the entries from 0. Going forward, a name that is there all
// the time is met once, whatever is made and removed meanwhile: the next batch begins behind the
// last name. Going back reads the directory again from its beginning, and positions may then stand
// for other names.
class DirectoryCursor {
 public:
  using Fetch = std::function<Result<client::Listing>(const std::string& after)>;

  explicit DirectoryCursor(Fetch fetch) : fetch_(std::move(fetch)) {}

  // The entry at a position, valid until the next call; null behind the last one.
  [[nodiscard]] Result<const client::FileStatus*> At(std::uint64_t position);
  // When the namenode was asked for the entries that At() returns now, or a little before that.
  [[nodiscard]] std::chrono::steady_clock::time_point fetched() const { return fetched_; }
  // The next At() sees the directory as it is then.
  void Rewind();

 private:
  [[nodiscard]] Status FetchNext();

  const Fetch fetch_;
  client::Listing batch_{.entries = {}, .more = true};
  // The position of the first entry of the batch.
  std::uint64_t first_ = 0;
  std::string last_name_;
  std::chrono::steady_clock::time_point fetched_ = {};
};

}  // namespace ebb::mount
