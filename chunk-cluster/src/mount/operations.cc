#include "mount/operations.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ebb::mount {

namespace {

MountedFiles& FilesOf(fuse_req_t request) {
  return static_cast<SessionData*>(fuse_req_userdata(request))->files;
}

void Start(void* data, fuse_conn_info* connection) {
  const auto& options = static_cast<SessionData*>(data)->options;
  connection->max_readahead =
      static_cast<unsigned>(std::min<std::uint64_t>(options.read_ahead_bytes, UINT32_MAX));
  // An open with O_TRUNC is one call. The kernel drops pages once it learns of another time or
  // length.
  connection->want |=
      connection->capable & (FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_AUTO_INVAL_DATA |
                             FUSE_CAP_ASYNC_READ | FUSE_CAP_PARALLEL_DIROPS);
  // Pages that the kernel writes when it likes come in no order.
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_WRITEBACK_CACHE);
}

void Look(fuse_req_t request, fuse_ino_t parent, const char* name) {
  FilesOf(request).Look(request, parent, name);
}

void Forget(fuse_req_t request, fuse_ino_t node, std::uint64_t lookups) {
  FilesOf(request).Forget(node, lookups);
  fuse_reply_none(request);
}

void ForgetMany(fuse_req_t request, std::size_t count, fuse_forget_data* forgets) {
  for (std::size_t i = 0; i < count; ++i) {
    FilesOf(request).Forget(forgets[i].ino, forgets[i].nlookup);
  }
  fuse_reply_none(request);
}

void GetAttributes(fuse_req_t request, fuse_ino_t node, fuse_file_info* /*info*/) {
  FilesOf(request).GetAttributes(request, node);
}

void SetAttributes(fuse_req_t request, fuse_ino_t node, struct stat* wanted, int which,
                   fuse_file_info* /*info*/) {
  FilesOf(request).SetAttributes(request, node, *wanted, which);
}

void MakeDirectory(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
  FilesOf(request).MakeDirectory(request, parent, name, mode);
}

void Remove(fuse_req_t request, fuse_ino_t parent, const char* name) {
  FilesOf(request).Remove(request, parent, name);
}

void Rename(fuse_req_t request, fuse_ino_t parent, const char* name, fuse_ino_t new_parent,
            const char* new_name, unsigned flags) {
  FilesOf(request).Rename(request, parent, name, new_parent, new_name, flags);
}

// What symlink(2), link(2) and mknod(2) say of a file system that has no such files.
void RefuseNode(fuse_req_t request, fuse_ino_t /*parent*/, const char* /*name*/, mode_t /*mode*/,
                dev_t /*device*/) {
  fuse_reply_err(request, EPERM);
}

void RefuseSymlink(fuse_req_t request, const char* /*target*/, fuse_ino_t /*parent*/,
                   const char* /*name*/) {
  fuse_reply_err(request, EPERM);
}

void RefuseLink(fuse_req_t request, fuse_ino_t /*node*/, fuse_ino_t /*parent*/,
                const char* /*name*/) {
  fuse_reply_err(request, EPERM);
}

void Open(fuse_req_t request, fuse_ino_t node, fuse_file_info* info) {
  FilesOf(request).Open(request, node, *info);
}

void Create(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode,
            fuse_file_info* info) {
  FilesOf(request).Create(request, parent, name, mode, *info);
}

void Read(fuse_req_t request, fuse_ino_t /*node*/, std::size_t size, off_t offset,
          fuse_file_info* info) {
  FilesOf(request).Read(request, info->fh, size, offset);
}

void Write(fuse_req_t request, fuse_ino_t /*node*/, const char* data, std::size_t size,
           off_t offset, fuse_file_info* info) {
  // A page of a mapping: the kernel sends it when it likes, and through any descriptor.
  if (info->writepage != 0) {
    fuse_reply_err(request, EOPNOTSUPP);
    return;
  }
  // A program may set and clear O_APPEND of an open file.
  const bool appends = (info->flags & O_APPEND) != 0;
  FilesOf(request).Write(request, info->fh, std::as_bytes(std::span(data, size)), offset, appends);
}

