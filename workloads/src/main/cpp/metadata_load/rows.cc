#include "metadata_load/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace ebb::metadata_load {

namespace {

constexpr std::size_t kManyConnections = 64;
constexpr std::size_t kLargeDirectoryFiles = 1000;
constexpr std::size_t kEndless = std::numeric_limits<std::size_t>::max();
constexpr std::chrono::nanoseconds kForever = std::chrono::hours(10);

const std::vector<std::string>& Files(const Territory& territory) { return territory.files; }
const std::vector<std::string>& Directories(const Territory& territory) {
  return territory.directories();
}

std::string DeepDirectory(const std::string& root, std::string_view word) {
  return fmt::format("{}/{}/{}/{}/{}/{}", root, Name(word, 0), Name("a", 0), Name("b", 0),
                     Name("c", 0), Name("d", 0));
}

struct NamedMix {
  MixKind kind;
  bool shared = false;
};

std::optional<NamedMix> MixOf(std::string_view row) {
  static const std::map<std::string, NamedMix, std::less<>> kMixes = {
      {"spotify", {}},
      {"spotify-zipf", {.kind = {.zipf = true}}},
      {"spotify-shared", {.kind = {}, .shared = true}},
      {"spotify-create5", {.kind = {.create_percent = 5}}},
      {"spotify-create10", {.kind = {.create_percent = 10}}},
      {"spotify-create20", {.kind = {.create_percent = 20}}},
  };
  const auto found = kMixes.find(row);
  if (found == kMixes.end()) return std::nullopt;
  return found->second;
}

// Many connections have small trees, so that the namespace stays as large.
std::size_t FullLevels(std::size_t connections, std::size_t most) {
  return connections <= kManyConnections ? most : 0;
}

}  // namespace

Rows::Rows(LoadLoop& loop, std::string root)
    : loop_(loop),
      root_(std::move(root)),
      shared_directory_(DeepDirectory(root_, "shared-")),
      large_directory_(DeepDirectory(root_, "large-")) {
  const std::size_t connections = loop.connections();
  for (std::size_t i = 0; i < connections; ++i) {
    territories_.emplace_back(root_, i, FullLevels(connections, kFullLevels));
    mix_territories_.emplace_back(root_, connections + i, FullLevels(connections, kFullLevels - 1));
  }
}

template <typename Make>
Rows::Workers Rows::ForEach(Make make) {
  Workers workers;
  for (std::size_t i = 0; i < territories_.size(); ++i) {
    workers.push_back(make(territories_[i], i));
  }
  return workers;
}

template <typename Encode>
Rows::Workers Rows::Endless(const std::vector<std::string>& (*paths)(const Territory&),
                            Encode encode, const AnswerCheck& check) {
  return ForEach([&](const Territory& territory, std::size_t i) {
    std::vector<Call> calls;
    for (const std::string& path : paths(territory)) calls.push_back(encode(path));
    return CallWorker::Endless(std::move(calls), check, runs_ * territories_.size() + i);
  });
}

Rows::Workers Rows::Creators() {
  return ForEach([&](const Territory& territory, std::size_t) -> std::unique_ptr<Worker> {
    return std::make_unique<CreateWorker>(
        NewNames(territory.WorkDirectory("create-", runs_), kEndless), territory.client(),
        created_);
  });
}

Rows::Workers Rows::ListLarge() {
  return ForEach([&](const Territory&, std::size_t i) {
    return CallWorker::Endless({GetListing(large_directory_)},
                               AtLeast(kLargeDirectoryFiles * kNameLength), i);
  });
}

Rows::Workers Rows::Alternating(Call (*encode)(const std::string&, std::uint32_t),
                                std::uint32_t one, std::uint32_t other, const AnswerCheck& check) {
  return ForEach([&](const Territory& territory, std::size_t i) {
    std::vector<Call> calls;
    for (const std::string& path : territory.files) {
      calls.push_back(encode(path, one));
      calls.push_back(encode(path, other));
    }
    return CallWorker::Endless(std::move(calls), check, runs_ * territories_.size() + i);
  });
}

Status Rows::RunToEnd(Workers workers) {
  EBB_ASSIGN(const Measurement done, loop_.Run(Group{std::move(workers), 0}, std::nullopt));
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
  return RunToEnd(
      ForEach([&](const Territory& territory, std::size_t i) -> std::unique_ptr<Worker> {
        std::vector<std::string> paths = territory.files;
        for (; large < kLargeDirectoryFiles * (i + 1) / territories_.size(); ++large) {
          paths.push_back(fmt::format("{}/{}", large_directory_, Name("file-", large)));
        }
        return std::make_unique<CreateWorker>(Listed(std::move(paths)), territory.client(), kept);
      }));
}

Status Rows::PrepareMix(bool shared) {
  auto& files = shared ? shared_files_ : own_files_;
  if (!files.empty()) return {};
  for (std::size_t i = 0; i < mix_territories_.size(); ++i) {
    files.push_back(mix_territories_[i].files);
    if (!shared) continue;
    for (std::size_t f = 0; f < files[i].size(); ++f) {
      files[i][f] = fmt::format("{}/{}", shared_directory_, Name("old-", i * files[i].size() + f));
    }
  }
  FilePool kept;
  return RunToEnd(
      ForEach([&](const Territory& territory, std::size_t i) -> std::unique_ptr<Worker> {
        return std::make_unique<CreateWorker>(Listed(files[i]), territory.client(), kept);
      }));
}

