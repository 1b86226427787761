#include "metadata_load/territory.h"

#include <fmt/format.h>

namespace ebb::metadata_load {

std::string Name(std::string_view word, std::size_t number) {
  return fmt::format("{}{:0{}}", word, number, kNameLength - word.size());
}

Territory::Territory(const std::string& root, std::size_t connection, std::size_t full_levels)
    : home_(fmt::format("{}/{}", root, Name("client-", connection))),
      client_(fmt::format("metadata-load-{}{}", connection, root)) {
  Grow(home_, 0, full_levels);
  for (const std::string& directory : directories_) {
    for (std::size_t i = 0; i < kFilesPerDirectory; ++i) {
      files.push_back(fmt::format("{}/{}", directory, Name("file-", i)));
    }
  }
}

void Territory::Grow(const std::string& directory, std::size_t level, std::size_t full_levels) {
  if (level == kFullLevels) {
    directories_.push_back(directory);
    return;
  }
  const std::size_t width = level + full_levels >= kFullLevels ? 2 : 1;
  for (std::size_t i = 0; i < width; ++i) {
    Grow(fmt::format("{}/{}", directory, Name("directory-", i)), level + 1, full_levels);
  }
}

std::string Territory::WorkDirectory(std::string_view word, std::size_t number) const {
  return fmt::format("{}/{}/{}/{}/{}", home_, Name(word, number), Name("a", 0), Name("b", 0),
                     Name("c", 0));
}

}  // namespace ebb::metadata_load
