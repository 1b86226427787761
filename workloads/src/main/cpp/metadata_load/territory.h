// The part of the namespace that belongs to one connection: a tree with 2 directories per
// directory, 16 files in each directory of its last level, and names of 34 characters. Its files
// have paths of 7 names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::metadata_load {

inline constexpr std::size_t kNameLength = 34;
inline constexpr std::size_t kFilesPerDirectory = 16;
// The levels of directories with 2 directories each, below the directory of the connection.
inline constexpr std::size_t kFullLevels = 4;

// A name of 34 characters: the word, zeros and the number.
[[nodiscard]] std::string Name(std::string_view word, std::size_t number);

class Territory {
 public:
  // Below `root`, a path of one name. A tree with `full_levels` levels of 2 directories each has
  // 2^full_levels last directories; the levels above these have one directory each.
  Territory(const std::string& root, std::size_t connection, std::size_t full_levels);

  // The names of the files change when they are renamed.
  std::vector<std::string> files;
  // The directories that hold files.
  [[nodiscard]] const std::vector<std::string>& directories() const { return directories_; }
  // The name of this client in leases.
  [[nodiscard]] const std::string& client() const { return client_; }
  // A directory for new names, as deep as those with files. Nobody has created it.
  [[nodiscard]] std::string WorkDirectory(std::string_view word, std::size_t number) const;

 private:
  void Grow(const std::string& directory, std::size_t level, std::size_t full_levels);

  const std::string home_;
  const std::string client_;
  std::vector<std::string> directories_;
};

}  // namespace ebb::metadata_load