Result<Rows::Workers> Rows::MixWorkers(std::string_view row) {
  const NamedMix mix = MixOf(row).value_or(NamedMix{});
  // The directories of the mix are those of its own files.
  EBB_TRY(PrepareMix(false));
  if (mix.shared) EBB_TRY(PrepareMix(true));
  return ForEach([&](const Territory&, std::size_t i) -> std::unique_ptr<Worker> {
    const Territory& territory = mix_territories_[i];
    const std::string word = fmt::format("new-{}-{}-", i, runs_);
    return std::make_unique<MixWorker>(
        territory, mix.shared ? shared_files_[i] : own_files_[i],
        mix.shared ? std::vector{shared_directory_} : territory.directories(), word, mix.kind,
        runs_ * territories_.size() + i);
  });
}

Result<Rows::Workers> Rows::WorkersOf(std::string_view row) {
  if (row == "stat") return Endless(Files, GetFileInfo, AtLeast(kStatusBytes));
  if (row == "statdir") return Endless(Directories, GetFileInfo, AtLeast(kStatusBytes));
  if (row == "open") return Endless(Files, GetBlockLocations, AtLeast(kLocationsBytes));
  if (row == "list16") {
    return Endless(Directories, GetListing, AtLeast(kFilesPerDirectory * kNameLength));
  }
  if (row == "list1000") return ListLarge();
  if (row == "setPermission") return Alternating(SetPermission, 0600, 0644, AtLeast(0));
  if (row == "setReplication") return Alternating(SetReplication, 2, 3, MustBeTrue());
  if (row == "mkdir") {
    return ForEach([&](const Territory& territory, std::size_t) -> std::unique_ptr<Worker> {
      return std::make_unique<MkdirWorker>(territory.WorkDirectory("mkdir-", runs_));
    });
  }
  if (row == "create") return Creators();
  if (row == "addBlock") {
    return ForEach([&](const Territory& territory, std::size_t) -> std::unique_ptr<Worker> {
      return std::make_unique<WriteFileWorker>(
          NewNames(territory.WorkDirectory("write-", runs_), kEndless), territory.client(),
          kDefaultReplication, written_);
    });
  }
  if (row == "rename") {
    return ForEach([&](const Territory&, std::size_t i) -> std::unique_ptr<Worker> {
      return std::make_unique<RenameWorker>(territories_[i], runs_ * territories_.size() + i);
    });
  }
  if (row == "delete") {
    return ForEach([&](const Territory&, std::size_t) -> std::unique_ptr<Worker> {
      return std::make_unique<DeleteWorker>(created_);
    });
  }
  if (MixOf(row)) return MixWorkers(row);
  return Fail(ErrorCode::kInvalid, fmt::format("no row '{}'", row));
}

Result<Measurement> Rows::Run(std::string_view row, std::chrono::nanoseconds window) {
  return RunAtRate(row, 0, window);
}

Result<Measurement> Rows::RunAtRate(std::string_view row, double rate,
                                    std::chrono::nanoseconds window) {
  ++runs_;
  if (row == "delete" && created_.empty()) {
    EBB_ASSIGN(const Measurement filled, loop_.Run(Group{Creators(), 0}, window));
    if (filled.operations == 0) return Fail(ErrorCode::kRemote, filled.first_failure);
  }
  EBB_ASSIGN(Workers workers, WorkersOf(row));
  return loop_.Run(Group{std::move(workers), rate}, window);
}

Status Rows::FillPool(std::size_t files) {
  if (created_.size() >= files) return {};
  const std::size_t each = (files - created_.size()) / territories_.size() + 1;
  return RunToEnd(ForEach([&](const Territory& territory, std::size_t) -> std::unique_ptr<Worker> {
    return std::make_unique<CreateWorker>(NewNames(territory.WorkDirectory("create-", runs_), each),
                                          territory.client(), created_);
  }));
}

Result<std::vector<Measurement>> Rows::StatBesideDeletes(double stat_rate, double delete_rate,
                                                         std::chrono::nanoseconds window) {
  ++runs_;
  const double seconds = std::chrono::duration<double>(window).count();
  EBB_TRY(FillPool(static_cast<std::size_t>(delete_rate * seconds)));
  EBB_ASSIGN(Workers stats, WorkersOf("stat"));
  EBB_ASSIGN(Workers deletes, WorkersOf("delete"));
  stats.resize(territories_.size() / 2);
  deletes.resize(territories_.size() - stats.size());
  std::vector<Group> groups;
  groups.push_back({std::move(stats), stat_rate});
  groups.push_back({std::move(deletes), delete_rate});
  return loop_.Run(groups, window);
}

Result<Rows::Timed> Rows::RunBesideMix(Call call, AnswerCheck check, double rate,
                                       std::chrono::milliseconds tail) {
  ++runs_;
  EBB_ASSIGN(Workers mix, MixWorkers("spotify"));
  mix.pop_back();
  auto timed = std::make_unique<TimedCallWorker>(std::move(call), std::move(check), tail);
  const TimedCallWorker& caller = *timed;
  std::vector<Group> groups(2);
  groups[0].workers.push_back(std::move(timed));
  groups[1] = Group{std::move(mix), rate};
  EBB_ASSIGN(auto results, loop_.Run(groups, kForever));
  if (results[0].failures > 0) return Fail(ErrorCode::kRemote, results[0].first_failure);
  return Timed{caller.elapsed(), std::move(results[1])};
}

Status Rows::Remove() {
  created_.clear();
  return RunToEnd(ForEach([&](const Territory&, std::size_t i) {
    std::vector<Call> calls;
    if (i == 0) calls.push_back(Delete(root_, true));
    return CallWorker::Once(std::move(calls), MustBeTrue());
  }));
}

}  // namespace ebb::metadata_load
