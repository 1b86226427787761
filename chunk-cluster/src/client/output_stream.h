// Writing a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "client/block_writer.h"
#include "client/configuration.h"
#include "client/file_status.h"
#include "client/lease_renewer.h"
#include "client/namenode_connection.h"
#include "client/striped_writer.h"
#include "common/error.h"

namespace ebb::client {

struct WriteOptions {
  format::Checksum checksum;
  // Bytes of data in a packet.
  std::size_t packet_bytes = 0;
  // How often another block is asked for, if a server of a new block refuses.
  int most_retries = 3;
  ReplacementPolicy replacement;
  // Told of the path after each call of a stream that may change what the namenode tells of the
  // file.
  std::function<void(const std::string& path)> changed = {};
};

[[nodiscard]] Result<WriteOptions> WriteOptionsOf(const Configuration& configuration);

// One thread at a time. The lease of the file is renewed by a thread of the file system. After an
// error the stream accepts no more bytes. A stream that is destroyed before Close leaves an open
// file, which the namenode closes once the lease has expired.
class OutputStream {
 public:
  // `file` as create or append has answered; `last` is the block that an append continues. A file
  // that CheckWritable refuses, or whose cells the checksums do not divide, can be closed, but a
  // byte of it is refused.
  [[nodiscard]] static Result<std::unique_ptr<OutputStream>> Start(
      NamenodeConnection& namenode, LeaseRenewer& leases, const std::string& path,
      const FileStatus& file, const std::optional<hadoop::hdfs::LocatedBlockProto>& last,
      const WriteOptions& options);
  ~OutputStream();
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  [[nodiscard]] Status Write(std::span<const std::byte> data);
  // Returns when all servers have the bytes: readers that open the file see them. As in HDFS, Flush
  // and Sync of a file that clients encode do nothing, and readers see a group of its blocks when
  // the group has ended.
  [[nodiscard]] Status Flush() { return FlushOrSync(false); }
  // Returns when all servers have the bytes, for a writer that wants no more of them under way. It
  // promises readers nothing, so that the block needs another server no sooner than without it; see
  // ReplacementPolicy.
  [[nodiscard]] Status Drain();
  // Returns when the bytes are on the disks of all servers.
  [[nodiscard]] Status Sync() { return FlushOrSync(true); }
  // Returns when the file is complete at the namenode.
  [[nodiscard]] Status Close();

  // What the namenode told of the file when it was opened for writing.
  [[nodiscard]] const FileStatus& opened() const { return opened_; }
  // Of the file, with what was written so far.
  [[nodiscard]] std::uint64_t length() const {
    return finished_bytes_ + (striped_ ? striped_->length() : offset_);
  }

 private:
  OutputStream(NamenodeConnection& namenode, LeaseRenewer& leases, WrittenFile file,
               const WriteOptions& options);
  [[nodiscard]] Status Guarded(Status status);
  [[nodiscard]] Status WriteBytes(std::span<const std::byte> data);
  [[nodiscard]] Status FlushOrSync(bool sync);
  [[nodiscard]] Status FlushBytes(bool sync);
  [[nodiscard]] Status DrainBytes();
  [[nodiscard]] Status PersistLength();
  [[nodiscard]] Status Finish();
  // The bytes that a packet from the current offset on may have.
  [[nodiscard]] std::size_t PacketRoom() const;
  [[nodiscard]] Status EnsureBlock();
  [[nodiscard]] Status SendPacket(bool sync);
  [[nodiscard]] Status EndBlock();
  [[nodiscard]] Status Complete();

  NamenodeConnection& namenode_;
  LeaseRenewer& leases_;
  const WrittenFile file_;
  const WriteOptions options_;
  FileStatus opened_;
  Status writable_;
  // Instead of a block writer, if clients encode the file.
  std::unique_ptr<StripedWriter> striped_;
  std::unique_ptr<BlockWriter> writer_;
  // The block before the current one.
  std::optional<hadoop::hdfs::ExtendedBlockProto> previous_;
  // Bytes of the blocks before the current one, as far as this stream knows them.
  std::uint64_t finished_bytes_ = 0;
  // Where the next byte goes in the block.
  std::uint64_t offset_ = 0;
  std::int64_t sequence_ = 0;
  std::shared_ptr<WritePacket> packet_;
  // The namenode does not list the block yet.
  bool unlisted_ = false;
  bool closed_ = false;
  std::optional<Error> failure_;
};

}  // namespace ebb::client
