// How a call gets to a thread and to its answer, and how a mount stops.
#include "mount/mounted_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <utility>

#include "mount/error_number.h"

namespace ebb::mount {

namespace {

// What programs tell their users well enough.
constexpr auto kUsual = std::to_array<int>({EACCES, EEXIST, EINVAL, EISDIR, ENAMETOOLONG, ENODATA,
                                            ENOENT, ENOTDIR, ENOTEMPTY, EPERM});

int RunSafely(const std::function<int(const CallPointer&)>& work, const CallPointer& call,
              Log& log) {
  try {
    return work(call);
  } catch (const std::exception& error) {  // no memory, or no thread for a connection
    log.Write(fmt::format("a call failed: {}", error.what()));
    return ENOMEM;
  }
}

// What Stop() waits for.
struct Ending {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t left = 0;
  std::size_t failed = 0;
};

}  // namespace

MountedFiles::MountedFiles(client::FileSystem& files, const MountOptions& options, Log& log)
    : files_(files),
      options_(options),
      log_(log),
      nodes_(options.root),
      open_files_(options.open_files),
      open_directories_(options.open_files),
      dirty_(options.dirty_bytes),
      calls_(options.deadline),
      pool_(options.threads) {}

CallPointer MountedFiles::Begin(fuse_req_t request, std::string what) {
  auto call = std::make_shared<Call>(calls_, log_, request, std::move(what));
  calls_.Add(*call);
  return call;
}

void MountedFiles::Do(const CallPointer& call, Work work) {
  pool_.Post([this, call, work = std::move(work)] {
    if (call->answered()) return;
    if (const int number = RunSafely(work, call, log_)) call->Error(number);
  });
}

void MountedFiles::Do(const CallPointer& call, const StrandPointer& strand, Work work) {
  pool_.Post(strand, [this, call, work = std::move(work)] {
    if (call->answered()) return;
    if (const int number = RunSafely(work, call, log_)) call->Error(number);
  });
}

int MountedFiles::Tell(int number, const std::string& what, const Error& error) {
  if (std::ranges::find(kUsual, number) == kUsual.end()) {
    log_.Write(fmt::format("{}: {} ({})", what, error.message, std::strerror(number)));
  }
  return number;
}

std::optional<std::string> MountedFiles::PathOf(NodeId node) const {
  const auto found = nodes_.Find(node);
  return found ? nodes_.PathOf(*found) : std::nullopt;
}

std::optional<std::string> MountedFiles::PathOf(NodeId parent, const std::string& name) const {
  const auto found = nodes_.Find(parent);
  return found ? nodes_.PathOf(*found, name) : std::nullopt;
}

std::size_t MountedFiles::Stop() {
  stopping_ = true;
  const auto ending = std::make_shared<Ending>();
  for (const auto& file : open_files_.All()) {
    if (!file->writer) continue;
    {
      const std::lock_guard lock(ending->mutex);
      ++ending->left;
    }
    pool_.Post(file->strand, [this, ending, file] {
      const auto status = file->writer->EndSafely();
      if (!status) log_.Write(fmt::format("a file was not ended: {}", status.error().message));
      const std::lock_guard lock(ending->mutex);
      --ending->left;
      if (!status) ++ending->failed;
      ending->changed.notify_all();
    });
  }
  std::unique_lock lock(ending->mutex);
  ending->changed.wait_for(lock, options_.deadline, [&] { return ending->left == 0; });
  if (ending->left > 0) {
    log_.Write(fmt::format("{} files were not ended within the deadline; the namenode ends them "
                           "when their lease expires",
                           ending->left));
  }
  return ending->left + ending->failed;
}

}  // namespace ebb::mount
