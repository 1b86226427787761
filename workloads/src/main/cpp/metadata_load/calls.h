// The calls of HDFS's ClientProtocol that the rows make, encoded ahead of time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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
// As FileSystem.create(path) of a stock client asks for it: an older file is replaced.
[[nodiscard]] Call Create(const std::string& path, const std::string& client);
// Of a file without blocks.
[[nodiscard]] Call Complete(const std::string& path, const std::string& client,
                            std::uint64_t file_id);
[[nodiscard]] Call Rename2(const std::string& from, const std::string& to);
[[nodiscard]] Call Delete(const std::string& path, bool recursive);
[[nodiscard]] Call SetPermission(const std::string& path, std::uint32_t mode);
[[nodiscard]] Call SetReplication(const std::string& path, std::uint32_t replication);
[[nodiscard]] Call SetOwner(const std::string& path, const std::string& owner);

// The id of the file in the answer of `create`; 0 if the answer has none.
[[nodiscard]] std::uint64_t CreatedFileId(std::string_view answer);
// The `result` of complete, delete, mkdirs and setReplication.
[[nodiscard]] bool IsTrue(std::string_view answer);

}  // namespace ebb::metadata_load
