// The workers of the rows with one kind of operation.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "metadata_load/territory.h"
#include "metadata_load/worker.h"

namespace ebb::metadata_load {

// Paths of empty files that may be deleted, of all connections.
using FilePool = std::vector<std::string>;

// What the answer of a call must be like. An error says what it is like instead.
using AnswerCheck = std::function<Status(std::string_view answer)>;
// An entry of a listing is longer than its name; a status without a file is 0 to 2 bytes.
inline constexpr std::size_t kStatusBytes = 20;
// The three required fields of the locations of an empty file, in their message.
inline constexpr std::size_t kLocationsBytes = 8;
// `bytes` or more: an answer without the asked row is shorter.
[[nodiscard]] AnswerCheck AtLeast(std::size_t bytes);
[[nodiscard]] AnswerCheck MustBeTrue();

// Sends given calls: in a random order without an end, or each once in their order.
class CallWorker final : public Worker {
 public:
  static std::unique_ptr<Worker> Endless(std::vector<Call> calls, AnswerCheck check,
                                         std::uint64_t seed);
  static std::unique_ptr<Worker> Once(std::vector<Call> calls, AnswerCheck check);
  const Call* Begin() override;
  Result<Step> Proceed(std::string_view answer) override;

 private:
  CallWorker(std::vector<Call> calls, AnswerCheck check, bool endless, std::uint64_t seed);

  const std::vector<Call> calls_;
  const AnswerCheck check_;
  const bool endless_;
  std::mt19937_64 random_;
  std::size_t next_ = 0;
};

// Makes a directory per operation.
class MkdirWorker final : public Worker {
 public:
  explicit MkdirWorker(std::string directory) : directory_(std::move(directory)) {}
  const Call* Begin() override;
  Result<Step> Proceed(std::string_view answer) override;

 private:
  const std::string directory_;
  std::size_t made_ = 0;
  Call call_;
};

// Stats the same file again and again, and looks at no answer.
class EndlessStatWorker final : public Worker {
 public:
  EndlessStatWorker();
  const Call* Begin() override { return &call_; }
  Result<Step> Proceed(std::string_view /*answer*/) override { return Step::End(); }

 private:
  const Call call_;
};

// Creates and closes an empty file per operation.
class CreateWorker final : public Worker {
 public:
  // The next path; empty once there is no more.
  using Paths = std::function<std::string()>;
  // Adds each file to the pool. The pool lives longer.
  CreateWorker(Paths paths, std::string client, FilePool& created);
  const Call* Begin() override;
  Result<Step> Proceed(std::string_view answer) override;

 private:
  const Paths paths_;
  const std::string client_;
  FilePool& created_;
  std::string path_;
  bool completing_ = false;
  Call call_;
};

// Creates a file of one small block per operation, writes it to the servers, and closes it.
class WriteFileWorker final : public Worker {
 public:
  // Adds each file to the pool. The pool lives longer.
  WriteFileWorker(CreateWorker::Paths paths, std::string client, std::uint32_t replication,
                  FilePool& created);
  const Call* Begin() override;
  Result<Step> Proceed(std::string_view answer) override;

 private:
  enum class State : std::uint8_t { kCreating, kAddingBlock, kWriting, kClosing, kWaiting };

  [[nodiscard]] Result<Step> AskForBlock(std::string_view created);
  [[nodiscard]] Result<Step> WriteBlock(std::string_view added);
  [[nodiscard]] Result<Step> Close();
  [[nodiscard]] Result<Step> Closed(std::string_view answer);

  const CreateWorker::Paths paths_;
  const std::string client_;
  const std::uint32_t replication_;
  FilePool& created_;
  std::string path_;
  std::uint64_t file_id_ = 0;
  hadoop::hdfs::LocatedBlockProto block_;
  State state_ = State::kCreating;
  Call call_;
};

// Makes one call, and then pauses for a while, so that what follows the answer is measured, too.
class TimedCallWorker final : public Worker {
 public:
  TimedCallWorker(Call call, AnswerCheck check, std::chrono::milliseconds pause);
  const Call* Begin() override;
  Result<Step> Proceed(std::string_view answer) override;
  // From the call to its answer.
  [[nodiscard]] std::chrono::duration<double> elapsed() const { return elapsed_; }

 private:
  const Call call_;
  const AnswerCheck check_;
  const std::chrono::milliseconds pause_;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::duration<double> elapsed_ = {};
  bool called_ = false;
  bool answered_ = false;
};

// New names in a directory, up to `count` of them.
[[nodiscard]] CreateWorker::Paths NewNames(std::string directory, std::size_t count);
[[nodiscard]] CreateWorker::Paths Listed(std::vector<std::string> paths);

// Gives a random file of a territory another name in its directory. The territory lives longer.
class RenameWorker final : public Worker {
 public:
  RenameWorker(Territory& territory, std::uint64_t seed) : territory_(territory), random_(seed) {}
  const Call* Begin() override;
  Result<Step> Proceed(std::string_view answer) override;

 private:
  Territory& territory_;
  std::mt19937_64 random_;
  std::size_t chosen_ = 0;
  std::string to_;
  Call call_;
};

// Deletes the files of a pool, which lives longer.
class DeleteWorker final : public Worker {
 public:
  explicit DeleteWorker(FilePool& pool) : pool_(pool) {}
  const Call* Begin() override;
  Result<Step> Proceed(std::string_view answer) override;

 private:
  FilePool& pool_;
  Call call_;
};

}  // namespace ebb::metadata_load
