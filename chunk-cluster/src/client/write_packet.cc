#include "client/write_packet.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ebb::client {

std::size_t WritePacket::Append(std::span<const std::byte> data) {
  const std::size_t n = std::min(data.size(), capacity_ - size_);
  std::memcpy(data_.get() + size_, data.data(), n);
  size_ += n;
  return n;
}

std::byte* WritePacket::Extend(std::size_t n) {
  return data_.get() + std::exchange(size_, size_ + n);
}

void WritePacket::Seal(std::int64_t sequence, const format::Checksum& checksum, bool last,
                       bool sync) {
  sequence_ = sequence;
  last_ = last;
  sums_.resize(checksum.BytesFor(size_));
  // A packet that begins inside a chunk ends with that chunk, so that one checksum covers it.
  checksum.ComputeAll({data_.get(), size_}, reinterpret_cast<std::byte*>(sums_.data()));
  transfer::AppendPacketPrefix(prefix_, {.offset = offset_,
                                         .sequence = sequence,
                                         .last = last,
                                         .sync = sync,
                                         .sums_bytes = sums_.size(),
                                         .data_bytes = size_});
}

Status WritePacket::Send(Socket& socket, Timeout timeout) const {
  iovec parts[3] = {{const_cast<char*>(prefix_.data()), prefix_.size()},
                    {const_cast<char*>(sums_.data()), sums_.size()},
                    {data_.get(), size_}};
  return socket.WriteAll(std::span<iovec>(parts), timeout);
}

}  // namespace ebb::client
