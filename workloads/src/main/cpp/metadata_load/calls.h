// The calls of HDFS's ClientProtocol that the rows make, encoded ahead of time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/error.h"
#include "hdfs.pb.h"

namespace ebb::metadata_load {

// A call without its RPC header: the name of the method and the request, both with their lengths.
// The same call may be sent many times; each time has a call id of its own.
struct Call {
  std::string bytes;
};

[[nodiscard]] Call GetFileInfo(const std::string& path);
// As a stock client opens a file: the locations of its first ten blocks.
[[nodiscard]] Call GetBlockLocations(const std::string& path);
// The first page.
[[nodiscard]] Call GetListing(const std::string& path);
[[nodiscard]] Call Mkdirs(const std::string& path);
// The defaults of a stock client, and HDFS's least size of a block.
inline constexpr std::uint32_t kDefaultReplication = 3;
inline constexpr std::uint64_t kDefaultBlockBytes = std::uint64_t{128} << 20;
inline constexpr std::uint64_t kLeastBlockBytes = std::uint64_t{1} << 20;
// As FileSystem.create(path) of a stock client asks for it: an older file is replaced.
[[nodiscard]] Call Create(const std::string& path, const std::string& client);
// The same of a file that will have small blocks.
[[nodiscard]] Call CreateSmall(const std::string& path, const std::string& client,
                               std::uint32_t replication);
// The first block of a file.
[[nodiscard]] Call AddBlock(const std::string& path, const std::string& client,
                            std::uint64_t file_id);
// Of a file without blocks.
[[nodiscard]] Call Complete(const std::string& path, const std::string& client,
                            std::uint64_t file_id);
// Of a file whose last block is `last`, with its length.
[[nodiscard]] Call CompleteWithBlock(const std::string& path, const std::string& client,
                                     std::uint64_t file_id,
                                     const hadoop::hdfs::ExtendedBlockProto& last);
[[nodiscard]] Call Rename2(const std::string& from, const std::string& to);
[[nodiscard]] Call Delete(const std::string& path, bool recursive);
[[nodiscard]] Call SetPermission(const std::string& path, std::uint32_t mode);
[[nodiscard]] Call SetReplication(const std::string& path, std::uint32_t replication);
[[nodiscard]] Call SetOwner(const std::string& path, const std::string& owner);
// Enters or leaves the safe mode.
[[nodiscard]] Call SetSafeMode(bool enter);
// Asks for an image of the whole namespace; in safe mode only.
[[nodiscard]] Call SaveNamespace();

// The id of the file in the answer of `create`; 0 if the answer has none.
[[nodiscard]] std::uint64_t CreatedFileId(std::string_view answer);
// The block in the answer of `addBlock`.
[[nodiscard]] Result<hadoop::hdfs::LocatedBlockProto> AddedBlock(std::string_view answer);
// The `result` of complete, delete, mkdirs and setReplication.
[[nodiscard]] bool IsTrue(std::string_view answer);

}  // namespace ebb::metadata_load
