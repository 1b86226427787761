#include "metadata_load/filled_tree.h"

#include <fmt/format.h>

#include <random>
#include <utility>

#include "metadata_load/territory.h"
#include "metadata_load/workers.h"

namespace ebb::metadata_load {

namespace {

// Stats files of a tree whose paths would take too much memory.
class StatTreeWorker final : public Worker {
 public:
  StatTreeWorker(FilledTree tree, std::uint64_t seed) : tree_(std::move(tree)), random_(seed) {}

  const Call* Begin() override {
    call_ = GetFileInfo(tree_.PathOf(random_() % tree_.files));
    return &call_;
  }

  Result<Step> Proceed(std::string_view answer) override {
    EBB_TRY(AtLeast(kStatusBytes)(answer));
    return Step::End();
  }

 private:
  const FilledTree tree_;
  std::mt19937_64 random_;
  Call call_;
};

}  // namespace

std::string FilledTree::PathOf(std::size_t file) const {
  if (per_directory == 0) return fmt::format("{}/{}", directory, Name("file-", file));
  return fmt::format("{}/{}/{}", directory, Name("directory-", file / per_directory),
                     Name("file-", file % per_directory));
}

Status Fill(LoadLoop& loop, const FilledTree& tree, std::size_t from, bool with_data) {
  std::size_t next = from;
  const CreateWorker::Paths paths = [&] {
    return next == tree.files ? std::string() : tree.PathOf(next++);
  };
  FilePool created;
  Group group;
  for (std::size_t i = 0; i < loop.connections(); ++i) {
    std::string client = fmt::format("metadata-load-{}", i);
    if (with_data) {
      group.workers.push_back(
          std::make_unique<WriteFileWorker>(paths, std::move(client), 1, created));
    } else {
      group.workers.push_back(std::make_unique<CreateWorker>(paths, std::move(client), created));
    }
  }
  EBB_ASSIGN(const Measurement done, loop.Run(group, std::nullopt));
  if (done.failures == 0) return {};
  return Fail(ErrorCode::kRemote, fmt::format("{} of {} files could not be created: {}",
                                              done.failures, tree.files, done.first_failure));
}

Result<Measurement> StatTree(LoadLoop& loop, const FilledTree& tree,
                             std::chrono::nanoseconds window) {
  Group group;
  for (std::size_t i = 0; i < loop.connections(); ++i) {
    group.workers.push_back(std::make_unique<StatTreeWorker>(tree, i));
  }
  return loop.Run(group, window);
}

}  // namespace ebb::metadata_load
