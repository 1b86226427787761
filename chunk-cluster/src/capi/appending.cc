// The calls that append records to a file that has many writers.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "capi/connection.h"
#include "capi/failure.h"
#include "capi/hdfs.h"
#include "client/append_options.h"
#include "client/record_appender.h"

using ebb::capi::Answer;
using ebb::capi::FailWith;
using ebb::capi::Guarded;
using ebb::client::AppendOptions;
using ebb::client::RecordAppender;

struct ebbfs_appender {
  // Outlives the appender.
  std::shared_ptr<ebb::client::FileSystem> files;
  std::unique_ptr<RecordAppender> appender;
  // As of hdfs_internal.
  const pid_t process = getpid();
};

namespace {

// 0 leaves the default.
template <typename T>
Answer<void> SetOption(const char* name, std::int64_t value, T& option) {
  if (value < 0) return FailWith(EINVAL, fmt::format("{} is {}", name, value));
  if (value > 0) option = static_cast<T>(value);
  return {};
}

Answer<AppendOptions> OptionsOf(const ebbfs_append_options* given) {
  AppendOptions options;
  if (given == nullptr) return options;
  EBB_TRY(SetOption("lanes", given->lanes, options.lanes));
  EBB_TRY(SetOption("replication", given->replication, options.replication));
  EBB_TRY(SetOption("block_bytes", given->block_bytes, options.block_bytes));
  EBB_TRY(SetOption("batch_bytes", given->batch_bytes, options.batch_bytes));
  EBB_TRY(SetOption("unacknowledged_bytes", given->unacknowledged_bytes,
                    options.unacknowledged_bytes));
  EBB_TRY(SetOption("idle_millis", given->idle_millis, options.idle_millis));
  EBB_TRY(SetOption("age_millis", given->age_millis, options.age_millis));
  EBB_TRY(SetOption("patience_millis", given->patience_millis, options.patience_millis));
  return options;
}

// Runs `seal` with the file system and the path.
template <typename Seal>
int SealPath(hdfsFS fs, const char* text, const Seal& seal) noexcept {
  return Guarded([&]() -> Answer<void> {
    EBB_TRY(ebb::capi::CheckHandle(fs));
    EBB_ASSIGN(const std::string path, fs->Path(text));
    EBB_TRY(seal(*fs->files, path));
    return {};
  });
}

}  // namespace

ebbfs_appender* ebbfs_append_open(hdfsFS fs, const char* path,
                                  const ebbfs_append_options* options) {
  return Guarded<ebbfs_appender*>(nullptr, [&]() -> Answer<ebbfs_appender*> {
    EBB_TRY(ebb::capi::CheckHandle(fs));
    EBB_ASSIGN(const std::string absolute, fs->Path(path));
    EBB_ASSIGN(const auto chosen, OptionsOf(options));
    auto opened = std::make_unique<ebbfs_appender>();
    opened->files = fs->files;
    EBB_ASSIGN(opened->appender, RecordAppender::Open(*opened->files, absolute, chosen));
    return opened.release();
  });
}

int ebbfs_append(ebbfs_appender* appender, const void* record, tSize length, ebbfs_stored stored,
                 void* context) {
  return Guarded([&]() -> Answer<void> {
    EBB_TRY(ebb::capi::CheckHandle(appender));
    if (record == nullptr || length < 0) {
      return FailWith(EINVAL, fmt::format("the record is NULL, or its length is {}", length));
    }
    ebb::client::Completion completion;
    if (stored != nullptr) {
      completion = [stored, context](const ebb::Status& status) {
        stored(context, status ? 0 : ebb::capi::ErrnoOf(status.error()));
      };
    }
    const std::span bytes(static_cast<const std::byte*>(record), static_cast<std::size_t>(length));
    EBB_TRY(appender->appender->Append(bytes, std::move(completion)));
    return {};
  });
}

int ebbfs_append_flush(ebbfs_appender* appender) {
  return Guarded([&]() -> Answer<void> {
    EBB_TRY(ebb::capi::CheckHandle(appender));
    EBB_TRY(appender->appender->Flush());
    return {};
  });
}

int ebbfs_append_close(ebbfs_appender* appender) {
  return Guarded([&]() -> Answer<void> {
    EBB_TRY(ebb::capi::CheckHandle(appender));
    // The threads and connections are the parent's.
    if (appender->process != getpid()) return {};
    if (appender->appender->IsCompleting()) {
      return FailWith(EDEADLK, "a call that tells of a stored record cannot close the appender");
    }
    const std::unique_ptr<ebbfs_appender> owned(appender);
    EBB_TRY(owned->appender->Close());
    return {};
  });
}

int ebbfs_append_seal_all(hdfsFS fs, const char* path) {
  return SealPath(fs, path, RecordAppender::SealAll);
}

int ebbfs_append_finish(hdfsFS fs, const char* path) {
  return SealPath(fs, path, RecordAppender::Finish);
}
