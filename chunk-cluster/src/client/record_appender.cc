#include "client/record_appender.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "client/append_deadline.h"
#include "client/lane_finder.h"

namespace ebb::client {

namespace {

// A block that a snapshot shows cannot move to the file, so that its records stay hidden.
Status RefuseSnapshots(FileSystem& files, const std::string& path) {
  for (std::string at = path; at != "/";) {
    at.resize(std::max<std::size_t>(at.rfind('/'), 1));
    EBB_ASSIGN(const auto above, files.Stat(at));
    if (!above || !above->snapshottable) continue;
    return Fail(ErrorCode::kInvalid,
                fmt::format("records cannot be appended to {}: {} is snapshottable, and a snapshot "
                            "of an open lane keeps its records out of the file; choose another "
                            "directory, or run 'hdfs dfsadmin -disallowSnapshot {}'",
                            path, at, at));
  }
  return {};
}

Status CreateEmpty(FileSystem& files, const std::string& path, const AppendOptions& options) {
  EBB_ASSIGN(const auto stream, files.Create(path, {.replication = options.replication,
                                                    .block_bytes = options.block_bytes,
                                                    .replicated = true}));
  return stream->Close();
}

// Creates the file unless it exists.
Status RequireFile(FileSystem& files, const std::string& path, const AppendOptions& options) {
  EBB_ASSIGN(const auto present, files.Stat(path));
  if (present) return {};
  const auto created = CreateEmpty(files, path, options);
  if (created) return {};
  EBB_ASSIGN(const auto by_another, files.Stat(path));
  return by_another ? Status() : created;
}

}  // namespace

RecordAppender::RecordAppender(LaneFiles files, const AppendOptions& options)
    : batches_(options.batch_bytes, options.unacknowledged_bytes, completions_),
      worker_(std::move(files), options, batches_) {}

Result<std::unique_ptr<RecordAppender>> RecordAppender::Open(FileSystem& files,
                                                             const std::string& path,
                                                             const AppendOptions& options) {
  EBB_TRY(options.Check());
  EBB_TRY(RefuseSnapshots(files, path));
  EBB_TRY(RequireFile(files, path, options));
  EBB_ASSIGN(auto lanes, LaneFiles::Open(files, path));
  try {
    std::unique_ptr<RecordAppender> appender(new RecordAppender(std::move(lanes), options));
    appender->worker_.Start();
    return appender;
  } catch (const std::system_error& error) {
    return Fail(ErrorCode::kIo,
                fmt::format("there is no thread to append to {}: {}", path, error.what()));
  }
}

RecordAppender::~RecordAppender() {
  batches_.Close();
  worker_.Join();
  completions_.Await();  // they may append, and are refused
}

Status RecordAppender::Append(std::span<const std::byte> record, Completion completion) {
  if (record.empty() || record.size() > kMostRecordBytes) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("a record of {} bytes cannot be appended; records have 1 to {} bytes",
                            record.size(), kMostRecordBytes));
  }
  return batches_.Add(record, std::move(completion));
}

Status RecordAppender::Flush() { return batches_.Flush(); }

Status RecordAppender::Close() {
  if (IsCompleting()) {
    return Fail(ErrorCode::kInvalid,
                "a completion cannot close its appender: the appender waits for completions");
  }
  batches_.Close();
  const std::lock_guard lock(closing_);
  worker_.Join();
  completions_.Await();
  return batches_.failure();
}

Status RecordAppender::SealAll(FileSystem& files, const std::string& path) {
  EBB_ASSIGN(const auto lanes, LaneFiles::Open(files, path));
  const AppendOptions options;
  const LaneFinder finder(lanes, options);
  return finder.SealAll(AppendDeadline(options.Patience()));
}

Status RecordAppender::Finish(FileSystem& files, const std::string& path) {
  EBB_TRY(SealAll(files, path));
  EBB_ASSIGN(const auto lanes, LaneFiles::Open(files, path));
  return lanes.RemoveAll();
}

}  // namespace ebb::client
