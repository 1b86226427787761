// A tree of many files: to start with, to keep in memory, to rename and to delete.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "common/error.h"
#include "metadata_load/load_loop.h"
#include "metadata_load/worker.h"

namespace ebb::metadata_load {

struct FilledTree {
  // Each directory below it has `per_directory` files; 0: all files lie in it.
  std::string directory;
  std::size_t files = 0;
  std::size_t per_directory = 0;

  [[nodiscard]] std::string PathOf(std::size_t file) const;
};

// Creates the files from number `from` on: empty, or of one small block that one server keeps.
[[nodiscard]] Status Fill(LoadLoop& loop, const FilledTree& tree, std::size_t from,
                          bool with_data);
// Stats random files of the tree.
[[nodiscard]] Result<Measurement> StatTree(LoadLoop& loop, const FilledTree& tree,
                                           std::chrono::nanoseconds window);

}  // namespace ebb::metadata_load
