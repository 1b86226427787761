#include "metadata_load/mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "metadata_load/workers.h"

namespace ebb::metadata_load {

namespace {

constexpr double kZipfExponent = 0.99;
constexpr std::size_t kMostRanked = 4096;
// A client does not delete its last files, so that there is always one to read.
constexpr std::size_t kLeastFiles = 4;

}  // namespace

std::array<double, kMixOperations> MixPercentages(double create_percent) {
  std::array<double, kMixOperations> shares = {68.73, 13.04, 3.96, 8.52, 0.49, kSpotifyCreates, 1.3,
                                               0.75,  0.14,  0.32, 0.02, 0.01, 0.02};
  const auto create = static_cast<std::size_t>(MixOperation::kCreate);
  for (double& share : shares) share *= (100 - create_percent) / (100 - kSpotifyCreates);
  shares[create] = create_percent;
  return shares;
}

MixSampler::MixSampler(double create_percent) {
  const auto shares = MixPercentages(create_percent);
  distribution_ = std::discrete_distribution<int>(shares.begin(), shares.end());
}

MixOperation MixSampler::Draw(std::mt19937_64& random) {
  return static_cast<MixOperation>(distribution_(random));
}

ZipfSampler::ZipfSampler(std::size_t most) {
  double sum = 0;
  for (std::size_t i = 0; i < most; ++i) {
    sum += std::pow(static_cast<double>(i + 1), -kZipfExponent);
    cumulated_.push_back(sum);
  }
}

std::size_t ZipfSampler::Draw(std::size_t count, std::mt19937_64& random) const {
  const std::size_t ranked = std::min(count, cumulated_.size());
  const auto end = cumulated_.begin() + static_cast<std::ptrdiff_t>(ranked);
  std::uniform_real_distribution<double> uniform(0, *(end - 1));
  return static_cast<std::size_t>(std::upper_bound(cumulated_.begin(), end - 1, uniform(random)) -
                                  cumulated_.begin());
}

MixWorker::MixWorker(const Territory& territory, std::vector<std::string>& files,
                     std::vector<std::string> file_directories, std::string word, MixKind kind,
                     std::uint64_t seed)
    : territory_(territory),
      files_(files),
      file_directories_(std::move(file_directories)),
      word_(std::move(word)),
      zipf_(kind.zipf),
      random_(seed),
      sampler_(kind.create_percent),
      popularity_(zipf_ ? kMostRanked : 1) {}

const Call* MixWorker::Begin() {
  operation_ = sampler_.Draw(random_);
  if (operation_ == MixOperation::kDelete && files_.size() <= kLeastFiles) {
    operation_ = MixOperation::kCreate;
  }
  chosen_ = zipf_ ? popularity_.Draw(files_.size(), random_) : random_() % files_.size();
  completing_ = false;
  call_ = Encode();
  return &call_;
}

std::string MixWorker::NewName() {
  return fmt::format("{}/{}", file_directories_[random_() % file_directories_.size()],
                     Name(word_, names_++));
}

const std::string& MixWorker::AnyDirectory() {
  return territory_.directories()[random_() % territory_.directories().size()];
}

bool MixWorker::Toggle() { return toggles_++ % 2 == 0; }

Call MixWorker::Encode() {
  const std::string& file = files_[chosen_];
  switch (operation_) {
    case MixOperation::kRead:
      return GetBlockLocations(file);
    case MixOperation::kStatFile:
      return GetFileInfo(file);
    case MixOperation::kStatDirectory:
      return GetFileInfo(AnyDirectory());
    case MixOperation::kListDirectory:
      return GetListing(AnyDirectory());
    case MixOperation::kListFile:
      return GetListing(file);
    case MixOperation::kCreate:
      path_ = NewName();
      return Create(path_, territory_.client());
    case MixOperation::kRename:
      path_ = fmt::format("{}/{}", file.substr(0, file.rfind('/')), Name(word_, names_++));
      return Rename2(file, path_);
    case MixOperation::kDelete:
      return Delete(file, false);
    case MixOperation::kSetReplication:
      return SetReplication(file, Toggle() ? 2 : 3);
    case MixOperation::kSetOwnerOfDirectory:
      return SetOwner(AnyDirectory(), Toggle() ? "alice" : "bob");
    case MixOperation::kSetPermissionOfFile:
      return SetPermission(file, Toggle() ? 0640 : 0644);
    case MixOperation::kSetPermissionOfDirectory:
      return SetPermission(AnyDirectory(), Toggle() ? 0750 : 0755);
    case MixOperation::kMkdir:
      break;
  }
  return Mkdirs(NewName());
}

Result<Step> MixWorker::Proceed(std::string_view answer) {
  if (operation_ == MixOperation::kCreate && !completing_) {
    completing_ = true;
    call_ = Complete(path_, territory_.client(), CreatedFileId(answer));
    return Step::Send(call_);
  }
  EBB_TRY(Check(answer));
  switch (operation_) {
    case MixOperation::kCreate:
      files_.push_back(path_);
      break;
    case MixOperation::kRename:
      files_[chosen_] = path_;
      break;
    case MixOperation::kDelete:
      std::swap(files_[chosen_], files_.back());
      files_.pop_back();
      break;
    default:
      break;
  }
  return Step::End();
}

Status MixWorker::Check(std::string_view answer) const {
  switch (operation_) {
    case MixOperation::kRead:
      return AtLeast(kLocationsBytes)(answer);
    case MixOperation::kStatFile:
    case MixOperation::kStatDirectory:
    case MixOperation::kListDirectory:
    case MixOperation::kListFile:
      return AtLeast(kStatusBytes)(answer);
    case MixOperation::kCreate:
    case MixOperation::kDelete:
    case MixOperation::kSetReplication:
    case MixOperation::kMkdir:
      return MustBeTrue()(answer);
    default:
      return {};
  }
}

}  // namespace ebb::metadata_load
