// The mix of operations that Spotify's cluster saw, as the benchmark of HopsFS (FAST'17) runs it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "metadata_load/territory.h"
#include "metadata_load/worker.h"

namespace ebb::metadata_load {

enum class MixOperation : std::uint8_t {
  kRead,
  kStatFile,
  kStatDirectory,
  kListDirectory,
  kListFile,
  kCreate,
  kRename,
  kDelete,
  kSetReplication,
  kSetOwnerOfDirectory,
  kSetPermissionOfFile,
  kSetPermissionOfDirectory,
  kMkdir,
};
inline constexpr std::size_t kMixOperations = 13;

// The share of creates in the mix of Spotify, in percent.
inline constexpr double kSpotifyCreates = 2.7;

// The percentage of each operation, by MixOperation. With more creates than Spotify's, the shares
// of all other operations shrink alike.
[[nodiscard]] std::array<double, kMixOperations> MixPercentages(double create_percent);

class MixSampler {
 public:
  explicit MixSampler(double create_percent);
  [[nodiscard]] MixOperation Draw(std::mt19937_64& random);

 private:
  std::discrete_distribution<int> distribution_;
};

// Indices from 0 on: of n, index i is drawn with a probability proportional to 1 / (i + 1)^0.99.
class ZipfSampler {
 public:
  // For up to `most` indices.
  explicit ZipfSampler(std::size_t most);
  // `count` of 1 or more; above `most`, the indices from `most` on are never drawn.
  [[nodiscard]] std::size_t Draw(std::size_t count, std::mt19937_64& random) const;

 private:
  std::vector<double> cumulated_;
};

struct MixKind {
  double create_percent = kSpotifyCreates;
  // Popularity of the client's live files: the first ones by Zipf's law, or all alike.
  bool zipf = false;
};

// Runs the mix on the files and directories of one client.
class MixWorker final : public Worker {
 public:
  // `files` are the client's live files, which the mix adds to, renames and deletes. New files get
  // names in `file_directories` that begin with `word`. The territory and the files live longer.
  MixWorker(const Territory& territory, std::vector<std::string>& files,
            std::vector<std::string> file_directories, std::string word, MixKind kind,
            std::uint64_t seed);
  const Call* Begin() override;
  Result<Step> Proceed(std::string_view answer) override;

 private:
  [[nodiscard]] Call Encode();
  [[nodiscard]] std::string NewName();
  [[nodiscard]] const std::string& AnyDirectory();
  [[nodiscard]] bool Toggle();
  [[nodiscard]] Status Check(std::string_view answer) const;

  const Territory& territory_;
  std::vector<std::string>& files_;
  const std::vector<std::string> file_directories_;
  const std::string word_;
  const bool zipf_;
  std::mt19937_64 random_;
  MixSampler sampler_;
  const ZipfSampler popularity_;

  MixOperation operation_ = MixOperation::kRead;
  // The file of the operation in files_, and the name that a create or rename gives.
  std::size_t chosen_ = 0;
  std::string path_;
  bool completing_ = false;
  std::size_t names_ = 0;
  std::size_t toggles_ = 0;
  Call call_;
};

}  // namespace ebb::metadata_load
