// The calls that open a file.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "capi/connection.h"
#include "capi/failure.h"
#include "capi/hdfs.h"
#include "capi/open_file.h"

using ebb::capi::Answer;
using ebb::capi::FailWith;
using ebb::capi::Guarded;
using ebb::capi::OpenOptions;
using ebb::capi::OpenPath;

struct hdfsStreamBuilder {
  std::shared_ptr<ebb::client::FileSystem> files;
  std::string path;
  OpenOptions options;
};

struct hdfsOpenFileBuilder {
  std::shared_ptr<ebb::client::FileSystem> files;
  std::string path;
  // An option that must be obeyed, and is not known.
  std::string unknown_option;
};

struct hdfsOpenFileFuture {
  // Not valid once somebody has got the file, or nobody may get it any more.
  std::future<Answer<std::unique_ptr<hdfsFile_internal>>> file;
  // The same after a cancellation.
  std::future<Answer<std::unique_ptr<hdfsFile_internal>>> cancelled;
};

namespace {

constexpr std::string_view kOpenOptions = "fs.option.openfile.";

// Changes a builder of a file that is written.
template <typename Change>
int ChangeStreamBuilder(hdfsStreamBuilder* builder, const Change& change) noexcept {
  return Guarded([&]() -> Answer<void> {
    EBB_TRY(ebb::capi::CheckHandle(builder));
    if ((builder->options.flags & O_ACCMODE) != O_WRONLY) {
      return FailWith(EINVAL, fmt::format("{} is not opened for writing", builder->path));
    }
    return change(builder->options);
  });
}

std::chrono::nanoseconds DurationOf(std::int64_t count, javaConcurrentTimeUnit unit) {
  // More would overflow, and is as good as for ever.
  const auto within = [&](auto one) {
    constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(24 * 365);
    const std::int64_t most = kLongest / std::chrono::nanoseconds(one);
    return std::chrono::nanoseconds(one) * std::clamp<std::int64_t>(count, 0, most);
  };
  switch (unit) {
    case DAYS:
      return within(std::chrono::hours(24));
    case HOURS:
      return within(std::chrono::hours(1));
    case MINUTES:
      return within(std::chrono::minutes(1));
    case SECONDS:
      return within(std::chrono::seconds(1));
    case MILLISECONDS:
      return within(std::chrono::milliseconds(1));
    case MICROSECONDS:
      return within(std::chrono::microseconds(1));
    case NANOSECONDS:
      break;
  }
  return within(std::chrono::nanoseconds(1));
}

Answer<void> CheckPending(const hdfsOpenFileFuture* future) {
  EBB_TRY(ebb::capi::CheckHandle(future));
  if (future->file.valid()) return {};
  return FailWith(EINVAL, "somebody has got the file already, or its opening was cancelled");
}

Answer<hdfsFile> TakeFile(hdfsOpenFileFuture& future) {
  auto opened = future.file.get();
  EBB_ASSIGN(auto file, std::move(opened));
  return file.release();
}

}  // namespace

hdfsFile hdfsOpenFile(hdfsFS fs, const char* path, int flags, int /*bufferSize*/, short replication,
                      tSize blockSize) {
  auto* const builder = hdfsStreamBuilderAlloc(fs, path, flags);
  if (builder == nullptr) return nullptr;
  if ((flags & O_ACCMODE) == O_WRONLY &&
      (hdfsStreamBuilderSetReplication(builder, replication) != 0 ||
       hdfsStreamBuilderSetDefaultBlockSize(builder, blockSize) != 0)) {
    const int number = errno;
    hdfsStreamBuilderFree(builder);
    errno = number;
    return nullptr;
  }
  return hdfsStreamBuilderBuild(builder);
}

hdfsStreamBuilder* hdfsStreamBuilderAlloc(hdfsFS fs, const char* path, int flags) {
  return Guarded<hdfsStreamBuilder*>(nullptr, [&]() -> Answer<hdfsStreamBuilder*> {
    EBB_TRY(ebb::capi::CheckHandle(fs));
    EBB_ASSIGN(std::string absolute, fs->Path(path));
    auto builder = std::make_unique<hdfsStreamBuilder>();
    builder->files = fs->files;
    builder->path = std::move(absolute);
    builder->options.flags = flags;
    return builder.release();
  });
}

void hdfsStreamBuilderFree(hdfsStreamBuilder* builder) {
  const std::unique_ptr<hdfsStreamBuilder> owned(builder);
}

int hdfsStreamBuilderSetBufferSize(hdfsStreamBuilder* builder, std::int32_t /*bufferSize*/) {
  return ChangeStreamBuilder(builder, [](OpenOptions& /*options*/) -> Answer<void> { return {}; });
}

