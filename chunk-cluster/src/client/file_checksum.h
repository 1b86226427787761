// The checksum of a whole file, as HDFS composes it from those of its blocks.
#pragma once

#include <string>

#include "client/file_system.h"
#include "common/error.h"

namespace ebb::client {

struct FileChecksum {
  // "MD5-of-1MD5-of-512CRC32C".
  std::string algorithm;
  std::string hex;
};

// MD5 over the MD5s of the blocks, each over the checksums of the block's chunks; the MD5 of a
// block group is over those of its data blocks. The servers compute the MD5s; no data move to the
// client. The next server of a block is asked if one fails.
[[nodiscard]] Result<FileChecksum> ChecksumOf(FileSystem& files, const std::string& path);

}  // namespace ebb::client
