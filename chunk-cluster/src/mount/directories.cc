// Listing directories.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include "mount/error_number.h"
#include "mount/mounted_files.h"

namespace ebb::mount {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
// "." and ".." come before the entries.
constexpr off_t kDots = 2;

// Collects entries as the kernel wants them, up to the room that there is.
class EntryBuffer {
 public:
  EntryBuffer(fuse_req_t request, std::size_t room, bool with_attributes)
      : request_(request),
        buffer_(std::min(room, kMostBytes)),
        with_attributes_(with_attributes) {}

  // False if there is no room for it.
  bool Add(const std::string& name, const fuse_entry_param& entry, off_t next) {
    char* to = buffer_.data() + used_;
    const std::size_t room = buffer_.size() - used_;
    const std::size_t size =
        with_attributes_ ? fuse_add_direntry_plus(request_, to, room, name.c_str(), &entry, next)
                         : fuse_add_direntry(request_, to, room, name.c_str(), &entry.attr, next);
    if (size > room) return false;
    used_ += size;
    return true;
  }

  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span(buffer_).first(used_));
  }

 private:
  const fuse_req_t request_;
  std::vector<char> buffer_;
  const bool with_attributes_;
  std::size_t used_ = 0;
};

// Number 0 tells the kernel that nothing is known of the node.
fuse_entry_param Unknown(bool directory, std::uint64_t file_id) {
  fuse_entry_param entry = {};
  entry.attr.st_ino = file_id;
  entry.attr.st_mode = directory ? S_IFDIR : S_IFREG;
  return entry;
}

}  // namespace

void MountedFiles::OpenDirectoryOf(fuse_req_t request, NodeId node, const fuse_file_info& info) {
  const auto found = nodes_.Find(node);
  if (!found || stopping_) {
    fuse_reply_err(request, found ? ESHUTDOWN : ESTALE);
    return;
  }
  auto directory = std::make_shared<OpenDirectory>();
  directory->node = found;
  directory->strand = std::make_shared<Strand>();
  directory->cursor = std::make_unique<DirectoryCursor>(
      [this, found](const std::string& after) -> Result<client::Listing> {
        const auto path = nodes_.PathOf(*found);
        if (!path) return Fail(ErrorCode::kNotFound, "the directory was removed");
        return files_.ListAfter(*path, after);
      });
  fuse_file_info opened = info;
  opened.fh = open_directories_.Add(directory);
  if (opened.fh == 0) {
    log_.Write(fmt::format("{} directories are open, no more are allowed (-o open_files)",
                           options_.open_files));
    fuse_reply_err(request, ENFILE);
    return;
  }
  if (fuse_reply_open(request, &opened) != 0) open_directories_.Take(opened.fh);
}

void MountedFiles::ReadDirectory(fuse_req_t request, std::uint64_t handle, std::size_t room,
                                 off_t from, bool with_attributes) {
  const auto directory = open_directories_.Find(handle);
  if (!directory) {
    fuse_reply_err(request, EBADF);
    return;
  }
  Do(Begin(request, "the listing of a directory"), directory->strand,
     [this, directory, room, from, with_attributes](const CallPointer& call) {
       return AddEntries(call, *directory, room, from, with_attributes);
     });
}

int MountedFiles::AddEntries(const CallPointer& call, OpenDirectory& directory, std::size_t room,
                             off_t from, bool with_attributes) {
  EntryBuffer buffer(call->request(), room, with_attributes);
  std::vector<NodeId> looked;
  int bad = 0;
  if (from == 0) directory.cursor->Rewind();
  for (off_t at = from;; ++at) {
    if (at < kDots) {
      const auto dot = Unknown(true, directory.node->file_id());
      if (!buffer.Add(at == 0 ? "." : "..", dot, at + 1)) break;
      continue;
    }
    const auto entry = directory.cursor->At(static_cast<std::uint64_t>(at - kDots));
    if (!entry) bad = Tell(ErrorNumberOf(entry.error()), "a listing", entry.error());
    if (!entry || *entry == nullptr) break;
    const client::FileStatus& status = **entry;
    // The kernel asks for old attributes when it needs them.
    const auto age = std::chrono::steady_clock::now() - directory.cursor->fetched();
    if (!with_attributes || age > options_.freshness) {
      if (!buffer.Add(status.name, Unknown(status.IsDirectory(), status.file_id), at + 1)) break;
      continue;
    }
    const auto node = nodes_.Look(directory.node, status.name, status.file_id);
    if (!buffer.Add(status.name, EntryOf(status, node), at + 1)) {
      nodes_.Forget(node->id(), 1);
      break;
    }
    looked.push_back(node->id());
  }
  // The next call meets the error again, if there are entries before it.
  if (bad != 0 && buffer.bytes().empty()) return bad;
  if (!call->Data(buffer.bytes())) {
    for (const auto id : looked) nodes_.Forget(id, 1);
  }
  return 0;
}

void MountedFiles::CloseDirectory(fuse_req_t request, std::uint64_t handle) {
  open_directories_.Take(handle);
  fuse_reply_err(request, 0);
}

}  // namespace ebb::mount