int hdfsStreamBuilderSetReplication(hdfsStreamBuilder* builder, std::int16_t replication) {
  return ChangeStreamBuilder(builder, [&](OpenOptions& options) -> Answer<void> {
    if (replication < 0) return FailWith(EINVAL, fmt::format("the replication is {}", replication));
    options.replication = static_cast<std::uint32_t>(replication);
    return {};
  });
}

int hdfsStreamBuilderSetDefaultBlockSize(hdfsStreamBuilder* builder, std::int64_t blockSize) {
  return ChangeStreamBuilder(builder, [&](OpenOptions& options) -> Answer<void> {
    if (blockSize < 0) return FailWith(EINVAL, fmt::format("the block size is {}", blockSize));
    options.block_bytes = static_cast<std::uint64_t>(blockSize);
    return {};
  });
}

hdfsFile hdfsStreamBuilderBuild(hdfsStreamBuilder* builder) {
  const std::unique_ptr<hdfsStreamBuilder> owned(builder);
  return Guarded<hdfsFile>(nullptr, [&]() -> Answer<hdfsFile> {
    EBB_TRY(ebb::capi::CheckHandle(builder));
    EBB_ASSIGN(auto file, OpenPath(builder->files, builder->path, builder->options));
    return file.release();
  });
}

hdfsOpenFileBuilder* hdfsOpenFileBuilderAlloc(hdfsFS fs, const char* path) {
  return Guarded<hdfsOpenFileBuilder*>(nullptr, [&]() -> Answer<hdfsOpenFileBuilder*> {
    EBB_TRY(ebb::capi::CheckHandle(fs));
    EBB_ASSIGN(std::string absolute, fs->Path(path));
    auto builder = std::make_unique<hdfsOpenFileBuilder>();
    builder->files = fs->files;
    builder->path = std::move(absolute);
    return builder.release();
  });
}

hdfsOpenFileBuilder* hdfsOpenFileBuilderMust(hdfsOpenFileBuilder* builder, const char* key,
                                             const char* /*value*/) {
  return Guarded<hdfsOpenFileBuilder*>(nullptr, [&]() -> Answer<hdfsOpenFileBuilder*> {
    EBB_TRY(ebb::capi::CheckHandle(builder));
    EBB_ASSIGN(std::string option, ebb::capi::TextOf(key, "the key"));
    if (!option.starts_with(kOpenOptions)) builder->unknown_option = std::move(option);
    return builder;
  });
}

hdfsOpenFileBuilder* hdfsOpenFileBuilderOpt(hdfsOpenFileBuilder* builder, const char* /*key*/,
                                            const char* /*value*/) {
  return builder;
}

hdfsOpenFileFuture* hdfsOpenFileBuilderBuild(hdfsOpenFileBuilder* builder) {
  const std::unique_ptr<hdfsOpenFileBuilder> owned(builder);
  return Guarded<hdfsOpenFileFuture*>(nullptr, [&]() -> Answer<hdfsOpenFileFuture*> {
    EBB_TRY(ebb::capi::CheckHandle(builder));
    if (!builder->unknown_option.empty()) {
      return FailWith(EINVAL, fmt::format("the option '{}' is not known", builder->unknown_option));
    }
    auto future = std::make_unique<hdfsOpenFileFuture>();
    future->file =
        std::async(std::launch::async, [files = builder->files, path = builder->path] {
          return OpenPath(files, path, {.flags = O_RDONLY});
        });
    return future.release();
  });
}

void hdfsOpenFileBuilderFree(hdfsOpenFileBuilder* builder) {
  const std::unique_ptr<hdfsOpenFileBuilder> owned(builder);
}

hdfsFile hdfsOpenFileFutureGet(hdfsOpenFileFuture* future) {
  return Guarded<hdfsFile>(nullptr, [&]() -> Answer<hdfsFile> {
    EBB_TRY(CheckPending(future));
    return TakeFile(*future);
  });
}

hdfsFile hdfsOpenFileFutureGetWithTimeout(hdfsOpenFileFuture* future, std::int64_t timeout,
                                          javaConcurrentTimeUnit timeUnit) {
  return Guarded<hdfsFile>(nullptr, [&]() -> Answer<hdfsFile> {
    EBB_TRY(CheckPending(future));
    if (future->file.wait_for(DurationOf(timeout, timeUnit)) != std::future_status::ready) {
      return FailWith(ETIMEDOUT, "the file is not open yet");
    }
    return TakeFile(*future);
  });
}

int hdfsOpenFileFutureCancel(hdfsOpenFileFuture* future, int /*mayInterruptIfRunning*/) {
  return Guarded([&]() -> Answer<void> {
    EBB_TRY(CheckPending(future));
    if (future->file.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
      return FailWith(EINVAL, "the file is open already");
    }
    // Nobody gets the file. Whoever frees the future waits for it.
    future->cancelled = std::exchange(future->file, {});
    return {};
  });
}

void hdfsOpenFileFutureFree(hdfsOpenFileFuture* future) {
  const std::unique_ptr<hdfsOpenFileFuture> owned(future);
}
