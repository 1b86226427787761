// Lookups, and what makes, removes and renames names.
#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "client/text.h"
#include "mount/error_number.h"
#include "mount/mounted_files.h"

namespace ebb::mount {

namespace {

// Of <linux/fs.h>, which contradicts other headers.
constexpr unsigned kNoReplace = 1;

}  // namespace

void MountedFiles::Look(fuse_req_t request, NodeId parent, const char* name) {
  Do(Begin(request, fmt::format("the lookup of {}", name)),
     [this, parent, name = std::string(name)](const CallPointer& call) {
       if (const int bad = CheckName(name)) return bad;
       const auto directory = nodes_.Find(parent);
       const auto path = PathOf(parent, name);
       if (!directory || !path) return ESTALE;
       const auto status = files_.Stat(*path);
       if (!status) return Tell(ErrorNumberOf(status.error()), *path, status.error());
       if (!*status) return ENOENT;
       return AnswerEntry(call, directory, name, **status);
     });
}

int MountedFiles::AnswerEntry(const CallPointer& call, const NodePointer& parent,
                              const std::string& name, const client::FileStatus& status) {
  const auto node = nodes_.Look(parent, name, status.file_id);
  if (!call->Entry(EntryOf(status, node))) nodes_.Forget(node->id(), 1);
  return 0;
}

fuse_entry_param MountedFiles::EntryOf(const client::FileStatus& status, const NodePointer& node) {
  fuse_entry_param entry = {};
  entry.ino = node->id();
  entry.attr = AttributesOf(status, *node);
  entry.attr_timeout = options_.freshness.count();
  entry.entry_timeout = options_.freshness.count();
  return entry;
}

void MountedFiles::MakeDirectory(fuse_req_t request, NodeId parent, const char* name,
                                 mode_t mode) {
  Do(Begin(request, fmt::format("mkdir of {}", name)),
     [this, parent, mode, name = std::string(name)](const CallPointer& call) {
       if (const int bad = CheckName(name)) return bad;
       const auto directory = nodes_.Find(parent);
       const auto path = PathOf(parent, name);
       if (!directory || !path) return ESTALE;
       const auto made = files_.MakeDirectory(*path, false, mode & 01777);
       if (!made) return Tell(ErrorNumberOf(made.error()), "mkdir of " + *path, made.error());
       const auto status = files_.Stat(*path);
       if (!status) return Tell(ErrorNumberOf(status.error()), *path, status.error());
       if (!*status) return ENOENT;
       return AnswerEntry(call, directory, name, **status);
     });
}

void MountedFiles::Remove(fuse_req_t request, NodeId parent, const char* name) {
  Do(Begin(request, fmt::format("the removal of {}", name)),
     [this, parent, name = std::string(name)](const CallPointer& call) {
       if (const int bad = CheckName(name)) return bad;
       const auto directory = nodes_.Find(parent);
       const auto path = PathOf(parent, name);
       if (!directory || !path) return ESTALE;
       const auto removed = files_.Remove(*path, false);
       if (!removed) {
         return Tell(ErrorNumberOf(removed.error()), "the removal of " + *path, removed.error());
       }
       nodes_.Remove(directory, name);
       if (!*removed) return ENOENT;
       call->Error(0);
       return 0;
     });
}

void MountedFiles::Rename(fuse_req_t request, NodeId parent, const char* name, NodeId new_parent,
                          const char* new_name, unsigned flags) {
  Do(Begin(request, fmt::format("the renaming of {} to {}", name, new_name)),
     [this, parent, new_parent, flags, name = std::string(name),
      new_name = std::string(new_name)](const CallPointer& call) {
       if ((flags & ~kNoReplace) != 0) return EINVAL;
       if (const int bad = CheckName(new_name)) return bad;
       const auto from = nodes_.Find(parent);
       const auto to = nodes_.Find(new_parent);
       const auto path = PathOf(parent, name);
       const auto new_path = PathOf(new_parent, new_name);
       if (!from || !to || !path || !new_path) return ESTALE;
       const auto renamed = files_.Rename(*path, *new_path, (flags & kNoReplace) == 0);
       if (!renamed) return RenameError(*path, *new_path, renamed.error());
       nodes_.Rename(from, name, to, new_name);
       call->Error(0);
       return 0;
     });
}

int MountedFiles::RenameError(const std::string& from, const std::string& to, const Error& error) {
  // HDFS says that a directory has entries by a plain exception.
  if (IsPlain(error)) {
    const auto status = files_.Stat(to);
    if (status && *status && (*status)->IsDirectory()) {
      const auto listing = files_.ListAfter(to, "");
      if (listing && !listing->entries.empty()) return ENOTEMPTY;
    }
  }
  return Tell(ErrorNumberOf(error), fmt::format("the renaming of {} to {}", from, to), error);
}

int MountedFiles::CheckName(const std::string& name) {
  if (name.size() > 255) return ENAMETOOLONG;
  return client::IsUtf8(name) ? 0 : EILSEQ;
}

}  // namespace ebb::mount
