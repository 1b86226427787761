#include "common/socket_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace ebb {

namespace {

// Room for the beginning of a long message. More is taken as the bytes arrive.
constexpr std::size_t kFirstRoomBytes = 64 << 10;

}  // namespace

SocketReader::SocketReader(Socket& socket, std::size_t capacity)
    : socket_(socket),
      capacity_(capacity),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(capacity)) {}

void SocketReader::MakeRoom(std::size_t length) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (capacity_ - begin_ >= length) return;
  Reserve(length);
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
}

void SocketReader::Reserve(std::size_t capacity) {
  if (capacity <= capacity_) return;
  auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity);
  std::memcpy(larger.get(), buffer_.get() + begin_, end_ - begin_);
  buffer_ = std::move(larger);
  capacity_ = capacity;
  end_ -= begin_;
  begin_ = 0;
}

Result<std::size_t> SocketReader::ReadSome(std::span<std::byte> out, Timeout timeout) {
  for (; on_silence_ && timeout > silence_; timeout -= silence_) {
    auto read = socket_.ReadSome(out, silence_);
    if (read || read.error().code != ErrorCode::kTimeout) return read;
    EBB_TRY(on_silence_());
  }
  return socket_.ReadSome(out, timeout);
}

Result<std::span<const std::byte>> SocketReader::Peek(std::size_t length, Timeout timeout) {
  if (buffered() < length) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    auto left = timeout;
    while (buffered() < length) {
      MakeRoom(std::min(length, std::max(kFirstRoomBytes, 2 * buffered())));
      EBB_ASSIGN(const std::size_t n,
                 ReadSome(std::span(buffer_.get() + end_, capacity_ - end_), left));
      if (n == 0) {
        return Fail(ErrorCode::kNetwork,
                    fmt::format("{} closed the connection with {} of {} bytes missing",
                                socket_.peer(), length - buffered(), length));
      }
      end_ += n;
      left = std::max(Timeout(0),
                      std::chrono::ceil<Timeout>(deadline - std::chrono::steady_clock::now()));
    }
  }
  return std::span<const std::byte>(buffer_.get() + begin_, length);
}

void SocketReader::Consume(std::size_t length) { begin_ += std::min(length, buffered()); }

Result<std::span<const std::byte>> SocketReader::Take(std::size_t length, Timeout timeout) {
  auto bytes = Peek(length, timeout);
  if (bytes) Consume(length);
  return bytes;
}

Status SocketReader::ReadExact(std::span<std::byte> out, Timeout timeout) {
  const std::size_t here = std::min(out.size(), buffered());
  std::memcpy(out.data(), buffer_.get() + begin_, here);
  Consume(here);
  out = out.subspan(here);
  if (out.empty()) return {};
  if (out.size() >= capacity_) return socket_.ReadExact(out, timeout);
  EBB_ASSIGN(const auto bytes, Take(out.size(), timeout));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return {};
}

Result<std::uint32_t> SocketReader::ReadVarint32(Timeout timeout) {
  std::uint32_t value = 0;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    EBB_ASSIGN(const auto byte, Take(1, timeout));
    const auto bits = static_cast<std::uint32_t>(byte[0]);
    value |= (bits & 0x7f) << shift;
    if ((bits & 0x80) == 0) return value;
  }
  return Fail(
      ErrorCode::kNetwork,
      fmt::format("{} sent a length of more than 5 bytes; is it an HDFS peer?", socket_.peer()));
}

Result<bool> SocketReader::AtEnd(Timeout timeout) {
  if (buffered() > 0) return false;
  MakeRoom(1);
  EBB_ASSIGN(const std::size_t n,
             ReadSome(std::span(buffer_.get() + end_, capacity_ - end_), timeout));
  end_ += n;
  return n == 0;
}

}  // namespace ebb
