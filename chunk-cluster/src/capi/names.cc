// The calls that look up and change names and attributes.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "capi/connection.h"
#include "capi/failure.h"
#include "capi/hdfs.h"

using ebb::capi::Answer;
using ebb::capi::FailWith;
using ebb::capi::Guarded;

namespace {

constexpr std::uint32_t kModeBits = 01777;
constexpr tTime kKeepTime = -1;

// Runs `change` with the file system and the path.
template <typename Change>
int ChangePath(hdfsFS fs, const char* text, const Change& change) noexcept {
  return Guarded([&]() -> Answer<void> {
    EBB_TRY(ebb::capi::CheckHandle(fs));
    EBB_ASSIGN(const std::string path, fs->Path(text));
    return change(*fs->files, path);
  });
}

std::int64_t MillisOf(tTime seconds) {
  return seconds == kKeepTime ? -1 : static_cast<std::int64_t>(seconds) * 1000;
}

}  // namespace

int hdfsExists(hdfsFS fs, const char* path) {
  return ChangePath(fs, path, [](auto& files, const std::string& absolute) -> Answer<void> {
    EBB_ASSIGN(const auto status, files.CachedStat(absolute));
    if (status) return {};
    return FailWith(ENOENT, fmt::format("{} does not exist", absolute));
  });
}

int hdfsDelete(hdfsFS fs, const char* path, int recursive) {
  return ChangePath(fs, path, [&](auto& files, const std::string& absolute) -> Answer<void> {
    EBB_ASSIGN(const bool deleted, files.Remove(absolute, recursive != 0));
    if (deleted) return {};
    return FailWith(EIO, fmt::format("{} was not deleted: it does not exist", absolute));
  });
}

int hdfsRename(hdfsFS fs, const char* oldPath, const char* newPath) {
  return ChangePath(fs, oldPath, [&](auto& files, const std::string& from) -> Answer<void> {
    EBB_ASSIGN(const std::string to, fs->Path(newPath));
    EBB_ASSIGN(const bool renamed, files.RenameOld(from, to));
    if (renamed) return {};
    return FailWith(EIO, fmt::format("{} was not renamed to {}: the first must exist, the second "
                                     "must not, and its directory must",
                                     from, to));
  });
}

int ebbfsReplace(hdfsFS fs, const char* oldPath, const char* newPath) {
  return ChangePath(fs, oldPath, [&](auto& files, const std::string& from) -> Answer<void> {
    EBB_ASSIGN(const std::string to, fs->Path(newPath));
    EBB_TRY(files.Rename(from, to, true));
    return {};
  });
}

int hdfsCreateDirectory(hdfsFS fs, const char* path) {
  return ChangePath(fs, path, [](auto& files, const std::string& absolute) -> Answer<void> {
    const auto made = files.MakeDirectory(absolute, true);
    if (!made && made.error().code == ebb::ErrorCode::kInvalid) {
      return FailWith(EIO, made.error().message);
    }
    EBB_TRY(made);
    return {};
  });
}

int hdfsTruncateFile(hdfsFS fs, const char* path, tOffset length) {
  return Guarded<int>(-1, [&]() -> Answer<int> {
    EBB_TRY(ebb::capi::CheckHandle(fs));
    EBB_ASSIGN(const std::string absolute, fs->Path(path));
    if (length < 0) return FailWith(EINVAL, fmt::format("the length is {}", length));
    EBB_ASSIGN(const bool done, fs->files->Truncate(absolute, static_cast<std::uint64_t>(length)));
    return done ? 1 : 0;
  });
}

char* hdfsGetWorkingDirectory(hdfsFS fs, char* buffer, std::size_t bufferSize) {
  return Guarded<char*>(nullptr, [&]() -> Answer<char*> {
    EBB_TRY(ebb::capi::CheckHandle(fs));
    EBB_TRY(ebb::capi::CheckHandle(buffer));
    const std::string uri = fs->files->uri() + fs->WorkingDirectory();
    if (uri.size() >= bufferSize) {
      return FailWith(ENAMETOOLONG, fmt::format("{} does not fit into {} bytes", uri, bufferSize));
    }
    uri.copy(buffer, uri.size());
    buffer[uri.size()] = '\0';
    return buffer;
  });
}

int hdfsSetWorkingDirectory(hdfsFS fs, const char* path) {
  return ChangePath(fs, path, [&](auto& /*files*/, const std::string& absolute) -> Answer<void> {
    fs->SetWorkingDirectory(absolute);
    return {};
  });
}

int hdfsChown(hdfsFS fs, const char* path, const char* owner, const char* group) {
  if (owner == nullptr && group == nullptr) return 0;
  return ChangePath(fs, path, [&](auto& files, const std::string& absolute) -> Answer<void> {
    EBB_TRY(files.SetOwner(absolute, owner == nullptr ? "" : owner, group == nullptr ? "" : group));
    return {};
  });
}

int hdfsChmod(hdfsFS fs, const char* path, short mode) {
  return ChangePath(fs, path, [&](auto& files, const std::string& absolute) -> Answer<void> {
    EBB_TRY(files.SetMode(absolute, static_cast<std::uint32_t>(mode) & kModeBits));
    return {};
  });
}

int hdfsUtime(hdfsFS fs, const char* path, tTime modified, tTime accessed) {
  return ChangePath(fs, path, [&](auto& files, const std::string& absolute) -> Answer<void> {
    EBB_TRY(files.SetTimes(absolute, MillisOf(modified), MillisOf(accessed)));
    return {};
  });
}

int hdfsSetReplication(hdfsFS fs, const char* path, std::int16_t replication) {
  return ChangePath(fs, path, [&](auto& files, const std::string& absolute) -> Answer<void> {
    if (replication < 1) return FailWith(EINVAL, fmt::format("the replication is {}", replication));
    EBB_ASSIGN(const bool changed,
               files.SetReplication(absolute, static_cast<std::uint32_t>(replication)));
    if (changed) return {};
    return FailWith(ENOENT, fmt::format("{} is no file", absolute));
  });
}
