// Opening, creating and closing files.
#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "mount/error_number.h"
#include "mount/mounted_files.h"

namespace ebb::mount {

namespace {

bool Reads(int flags) { return (flags & O_ACCMODE) != O_WRONLY; }
bool Writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }

}  // namespace

void MountedFiles::Open(fuse_req_t request, NodeId node, const fuse_file_info& info) {
  Do(Begin(request, "an open"), [this, node, info](const CallPointer& call) {
    const auto found = nodes_.Find(node);
    if (!found) return ESTALE;
    fuse_file_info opened = info;
    std::shared_ptr<OpenFile> file;
    if (const int bad = OpenNode(call, found, opened, file)) return bad;
    if (!call->Opened(opened)) Drop(*file, opened.fh);
    return 0;
  });
}

int MountedFiles::OpenNode(const CallPointer& call, const NodePointer& node, fuse_file_info& info,
                           std::shared_ptr<OpenFile>& opened) {
  if (stopping_) return ESHUTDOWN;
  auto& state = node->state();
  auto version = state.Known(options_.freshness);
  if (!version || Writes(info.flags)) {
    const auto status = StatusOf(*node);
    if (!status) return status.error();
    version = Version{.modified_millis = status->modified_millis, .length = status->length};
    if (!state.writer()) state.Tell(*version);
  }
  auto file = std::make_shared<OpenFile>();
  file->node = node;
  if (Reads(info.flags)) file->reader = std::make_unique<FileReader>(files_);
  if (Writes(info.flags)) {
    file->strand = state.strand();
    if (const int bad = PrepareWriter(call, *file, info.flags, version->length)) return bad;
  } else {
    file->strand = std::make_shared<Strand>();
    const auto ready = PrepareReader(*file, 0);
    if (!ready) return Tell(ErrorNumberOf(ready.error()), "an open", ready.error());
    info.noflush = true;
    info.keep_cache = PagesAreRight(*file, *version);
  }
  info.fh = AddFile(file);
  if (info.fh == 0) {
    (void)Release(*file);
    return ENFILE;
  }
  opened = std::move(file);
  return 0;
}

bool MountedFiles::PagesAreRight(OpenFile& file, const Version& version) {
  auto& state = file.node->state();
  if (state.writer()) return false;
  if (file.reader->length() != version.length) {
    // The kernel believes in another length: it asks again before it reads.
    if (auto* const session = session_.load()) {
      fuse_lowlevel_notify_inval_inode(session, file.node->id(), -1, 0);
    }
    return false;
  }
  return state.HasPagesOf(version);
}

std::uint64_t MountedFiles::AddFile(const std::shared_ptr<OpenFile>& file) {
  const auto number = open_files_.Add(file);
  if (number == 0) {
    log_.Write(fmt::format("{} files are open, no more are allowed (-o open_files)",
                           options_.open_files));
  }
  return number;
}

FileWriterPointer MountedFiles::UseWriter(const NodePointer& node, std::uint64_t length) {
  return node->state().UseWriter([&] {
    // Not the node itself: it owns the writer.
    const std::weak_ptr<Node> weak = node;
    return std::make_shared<FileWriter>(
        files_, dirty_,
        [this, weak]() -> std::optional<std::string> {
          const auto present = weak.lock();
          return present ? nodes_.PathOf(*present) : std::nullopt;
        },
        node->file_id(), length);
  });
}

int MountedFiles::PrepareWriter(const CallPointer& call, OpenFile& file, int flags,
                                std::uint64_t length) {
  file.writer = UseWriter(file.node, length);
  Status ready;
  if ((flags & O_TRUNC) != 0) {
    ready = file.writer->SetLength(0, [&] { return call->answered(); });
    file.node->state().Cut();
  }
  if (ready && (flags & O_APPEND) != 0) ready = file.writer->Open();
  if (ready) return 0;
  const int number = Tell(ErrorNumberOf(ready.error()), "an open for writing", ready.error());
  (void)Release(file);
  return number;
}

