// The rows of the benchmark, by name, and the namespace that they need.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "metadata_load/load_loop.h"
#include "metadata_load/mix.h"
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
  // The same at a rate of operations per second instead of a closed loop.
  [[nodiscard]] Result<Measurement> RunAtRate(std::string_view row, double rate,
                                              std::chrono::nanoseconds window);
  // Stats at a rate on one half of the connections, while the other half deletes files at another.
  // The first measurement is that of the stats. Needs two connections or more.
  [[nodiscard]] Result<std::vector<Measurement>> StatBesideDeletes(double stat_rate,
                                                                   double delete_rate,
                                                                   std::chrono::nanoseconds window);
  struct Timed {
    std::chrono::duration<double> answered_after;
    Measurement others;
  };
  // Makes one call, while all other connections run the mix at a rate, from the call until `tail`
  // after its answer. Needs two connections or more.
  [[nodiscard]] Result<Timed> RunBesideMix(Call call, AnswerCheck check, double rate,
                                           std::chrono::milliseconds tail);
  // Deletes everything below the root.
  [[nodiscard]] Status Remove();

 private:
  using Workers = std::vector<std::unique_ptr<Worker>>;

  [[nodiscard]] Result<Workers> WorkersOf(std::string_view row);
  [[nodiscard]] Result<Workers> MixWorkers(std::string_view row);
  [[nodiscard]] Workers Creators();
  [[nodiscard]] Workers ListLarge();
  [[nodiscard]] Workers Alternating(Call (*encode)(const std::string&, std::uint32_t),
                                    std::uint32_t one, std::uint32_t other,
                                    const AnswerCheck& check);
  // Creates the files of a mix, which other rows must not change.
  [[nodiscard]] Status PrepareMix(bool shared);
  [[nodiscard]] Status FillPool(std::size_t files);
  [[nodiscard]] Status RunToEnd(Workers workers);
  template <typename Make>
  [[nodiscard]] Workers ForEach(Make make);
  // A call per path.
  template <typename Encode>
  [[nodiscard]] Workers Endless(const std::vector<std::string>& (*paths)(const Territory&),
                                Encode encode, const AnswerCheck& check);

  LoadLoop& loop_;
  const std::string root_;
  std::vector<Territory> territories_;
  // The directories of the mix. The live files of each client: in its own, and in a shared one.
  std::vector<Territory> mix_territories_;
  std::vector<std::vector<std::string>> own_files_;
  std::vector<std::vector<std::string>> shared_files_;
  const std::string shared_directory_;
  // A directory with 1,000 files that all connections list.
  const std::string large_directory_;
  FilePool created_;
  // Files with data, which the row of deletes leaves alone.
  FilePool written_;
  // Counts the runs, so that each has new names and other random choices.
  std::size_t runs_ = 0;
};

}  // namespace ebb::metadata_load
