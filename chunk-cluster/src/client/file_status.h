// What a namenode tells of a file or directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/erasure_policy.h"
#include "common/error.h"
#include "hdfs.pb.h"

namespace ebb::client {

enum class FileKind : std::uint8_t { kDirectory, kFile, kSymlink };

struct FileStatus {
  // The last part of the path; empty for the path that was asked for.
  std::string name;
  FileKind kind = FileKind::kFile;
  std::uint64_t length = 0;
  // The low 10 bits: sticky bit and rights.
  std::uint32_t mode = 0;
  std::string owner;
  std::string group;
  std::int64_t modified_millis = 0;
  std::int64_t accessed_millis = 0;
  std::uint32_t replication = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t file_id = 0;
  bool has_acl = false;
  bool encrypted = false;
  // Whether snapshots of the directory may be taken.
  bool snapshottable = false;
  // The policy of HDFS by which clients encode the file, or the files of the directory.
  std::optional<ErasurePolicy> erasure;

  [[nodiscard]] bool IsDirectory() const { return kind == FileKind::kDirectory; }
};

// kUnsupported if clients encrypt the file, or the files of the directory, or encode them by a
// codec that this client does not know.
[[nodiscard]] Status CheckWritable(const std::string& path, const FileStatus& status);

[[nodiscard]] FileStatus ToFileStatus(const hadoop::hdfs::HdfsFileStatusProto& proto);

// "rwxr-xr-x", with t or T at the end for the sticky bit.
[[nodiscard]] std::string ModeText(std::uint32_t mode);

}  // namespace ebb::client