void MountedFiles::Create(fuse_req_t request, NodeId parent, const char* name, mode_t mode,
                          const fuse_file_info& info) {
  Do(Begin(request, fmt::format("the creation of {}", name)),
     [this, parent, mode, info, name = std::string(name)](const CallPointer& call) {
       return CreateFile(call, parent, name, mode, info);
     });
}

int MountedFiles::CreateFile(const CallPointer& call, NodeId parent, const std::string& name,
                             mode_t mode, fuse_file_info info) {
  if (stopping_) return ESHUTDOWN;
  if (const int bad = CheckName(name)) return bad;
  const auto directory = nodes_.Find(parent);
  const auto path = PathOf(parent, name);
  if (!directory || !path) return ESTALE;
  client::CreateOptions options;
  options.make_parents = false;
  options.mode = mode & 01777;
  auto stream = files_.Create(*path, options);
  if (!stream) {
    const int number = ErrorNumberOf(stream.error());
    if (number == EEXIST && (info.flags & O_EXCL) == 0) {
      return OpenPresent(call, directory, name, info);
    }
    return Tell(number, "the creation of " + *path, stream.error());
  }
  const auto status = (*stream)->opened();
  const auto node = nodes_.Look(directory, name, status.file_id);
  auto file = std::make_shared<OpenFile>();
  file->node = node;
  file->strand = node->state().strand();
  if (Reads(info.flags)) file->reader = std::make_unique<FileReader>(files_);
  file->writer = UseWriter(node, 0);
  file->writer->Adopt(std::move(*stream));
  info.fh = AddFile(file);
  if (info.fh == 0) {
    (void)Release(*file);
    nodes_.Forget(node->id(), 1);
    return ENFILE;
  }
  AnswerCreated(call, status, *file, info);
  return 0;
}

int MountedFiles::OpenPresent(const CallPointer& call, const NodePointer& parent,
                              const std::string& name, fuse_file_info info) {
  const auto path = nodes_.PathOf(*parent, name);
  if (!path) return ESTALE;
  const auto status = files_.Stat(*path);
  if (!status) return Tell(ErrorNumberOf(status.error()), *path, status.error());
  if (!*status) return ENOENT;
  if ((*status)->IsDirectory()) return EISDIR;
  const auto node = nodes_.Look(parent, name, (*status)->file_id);
  std::shared_ptr<OpenFile> file;
  if (const int bad = OpenNode(call, node, info, file)) {
    nodes_.Forget(node->id(), 1);
    return bad;
  }
  AnswerCreated(call, **status, *file, info);
  return 0;
}

void MountedFiles::AnswerCreated(const CallPointer& call, const client::FileStatus& status,
                                 OpenFile& file, const fuse_file_info& info) {
  if (call->Created(EntryOf(status, file.node), info)) return;
  Drop(file, info.fh);
  nodes_.Forget(file.node->id(), 1);
}

void MountedFiles::Drop(OpenFile& file, std::uint64_t number) {
  open_files_.Take(number);
  (void)Release(file);
}

Status MountedFiles::Release(OpenFile& file) {
  if (!file.writer) return {};
  auto ended = file.writer->EndSafely();
  file.node->state().ReleaseWriter();
  return ended;
}

void MountedFiles::Close(fuse_req_t request, std::uint64_t handle) {
  const auto file = open_files_.Take(handle);
  if (!file) {
    fuse_reply_err(request, EBADF);
    return;
  }
  const auto call = Begin(request, "a close");
  // Even if the deadline has passed before: nobody else gives back what the file holds.
  pool_.Post(file->strand, [this, call, file] {
    const auto ended = Release(*file);
    if (!ended) log_.Write(fmt::format("a file was not ended: {}", ended.error().message));
    call->Error(0);
  });
}

}  // namespace ebb::mount
