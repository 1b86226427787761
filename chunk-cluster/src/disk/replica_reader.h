// Reading one replica off its disk. Nothing is verified here: verified_reader.h does that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "common/error.h"
#include "disk/file_system.h"
#include "disk/format.h"
#include "disk/replica.h"

namespace ebb {

// An open replica, in its state at the time of opening. Thread-safe.
class ReplicaReader {
 public:
  [[nodiscard]] const format::Checksum& checksum() const { return checksum_; }
  [[nodiscard]] const ReplicaInfo& info() const { return info_; }
  // Bytes that may be read. For a replica that is being written: all bytes on the disk, also those
  // that are not acknowledged.
  [[nodiscard]] std::uint64_t length() const { return length_; }
  // The stored checksums of the chunks of [offset, end). `offset` begins a chunk, and `end` ends a
  // chunk or the replica.
  [[nodiscard]] Status ReadChecksums(std::uint64_t offset, std::uint64_t end,
                                     std::span<std::byte> out) const;
  [[nodiscard]] Status ReadData(std::uint64_t offset, std::span<std::byte> out) const;
  // Makes data and checksums durable, but not the names of the files.
  [[nodiscard]] Status Sync() const;
  // Runs a call that reads from the descriptor, and returns its error. kBusy if the disk does not
  // keep up.
  [[nodiscard]] Status Call(const std::function<Status()>& call) const {
    return data_->Call(call);
  }
  // For sendfile. Negative if only ReadData works.
  [[nodiscard]] int descriptor() const { return data_->descriptor(); }
  // Of the checksums. Negative as above.
  [[nodiscard]] int meta_descriptor() const { return meta_->descriptor(); }

 private:
  friend class BlockStore;
  // Reads last_sum_ from the meta file.
  [[nodiscard]] Status KeepLastSum();

  ReplicaInfo info_;
  format::Checksum checksum_;
  std::uint64_t length_ = 0;
  std::unique_ptr<File> data_;
  std::unique_ptr<File> meta_;
  // The checksum of the last chunk at `length_`, if that chunk is not full. A client that appends
  // overwrites it in the meta file with the checksum of a longer chunk.
  std::optional<std::array<std::byte, 4>> last_sum_;
};

}  // namespace ebb
