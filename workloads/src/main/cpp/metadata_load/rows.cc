#include "metadata_load/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace ebb::metadata_load {

namespace {

constexpr std::size_t kManyConnections = 64;
constexpr std::size_t kLargeDirectoryFiles = 1000;
constexpr std::size_t kEndless = std::numeric_limits<std::size_t>::max();

// An entry of a listing is longer than its name; a status without a file is 0 to 2 bytes.
constexpr std::size_t kStatusBytes = 20;
// The three required fields of the locations of an empty file, in their message.
constexpr std::size_t kLocationsBytes = 8;

const std::vector<std::string>& Files(const Territory& territory) { return territory.files; }
const std::vector<std::string>& Directories(const Territory& territory) {
  return territory.directories();
}

}  // namespace

Rows::Rows(LoadLoop& loop, std::string root)
    : loop_(loop),
      root_(std::move(root)),
      large_directory_(fmt::format("{}/{}/{}/{}/{}/{}", root_, Name("large-", 0), Name("a", 0),
                                   Name("b", 0), Name("c", 0), Name("d", 0))) {
  // Many connections have small territories, so that the namespace stays as large.
  const std::size_t full_levels = loop.connections() <= kManyConnections ? kFullLevels : 0;
  for (std::size_t i = 0; i < loop.connections(); ++i) {
    territories_.emplace_back(root_, i, full_levels);
  }
}

template <typename Make>
Rows::Workers Rows::ForEach(Make make) {
  Workers workers;
  for (std::size_t i = 0; i < territories_.size(); ++i) {
    workers.push_back(make(territories_[i], runs_ * territories_.size() + i));
  }
  return workers;
}

template <typename Encode>
Rows::Workers Rows::Endless(const std::vector<std::string>& (*paths)(const Territory&),
                            Encode encode, const AnswerCheck& check) {
  return ForEach([&](const Territory& territory, std::size_t seed) {
    std::vector<Call> calls;
    for (const std::string& path : paths(territory)) calls.push_back(encode(path));
    return CallWorker::Endless(std::move(calls), check, seed);
  });
}

Rows::Workers Rows::Creators() {
  return ForEach([&](const Territory& territory, std::size_t) -> std::unique_ptr<Worker> {
    return std::make_unique<CreateWorker>(NewNames(territory.WorkDirectory("create-", runs_), kEndless),
                                          territory.client(), created_);
  });
}

Status Rows::RunToEnd(const Workers& workers) {
  EBB_ASSIGN(const Measurement done, loop_.Run(workers, std::nullopt));
  if (done.failures == 0) return {};
  return Fail(ErrorCode::kRemote, fmt::format("{} operations failed, the first with: {}",
                                              done.failures, done.first_failure));
}

Status Rows::Prepare() {
  EBB_TRY(RunToEnd(ForEach([](const Territory& territory, std::size_t) {
    std::vector<Call> calls;
    for (const std::string& directory : territory.directories()) calls.push_back(Mkdirs(directory));
    return CallWorker::Once(std::move(calls), MustBeTrue());
  })));
  FilePool kept;
  std::size_t large = 0;
  return RunToEnd(ForEach([&](const Territory& territory, std::size_t i) -> std::unique_ptr<Worker> {
    std::vector<std::string> paths = territory.files;
    for (; large < kLargeDirectoryFiles * (i + 1) / territories_.size(); ++large) {
      paths.push_back(fmt::format("{}/{}", large_directory_, Name("file-", large)));
    }
    return std::make_unique<CreateWorker>(Listed(std::move(paths)), territory.client(), kept);
  }));
}

Result<Rows::Workers> Rows::WorkersOf(std::string_view row) {
  const std::size_t name_bytes = kNameLength;
  if (row == "stat") return Endless(Files, GetFileInfo, AtLeast(kStatusBytes));
  if (row == "statdir") return Endless(Directories, GetFileInfo, AtLeast(kStatusBytes));
  if (row == "open") return Endless(Files, GetBlockLocations, AtLeast(kLocationsBytes));
  if (row == "list16") {
    return Endless(Directories, GetListing, AtLeast(kFilesPerDirectory * name_bytes));
  }
  if (row == "list1000") {
    return ForEach([&](const Territory&, std::size_t seed) {
      return CallWorker::Endless({GetListing(large_directory_)},
                                 AtLeast(kLargeDirectoryFiles * name_bytes), seed);
    });
  }
  // The value differs from run to run, and often from the value that the file has.
  if (row == "setPermission") {
    const std::uint32_t mode = runs_ % 2 == 0 ? 0640 : 0600;
    return ForEach([&](const Territory& territory, std::size_t seed) {
      std::vector<Call> calls;
      for (const std::string& path : territory.files) {
        calls.push_back(SetPermission(path, mode));
        calls.push_back(SetPermission(path, 0644));
      }
      return CallWorker::Endless(std::move(calls), AtLeast(0), seed);
    });
  }
  if (row == "setReplication") {
    return ForEach([&](const Territory& territory, std::size_t seed) {
      std::vector<Call> calls;
      for (const std::string& path : territory.files) {
        calls.push_back(SetReplication(path, 2));
        calls.push_back(SetReplication(path, 3));
      }
      return CallWorker::Endless(std::move(calls), MustBeTrue(), seed);
    });
  }
  if (row == "mkdir") {
    return ForEach([&](const Territory& territory, std::size_t) -> std::unique_ptr<Worker> {
      return std::make_unique<MkdirWorker>(territory.WorkDirectory("mkdir-", runs_));
    });
  }
  if (row == "create") return Creators();
  if (row == "rename") {
    return ForEach([](Territory& territory, std::size_t seed) -> std::unique_ptr<Worker> {
      return std::make_unique<RenameWorker>(territory, seed);
    });
  }
  if (row == "delete") {
    return ForEach([&](const Territory&, std::size_t) -> std::unique_ptr<Worker> {
      return std::make_unique<DeleteWorker>(created_);
    });
  }
  return Fail(ErrorCode::kInvalid, fmt::format("no row '{}'", row));
}

Result<Measurement> Rows::Run(std::string_view row, std::chrono::nanoseconds window) {
  ++runs_;
  if (row == "delete" && created_.empty()) {
    EBB_ASSIGN(const Measurement filled, loop_.Run(Creators(), window));
    if (filled.operations == 0) return Fail(ErrorCode::kRemote, filled.first_failure);
  }
  EBB_ASSIGN(const Workers workers, WorkersOf(row));
  return loop_.Run(workers, window);
}

Status Rows::Remove() {
  Workers workers = ForEach([&](const Territory&, std::size_t i) {
    return CallWorker::Once(i % territories_.size() == 0 ? std::vector<Call>{Delete(root_, true)}
                                                         : std::vector<Call>{},
                            MustBeTrue());
  });
  created_.clear();
  return RunToEnd(workers);
}

}  // namespace ebb::metadata_load
