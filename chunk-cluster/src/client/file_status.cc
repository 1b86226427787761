#include "client/file_status.h"

#include <fmt/format.h>

namespace ebb::client {

using hadoop::hdfs::HdfsFileStatusProto;

ebb::Status CheckWritable(const std::string& path, const FileStatus& status) {
  if (status.encrypted) {
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format("clients encrypt {}, which this client cannot do; use 'hdfs dfs'", path));
  }
  return status.erasure ? CheckKnown(*status.erasure, path) : ebb::Status();
}

FileStatus ToFileStatus(const HdfsFileStatusProto& proto) {
  FileStatus status;
  status.name = proto.path();
  status.kind = proto.filetype() == HdfsFileStatusProto::IS_DIR       ? FileKind::kDirectory
                : proto.filetype() == HdfsFileStatusProto::IS_SYMLINK ? FileKind::kSymlink
                                                                      : FileKind::kFile;
  status.length = proto.length();
  status.mode = proto.permission().perm() & 01777;
  status.owner = proto.owner();
  status.group = proto.group();
  status.modified_millis = static_cast<std::int64_t>(proto.modification_time());
  status.accessed_millis = static_cast<std::int64_t>(proto.access_time());
  status.replication = proto.block_replication();
  status.block_bytes = proto.blocksize();
  status.file_id = proto.fileid();
  status.has_acl = (proto.flags() & HdfsFileStatusProto::HAS_ACL) != 0;
  status.encrypted = proto.has_fileencryptioninfo();
  status.snapshottable = (proto.flags() & HdfsFileStatusProto::SNAPSHOT_ENABLED) != 0;
  if (proto.has_ecpolicy()) status.erasure = ToErasurePolicy(proto.ecpolicy());
  return status;
}

std::string ModeText(std::uint32_t mode) {
  std::string text;
  for (int shift = 6; shift >= 0; shift -= 3) {
    text += (mode >> shift & 4) != 0 ? 'r' : '-';
    text += (mode >> shift & 2) != 0 ? 'w' : '-';
    text += (mode >> shift & 1) != 0 ? 'x' : '-';
  }
  if ((mode & 01000) != 0) text.back() = text.back() == 'x' ? 't' : 'T';
  return text;
}

}  // namespace ebb::client
