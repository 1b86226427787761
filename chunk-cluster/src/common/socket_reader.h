// Buffered reading from a socket. A system call reads all available bytes, and they are parsed in
// the buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "common/socket.h"

namespace ebb {

// One thread at a time. The socket outlives the reader, and only the reader reads from it.
class SocketReader {
 public:
  explicit SocketReader(Socket& socket, std::size_t capacity = 8 * 1024);

  // A read that gets no byte for `silence` calls `call`, and goes on waiting, and calls again after
  // the same time. An error of the call ends the read and becomes its error. The reading thread
  // makes the call, which must not block.
  void OnSilence(Timeout silence, std::function<Status()> call) {
    silence_ = silence;
    on_silence_ = std::move(call);
  }

  // The next `length` bytes, which are valid until the next call. They are not consumed. The buffer
  // grows with the bytes that arrive, up to `length`, so that the caller must limit `length`.
  [[nodiscard]] Result<std::span<const std::byte>> Peek(std::size_t length, Timeout timeout);
  void Consume(std::size_t length);
  // Peek and Consume.
  [[nodiscard]] Result<std::span<const std::byte>> Take(std::size_t length, Timeout timeout);
  // Fills `out`. Large parts are read from the socket without the buffer.
  [[nodiscard]] Status ReadExact(std::span<std::byte> out, Timeout timeout);
  // A base-128 integer. Protobuf writes one in front of a delimited message.
  [[nodiscard]] Result<std::uint32_t> ReadVarint32(Timeout timeout);
  // True at the end of the stream, false if there is another byte.
  [[nodiscard]] Result<bool> AtEnd(Timeout timeout);
  // The number of bytes in the buffer.
  [[nodiscard]] std::size_t buffered() const { return end_ - begin_; }
  [[nodiscard]] std::span<const std::byte> available() const {
    return {buffer_.get() + begin_, buffered()};
  }
  // Makes the buffer at least this large.
  void Reserve(std::size_t capacity);

 private:
  void MakeRoom(std::size_t length);
  [[nodiscard]] Result<std::size_t> ReadSome(std::span<std::byte> out, Timeout timeout);

  Socket& socket_;
  Timeout silence_ = Timeout(0);
  std::function<Status()> on_silence_;
  std::size_t capacity_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace ebb
