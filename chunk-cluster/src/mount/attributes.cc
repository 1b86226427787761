// Attributes of files, and the space of the cluster.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <utility>

#include "mount/error_number.h"
#include "mount/mounted_files.h"

namespace ebb::mount {

namespace {

// What programs should read and write at a time: a packet of the write pipeline.
constexpr int kBlockBytes = 256 << 10;
constexpr std::uint64_t kUnitOfBlocks = 512;
constexpr unsigned long kSpaceUnit = 4096;
constexpr std::int64_t kMillis = 1000;
constexpr std::int64_t kNanosOfMilli = 1'000'000;
constexpr std::uint64_t kInSnapshot = std::uint64_t{1} << 62;
constexpr std::int64_t kKeep = -1;

timespec TimeOf(std::int64_t millis) {
  return {.tv_sec = millis / kMillis, .tv_nsec = millis % kMillis * kNanosOfMilli};
}

std::int64_t MillisOf(const timespec& time) {
  return time.tv_sec * kMillis + time.tv_nsec / kNanosOfMilli;
}

std::int64_t NowMillis() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::int64_t WantedTime(int which, int now, int given, const timespec& time) {
  if ((which & now) != 0) return NowMillis();
  return (which & given) != 0 ? MillisOf(time) : kKeep;
}

}  // namespace

struct stat MountedFiles::AttributesOf(const client::FileStatus& status, Node& node) {
  const auto writer = node.state().writer();
  const auto written = writer ? writer->open_length() : std::nullopt;
  const std::uint64_t length = written.value_or(status.length);
  node.state().Tell({.modified_millis = status.modified_millis, .length = length});
  struct stat attributes = {};
  attributes.st_ino = node.in_snapshot() ? node.id() | kInSnapshot : status.file_id;
  attributes.st_mode = (status.IsDirectory() ? S_IFDIR : S_IFREG) | status.mode;
  attributes.st_nlink = status.IsDirectory() ? 2 : 1;
  attributes.st_uid = users_.UserNumber(status.owner);
  attributes.st_gid = users_.GroupNumber(status.group);
  attributes.st_size = status.IsDirectory() ? 0 : static_cast<off_t>(length);
  attributes.st_blksize = kBlockBytes;
  attributes.st_blocks =
      static_cast<blkcnt_t>((static_cast<std::uint64_t>(attributes.st_size) + kUnitOfBlocks - 1) /
                            kUnitOfBlocks);
  attributes.st_mtim = TimeOf(status.modified_millis);
  attributes.st_ctim = attributes.st_mtim;
  attributes.st_atim =
      status.accessed_millis > 0 ? TimeOf(status.accessed_millis) : attributes.st_mtim;
  return attributes;
}

std::expected<client::FileStatus, int> MountedFiles::StatusOf(Node& node) {
  const auto path = nodes_.PathOf(node);
  if (!path) return std::unexpected(ESTALE);
  auto status = files_.Stat(*path);
  if (!status) {
    return std::unexpected(Tell(ErrorNumberOf(status.error()), *path, status.error()));
  }
  if (!*status) return std::unexpected(ENOENT);
  // Another file has the name now: the kernel looks it up again.
  if (node.id() != kRootNode && (*status)->file_id != node.file_id()) {
    return std::unexpected(ESTALE);
  }
  return std::move(**status);
}

int MountedFiles::AnswerAttributes(const CallPointer& call, Node& node) {
  const auto status = StatusOf(node);
  if (!status) return status.error();
  call->Attributes(AttributesOf(*status, node), options_.freshness.count());
  return 0;
}

void MountedFiles::GetAttributes(fuse_req_t request, NodeId node) {
  Do(Begin(request, "stat"), [this, node](const CallPointer& call) {
    const auto found = nodes_.Find(node);
    return found ? AnswerAttributes(call, *found) : ESTALE;
  });
}

void MountedFiles::SetAttributes(fuse_req_t request, NodeId node, const struct stat& wanted,
                                 int which) {
  const auto began = Begin(request, "a change of attributes");
  Do(began, [this, node, wanted, which](const CallPointer& call) {
    const auto found = nodes_.Find(node);
    const auto path = PathOf(node);
    if (!found || !path) return ESTALE;
    if ((which & FUSE_SET_ATTR_SIZE) != 0) {
      const int bad = ChangeLength(call, *found, static_cast<std::uint64_t>(wanted.st_size));
      if (bad != 0) return bad;
    }
    if ((which & FUSE_SET_ATTR_MODE) != 0) {
      const auto changed = files_.SetMode(*path, wanted.st_mode & 01777);
      if (!changed) {
        return Tell(ErrorNumberOfChange(changed.error()), "chmod of " + *path, changed.error());
      }
    }
    if (const int bad = ChangeOwner(*path, wanted, which)) return bad;
    if (const int bad = ChangeTimes(*found, *path, wanted, which)) return bad;
    return AnswerAttributes(call, *found);
  });
}

int MountedFiles::ChangeLength(const CallPointer& call, Node& node, std::uint64_t length) {
  const auto give_up = [&] { return call->answered(); };
  Status cut;
  std::string path = "a file";
  if (const auto writer = node.state().writer()) {
    cut = writer->SetLength(length, give_up);
  } else {
    const auto status = StatusOf(node);
    if (!status) return status.error();
    path = nodes_.PathOf(node).value_or(path);
    cut = CutFile(files_, path, status->length, length, give_up);
  }
  node.state().Cut();
  return cut ? 0 : Tell(ErrorNumberOf(cut.error()), "truncate of " + path, cut.error());
}

int MountedFiles::ChangeOwner(const std::string& path, const struct stat& wanted, int which) {
  std::string owner;
  std::string group;
  if ((which & FUSE_SET_ATTR_UID) != 0) {
    const auto name = users_.UserName(wanted.st_uid);
    if (!name) return EINVAL;
    owner = *name;
  }
  if ((which & FUSE_SET_ATTR_GID) != 0) {
    const auto name = users_.GroupName(wanted.st_gid);
    if (!name) return EINVAL;
    group = *name;
  }
  if (owner.empty() && group.empty()) return 0;
  const auto changed = files_.SetOwner(path, owner, group);
  if (changed) return 0;
  return Tell(ErrorNumberOfChange(changed.error()), "chown of " + path, changed.error());
}

int MountedFiles::ChangeTimes(Node& node, const std::string& path, const struct stat& wanted,
                              int which) {
  const auto accessed =
      WantedTime(which, FUSE_SET_ATTR_ATIME_NOW, FUSE_SET_ATTR_ATIME, wanted.st_atim);
  const auto modified =
      WantedTime(which, FUSE_SET_ATTR_MTIME_NOW, FUSE_SET_ATTR_MTIME, wanted.st_mtim);
  if (accessed == kKeep && modified == kKeep) return 0;
  // The end of a file that is written would set its time again.
  if (const auto writer = node.state().writer()) {
    const auto ended = writer->Complete(true);
    if (!ended) return Tell(ErrorNumberOf(ended.error()), path, ended.error());
  }
  auto changed = files_.SetTimes(path, modified, accessed);
  // A namenode of HDFS may keep no times of access.
  if (!changed && IsPlain(changed.error()) && modified != kKeep && accessed != kKeep) {
    changed = files_.SetTimes(path, modified, kKeep);
  }
  if (changed) return 0;
  return Tell(ErrorNumberOfChange(changed.error()), "a change of times of " + path,
              changed.error());
}

void MountedFiles::Statistics(fuse_req_t request) {
  Do(Begin(request, "statfs"), [this](const CallPointer& call) {
    const auto capacity = files_.Capacity();
    if (!capacity) return Tell(ErrorNumberOf(capacity.error()), "statfs", capacity.error());
    struct statvfs statistics = {};
    statistics.f_bsize = kSpaceUnit;
    statistics.f_frsize = kSpaceUnit;
    statistics.f_blocks = capacity->capacity() / kSpaceUnit;
    statistics.f_bfree = capacity->remaining() / kSpaceUnit;
    statistics.f_bavail = statistics.f_bfree;
    statistics.f_namemax = 255;
    call->Statistics(statistics);
    return 0;
  });
}

}  // namespace ebb::mount
