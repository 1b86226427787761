// A packet of a block that is being written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "common/error.h"
#include "common/socket.h"
#include "transfer/wire.h"

namespace ebb::client {

// Filled by a writer, then sealed, then sent, perhaps again to other servers. Immutable once
// sealed.
class WritePacket {
 public:
  WritePacket(std::uint64_t offset, std::size_t capacity)
      : offset_(offset),
        capacity_(capacity),
        data_(std::make_unique_for_overwrite<std::byte[]>(capacity)) {}

  // Appends as much of `data` as fits, and returns how much that is.
  std::size_t Append(std::span<const std::byte> data);
  // Appends `n` bytes, which fit and which the caller fills.
  [[nodiscard]] std::byte* Extend(std::size_t n);
  // Computes the checksums. `last` ends the block; `sync` asks servers to sync their disks.
  void Seal(std::int64_t sequence, const format::Checksum& checksum, bool last, bool sync);
  [[nodiscard]] Status Send(Socket& socket, Timeout timeout) const;

  [[nodiscard]] std::span<const std::byte> data() const { return {data_.get(), size_}; }
  [[nodiscard]] bool full() const { return size_ == capacity_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool last() const { return last_; }
  [[nodiscard]] std::int64_t sequence() const { return sequence_; }
  [[nodiscard]] std::uint64_t begin() const { return offset_; }
  // The offset in the block of the byte after the packet.
  [[nodiscard]] std::uint64_t end() const { return offset_ + size_; }

 private:
  const std::uint64_t offset_;
  const std::size_t capacity_;
  std::size_t size_ = 0;
  std::unique_ptr<std::byte[]> data_;
  std::int64_t sequence_ = 0;
  bool last_ = false;
  std::string prefix_;
  std::string sums_;
};

}  // namespace ebb::client
