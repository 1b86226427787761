#include "metadata_load/workers.h"

#include <fmt/format.h>

#include <utility>

#include "metadata_load/block_write.h"

namespace ebb::metadata_load {

namespace {

// A stock client waits 400 ms.
constexpr std::chrono::milliseconds kCompleteRetry(5);

}  // namespace

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

Result<Step> CallWorker::Proceed(std::string_view answer) {
  EBB_TRY(check_(answer));
  return Step::End();
}

const Call* MkdirWorker::Begin() {
  call_ = Mkdirs(fmt::format("{}/{}", directory_, Name("made-", made_++)));
  return &call_;
}

Result<Step> MkdirWorker::Proceed(std::string_view answer) {
  EBB_TRY(MustBeTrue()(answer));
  return Step::End();
}

// A path of the rows has seven names of 34 characters or less.
EndlessStatWorker::EndlessStatWorker() : call_(GetFileInfo("/" + std::string(200, 'f'))) {}

CreateWorker::CreateWorker(Paths paths, std::string client, FilePool& created)
    : paths_(std::move(paths)), client_(std::move(client)), created_(created) {}

const Call* CreateWorker::Begin() {
  path_ = paths_();
  if (path_.empty()) return nullptr;
  completing_ = false;
  call_ = Create(path_, client_);
  return &call_;
}

Result<Step> CreateWorker::Proceed(std::string_view answer) {
  if (!completing_) {
    completing_ = true;
    call_ = Complete(path_, client_, CreatedFileId(answer));
    return Step::Send(call_);
  }
  EBB_TRY(MustBeTrue()(answer));
  created_.push_back(path_);
  return Step::End();
}

WriteFileWorker::WriteFileWorker(CreateWorker::Paths paths, std::string client,
                                 std::uint32_t replication, FilePool& created)
    : paths_(std::move(paths)),
      client_(std::move(client)),
      replication_(replication),
      created_(created) {}

const Call* WriteFileWorker::Begin() {
  path_ = paths_();
  if (path_.empty()) return nullptr;
  state_ = State::kCreating;
  call_ = CreateSmall(path_, client_, replication_);
  return &call_;
}

Result<Step> WriteFileWorker::Proceed(std::string_view answer) {
  switch (state_) {
    case State::kCreating:
      return AskForBlock(answer);
    case State::kAddingBlock:
      return WriteBlock(answer);
    case State::kWriting:
    case State::kWaiting:
      return Close();
    case State::kClosing:
      break;
  }
  return Closed(answer);
}

Result<Step> WriteFileWorker::AskForBlock(std::string_view created) {
  file_id_ = CreatedFileId(created);
  state_ = State::kAddingBlock;
  call_ = AddBlock(path_, client_, file_id_);
  return Step::Send(call_);
}

Result<Step> WriteFileWorker::WriteBlock(std::string_view added) {
  EBB_ASSIGN(block_, AddedBlock(added));
  state_ = State::kWriting;
  return Step::Write(block_);
}

Result<Step> WriteFileWorker::Close() {
  state_ = State::kClosing;
  block_.mutable_b()->set_numbytes(kSmallFileBytes);
  call_ = CompleteWithBlock(path_, client_, file_id_, block_.b());
  return Step::Send(call_);
}

// The namenode answers 'false' until it has heard of the replicas.
Result<Step> WriteFileWorker::Closed(std::string_view answer) {
  if (!IsTrue(answer)) {
    state_ = State::kWaiting;
    return Step::Pause(kCompleteRetry);
  }
  created_.push_back(path_);
  return Step::End();
}

TimedCallWorker::TimedCallWorker(Call call, AnswerCheck check, std::chrono::milliseconds pause)
    : call_(std::move(call)), check_(std::move(check)), pause_(pause) {}

const Call* TimedCallWorker::Begin() {
  if (called_) return nullptr;
  called_ = true;
  begun_ = std::chrono::steady_clock::now();
  return &call_;
}

Result<Step> TimedCallWorker::Proceed(std::string_view answer) {
  if (answered_) return Step::End();
  answered_ = true;
  elapsed_ = std::chrono::steady_clock::now() - begun_;
  EBB_TRY(check_(answer));
  return Step::Pause(pause_);
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

Result<Step> RenameWorker::Proceed(std::string_view) {
  territory_.files[chosen_] = to_;
  return Step::End();
}

const Call* DeleteWorker::Begin() {
  if (pool_.empty()) return nullptr;
  call_ = Delete(pool_.back(), false);
  pool_.pop_back();
  return &call_;
}

Result<Step> DeleteWorker::Proceed(std::string_view answer) {
  EBB_TRY(MustBeTrue()(answer));
  return Step::End();
}

}  // namespace ebb::metadata_load
