#include "metadata_load/workers.h"

#include <fmt/format.h>

#include <utility>

namespace ebb::metadata_load {

AnswerCheck AtLeast(std::size_t bytes) {
  return [bytes](std::string_view answer) -> Status {
    if (answer.size() >= bytes) return {};
    return Fail(ErrorCode::kNotFound,
                fmt::format("an answer of {} bytes where {} or more are due: is the file there?",
                            answer.size(), bytes));
  };
}

AnswerCheck MustBeTrue() {
  return [](std::string_view answer) -> Status {
    if (IsTrue(answer)) return {};
    return Fail(ErrorCode::kNotFound, "the namenode answered 'false'");
  };
}

CallWorker::CallWorker(std::vector<Call> calls, AnswerCheck check, bool endless,
                       std::uint64_t seed)
    : calls_(std::move(calls)), check_(std::move(check)), endless_(endless), random_(seed) {}

std::unique_ptr<Worker> CallWorker::Endless(std::vector<Call> calls, AnswerCheck check,
                                            std::uint64_t seed) {
  return std::unique_ptr<Worker>(new CallWorker(std::move(calls), std::move(check), true, seed));
}

std::unique_ptr<Worker> CallWorker::Once(std::vector<Call> calls, AnswerCheck check) {
  return std::unique_ptr<Worker>(new CallWorker(std::move(calls), std::move(check), false, 0));
}

const Call* CallWorker::Begin() {
  if (endless_) return &calls_[random_() % calls_.size()];
  return next_ == calls_.size() ? nullptr : &calls_[next_++];
}

Result<const Call*> CallWorker::Proceed(std::string_view answer) {
  EBB_TRY(check_(answer));
  return nullptr;
}

const Call* MkdirWorker::Begin() {
  call_ = Mkdirs(fmt::format("{}/{}", directory_, Name("made-", made_++)));
  return &call_;
}

Result<const Call*> MkdirWorker::Proceed(std::string_view answer) {
  EBB_TRY(MustBeTrue()(answer));
  return nullptr;
}

CreateWorker::CreateWorker(Paths paths, std::string client, FilePool& created)
    : paths_(std::move(paths)), client_(std::move(client)), created_(created) {}

const Call* CreateWorker::Begin() {
  path_ = paths_();
  if (path_.empty()) return nullptr;
  completing_ = false;
  call_ = Create(path_, client_);
  return &call_;
}

Result<const Call*> CreateWorker::Proceed(std::string_view answer) {
  if (!completing_) {
    completing_ = true;
    call_ = Complete(path_, client_, CreatedFileId(answer));
    return &call_;
  }
  EBB_TRY(MustBeTrue()(answer));
  created_.push_back(path_);
  return nullptr;
}

CreateWorker::Paths NewNames(std::string directory, std::size_t count) {
  return [directory = std::move(directory), count, next = std::size_t{0}]() mutable {
    if (next == count) return std::string();
    return fmt::format("{}/{}", directory, Name("new-", next++));
  };
}

CreateWorker::Paths Listed(std::vector<std::string> paths) {
  return [paths = std::move(paths), next = std::size_t{0}]() mutable {
    return next == paths.size() ? std::string() : paths[next++];
  };
}

const Call* RenameWorker::Begin() {
  chosen_ = random_() % territory_.files.size();
  const std::string& from = territory_.files[chosen_];
  to_ = from;
  // Both names have 34 characters.
  char& last_of_word = to_[to_.size() - kNameLength];
  last_of_word = last_of_word == 'f' ? 'g' : 'f';
  call_ = Rename2(from, to_);
  return &call_;
}

Result<const Call*> RenameWorker::Proceed(std::string_view) {
  territory_.files[chosen_] = to_;
  return nullptr;
}

const Call* DeleteWorker::Begin() {
  if (pool_.empty()) return nullptr;
  call_ = Delete(pool_.back(), false);
  pool_.pop_back();
  return &call_;
}

Result<const Call*> DeleteWorker::Proceed(std::string_view answer) {
  EBB_TRY(MustBeTrue()(answer));
  return nullptr;
}

}  // namespace ebb::metadata_load
