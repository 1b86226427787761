// Reading a file.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>

#include "client/block_locations.h"
#include "client/configuration.h"
#include "client/group_reader.h"
#include "client/namenode_connection.h"
#include "client/range_reader.h"
#include "client/read_planner.h"
#include "common/error.h"
#include "common/socket.h"
#include "transfer/idle_sockets.h"

namespace ebb::client {

struct ReadOptions {
  // Blocks of so many bytes are asked for at a time.
  std::uint64_t prefetch_bytes = 0;
  // How often new locations are asked for, after all servers of a block have failed.
  int most_failures = 3;
  // The wait before that: so long the first time, twice as long the second time, and so on.
  Timeout failure_wait = std::chrono::milliseconds(500);
  // Null: blocks are not decoded here, but by proxies. Outlives the streams.
  ReadPlanner* planner = nullptr;
  // Null: each read has a connection of its own. Outlives the streams.
  transfer::IdleSockets* idle = nullptr;
  // After so long without bytes from a server, the stream decodes: the rest of a block beside its
  // server, or the cells of a block group instead of their server. 0: never.
  Timeout straggler = Timeout(0);
};

// What a stream has read from servers.
struct ReadCounts {
  std::uint64_t bytes = 0;
  // Those of servers on this machine.
  std::uint64_t local_bytes = 0;
  // Bytes that this client has decoded.
  std::uint64_t decoded_bytes = 0;
};

[[nodiscard]] Result<ReadOptions> ReadOptionsOf(const Configuration& configuration);

// One thread at a time, except for Cancel(). A server that fails is not asked for this file again,
// unless all servers of a block have failed; wrong bytes are told to the namenode. The bytes that
// are returned agree with the checksums of their writer, or are decoded from bytes that do. If no
// server that holds a member of a stripe can be read, the stream decodes the block, and if that
// fails, too, or if too many streams of the process decode, it reads a proxy. A stream decodes once
// at a time, with the threads and the memory of a DecodedReader and one thread more. Of a file that
// clients encode it holds two rows of cells: see GroupReader.
class InputStream {
 public:
  [[nodiscard]] static Result<std::unique_ptr<InputStream>> Open(NamenodeConnection& namenode,
                                                                 const std::string& path,
                                                                 const ReadOptions& options);
  ~InputStream();

  // The next bytes, at most `most`; none at the end of the file. They are valid until the next
  // call. A server streams a whole block, so that the bytes that follow are under way meanwhile.
  [[nodiscard]] Result<std::span<const std::byte>> Next(std::size_t most);
  // Fills `out` unless the file ends before: returns how many bytes there are.
  [[nodiscard]] Result<std::size_t> Read(std::span<std::byte> out);
  // The same at an offset. Does not move the position; asks for these bytes only.
  [[nodiscard]] Result<std::size_t> ReadAt(std::uint64_t offset, std::span<std::byte> out);
  // kInvalid beyond the end.
  [[nodiscard]] Status Seek(std::uint64_t offset);

  // A stream of the same file, at its begin, with the locations that this one knows. Another thread
  // may use it.
  [[nodiscard]] std::unique_ptr<InputStream> Another() const;
  // Ends the connection to the server. The next read makes a new one.
  void Unbuffer() {
    Replace(nullptr);
    ReplaceGroup(nullptr);
  }

  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] std::uint64_t length() const { return locations_.length(); }

  [[nodiscard]] const ReadCounts& counts() const { return counts_; }

  // Makes running and later reads fail with kShutdown. Thread-safe.
  void Cancel();

 private:
  InputStream(NamenodeConnection& namenode, std::string path, const ReadOptions& options,
              BlockLocations locations);
  // A reader at `offset` of the file, up to `end` of the file or to the end of the block.
  [[nodiscard]] Status Connect(std::uint64_t offset, std::uint64_t end);
  // The index in block_ of the first server that is not shunned, or the number of servers.
  [[nodiscard]] int NextLocation() const;
  [[nodiscard]] bool MayDecode() const;
  [[nodiscard]] std::unique_ptr<RangeReader> ReaderAt(int location, BlockRange range) const;
  void Replace(std::unique_ptr<RangeReader> reader);
  // After an error of the server that is read: shuns it, or forgets all locations once all servers
  // of the block are shunned. The error, if there is no hope.
  [[nodiscard]] Status GoOn(const Error& error);
  // Waits and forgets all locations, so that the namenode is asked again; the error, if there is no
  // hope.
  [[nodiscard]] Status AskAgain(const Error& error);
  // Returns after this time, or as soon as the stream is cancelled.
  void AwaitCancel(Timeout most);
  // Whatever was learnt of servers.
  void ForgetServers();
  void TellOfCorruption();
  void Report(const hadoop::hdfs::LocatedBlockProto& replica);
  // At most `most` bytes at `offset` of a file that clients encode; servers send up to `end`.
  [[nodiscard]] Result<std::span<const std::byte>> FromGroup(std::uint64_t offset,
                                                             std::uint64_t end, std::size_t most);
  [[nodiscard]] Result<std::size_t> ReadGroupsAt(std::uint64_t offset, std::span<std::byte> out);
  void ReplaceGroup(std::unique_ptr<GroupReader> group);
  void Count(std::size_t bytes);
  [[nodiscard]] Status Cancelled() const;

  NamenodeConnection& namenode_;
  const std::string path_;
  const ReadOptions options_;
  BlockLocations locations_;
  std::uint64_t position_ = 0;
  // The block and the server that are read.
  hadoop::hdfs::LocatedBlockProto block_;
  hadoop::hdfs::DatanodeInfoProto server_;
  // Where the reader's next byte is in the file.
  std::uint64_t reader_at_ = 0;
  std::set<std::string> shunned_;
  // Instead, if clients encode the file.
  FailedHolders failed_holders_;
  // Whether the block is decoded from the beginning; there is no server then.
  bool decodes_ = false;
  // The last block that could not be decoded. Proxies read it.
  std::uint64_t undecodable_ = 0;
  int failures_ = 0;
  ReadCounts counts_;
  // Whether the server is on this machine.
  bool local_ = false;
  // What the last shunned server did.
  std::string last_failure_;
  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;
  std::condition_variable cancelling_;
  std::unique_ptr<RangeReader> reader_;
  // Instead of a reader, if clients encode the file.
  std::unique_ptr<GroupReader> group_;
};

}  // namespace ebb::client
