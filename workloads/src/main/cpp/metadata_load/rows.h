// The rows of the benchmark, by name, and the namespace that they need.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "metadata_load/load_loop.h"
#include "metadata_load/territory.h"
#include "metadata_load/workers.h"

namespace ebb::metadata_load {

// One thread uses it.
class Rows {
 public:
  // Below `root`, a path of one name that nobody else uses. The loop lives longer.
  Rows(LoadLoop& loop, std::string root);

  // Creates the directories and files that the rows work on.
  [[nodiscard]] Status Prepare();
  // Measures a row. kInvalid for a name that is none.
  [[nodiscard]] Result<Measurement> Run(std::string_view row, std::chrono::nanoseconds window);
  // Deletes everything below the root.
  [[nodiscard]] Status Remove();

 private:
  using Workers = std::vector<std::unique_ptr<Worker>>;

  [[nodiscard]] Result<Workers> WorkersOf(std::string_view row);
  [[nodiscard]] Workers Creators();
  [[nodiscard]] Status RunToEnd(const Workers& workers);
  template <typename Make>
  [[nodiscard]] Workers ForEach(Make make);
  // A call per path.
  template <typename Encode>
  [[nodiscard]] Workers Endless(const std::vector<std::string>& (*paths)(const Territory&),
                                Encode encode, const AnswerCheck& check);

  LoadLoop& loop_;
  const std::string root_;
  std::vector<Territory> territories_;
  // A directory with 1,000 files that all connections list.
  std::string large_directory_;
  FilePool created_;
  // Counts the runs, so that each has new names and other random choices.
  std::size_t runs_ = 0;
};

}  // namespace ebb::metadata_load