void Flush(fuse_req_t request, fuse_ino_t /*node*/, fuse_file_info* info) {
  FilesOf(request).Flush(request, info->fh);
}

void Sync(fuse_req_t request, fuse_ino_t /*node*/, int /*data_only*/, fuse_file_info* info) {
  FilesOf(request).Sync(request, info->fh);
}

void Close(fuse_req_t request, fuse_ino_t /*node*/, fuse_file_info* info) {
  FilesOf(request).Close(request, info->fh);
}

void OpenDirectoryOf(fuse_req_t request, fuse_ino_t node, fuse_file_info* info) {
  FilesOf(request).OpenDirectoryOf(request, node, *info);
}

void ReadNames(fuse_req_t request, fuse_ino_t /*node*/, std::size_t size, off_t offset,
               fuse_file_info* info) {
  FilesOf(request).ReadDirectory(request, info->fh, size, offset, false);
}

void ReadEntries(fuse_req_t request, fuse_ino_t /*node*/, std::size_t size, off_t offset,
                 fuse_file_info* info) {
  FilesOf(request).ReadDirectory(request, info->fh, size, offset, true);
}

void CloseDirectory(fuse_req_t request, fuse_ino_t /*node*/, fuse_file_info* info) {
  FilesOf(request).CloseDirectory(request, info->fh);
}

// The names of a directory are durable when the call that made them returns.
void SyncDirectory(fuse_req_t request, fuse_ino_t /*node*/, int /*data_only*/,
                   fuse_file_info* /*info*/) {
  fuse_reply_err(request, 0);
}

void Statistics(fuse_req_t request, fuse_ino_t /*node*/) { FilesOf(request).Statistics(request); }

void SetXAttr(fuse_req_t request, fuse_ino_t node, const char* name, const char* value,
              std::size_t size, int flags) {
  FilesOf(request).SetXAttr(request, node, name, std::string(value, size), flags);
}

void GetXAttr(fuse_req_t request, fuse_ino_t node, const char* name, std::size_t size) {
  FilesOf(request).GetXAttr(request, node, name, size);
}

void ListXAttrs(fuse_req_t request, fuse_ino_t node, std::size_t size) {
  FilesOf(request).ListXAttrs(request, node, size);
}

void RemoveXAttr(fuse_req_t request, fuse_ino_t node, const char* name) {
  FilesOf(request).RemoveXAttr(request, node, name);
}

fuse_lowlevel_ops MakeOperations() {
  fuse_lowlevel_ops operations = {};
  operations.init = Start;
  operations.lookup = Look;
  operations.forget = Forget;
  operations.forget_multi = ForgetMany;
  operations.getattr = GetAttributes;
  operations.setattr = SetAttributes;
  operations.mkdir = MakeDirectory;
  operations.unlink = Remove;
  operations.rmdir = Remove;
  operations.rename = Rename;
  operations.mknod = RefuseNode;
  operations.symlink = RefuseSymlink;
  operations.link = RefuseLink;
  operations.open = Open;
  operations.create = Create;
  operations.read = Read;
  operations.write = Write;
  operations.flush = Flush;
  operations.fsync = Sync;
  operations.release = Close;
  operations.opendir = OpenDirectoryOf;
  operations.readdir = ReadNames;
  operations.readdirplus = ReadEntries;
  operations.releasedir = CloseDirectory;
  operations.fsyncdir = SyncDirectory;
  operations.statfs = Statistics;
  operations.setxattr = SetXAttr;
  operations.getxattr = GetXAttr;
  operations.listxattr = ListXAttrs;
  operations.removexattr = RemoveXAttr;
  return operations;
}

}  // namespace

const fuse_lowlevel_ops& Operations() {
  static const fuse_lowlevel_ops operations = MakeOperations();
  return operations;
}

}  // namespace ebb::mount
