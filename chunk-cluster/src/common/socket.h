// TCP and Unix domain sockets for servers with one thread per connection. A call blocks no longer than its
// time-out.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "common/error.h"

namespace ebb {

// The longest time of a whole call. (It does not start anew when bytes arrive.)
using Timeout = std::chrono::milliseconds;

// A connected stream. One thread reads and one thread writes at a time; any thread may call
// Shutdown(), which makes both return an error. Nagle's algorithm is off.
class Socket {
 public:
  Socket() = default;
  // Takes ownership of a connected descriptor.
  explicit Socket(int fd);
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  // `host` is an address or a name. kTimeout, or kNetwork naming host and port. kBusy if this
  // process is out of descriptors or memory.
  [[nodiscard]] static Result<Socket> Connect(const std::string& host, std::uint16_t port,
                                              Timeout timeout);
  // Connects to a Unix domain socket. kNetwork naming the path.
  [[nodiscard]] static Result<Socket> ConnectToPath(const std::string& path);
  // Two sockets of this process, connected to each other.
  [[nodiscard]] static Result<std::pair<Socket, Socket>> Pair();

  // Reads at least one byte; 0 means that the peer has closed its side.
  [[nodiscard]] Result<std::size_t> ReadSome(std::span<std::byte> out, Timeout timeout);
  // Fills `out`. The end of the stream before that is kNetwork.
  [[nodiscard]] Status ReadExact(std::span<std::byte> out, Timeout timeout);
  [[nodiscard]] Status WriteAll(std::span<const std::byte> data, Timeout timeout);
  // Writes all the parts in order, in as few system calls as possible. Alters `parts`.
  [[nodiscard]] Status WriteAll(std::span<iovec> parts, Timeout timeout);
  // Sends a message of one byte, with its control data.
  [[nodiscard]] Status SendMessage(const msghdr& message, Timeout timeout);
  // Sends `length` bytes of a file from `offset` without copying them through this process.
  // kIo if the file ends before, or cannot be read. Each call of the operating system that reads
  // from the file is run by `run`, if there is one; the call returns the error of the file, and an
  // error of `run` ends the sending. No such call waits for the peer.
  using RunCall = std::function<Status(const std::function<Status()>& call)>;
  [[nodiscard]] Status SendFile(int file, std::uint64_t offset, std::size_t length, Timeout timeout,
                                const RunCall& run = {});
  // True once ReadSome would not block: data, the end or an error is there. False after the
  // time-out.
  [[nodiscard]] Result<bool> WaitReadable(Timeout timeout);
  // True if the peer has closed its side and all its bytes were read, or if the connection broke.
  [[nodiscard]] bool Ended();
  // With true: holds small writes back, so that they are sent as full segments. With false: sends
  // them.
  void Cork(bool on);

  // Makes pending and later calls of this socket fail. Thread-safe.
  void Shutdown();
  void Close();

  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }
  // "address:port" of the peer and of this side. "?" if not connected.
  [[nodiscard]] const std::string& peer() const { return peer_; }
  [[nodiscard]] std::string local() const;

 private:
  int fd_ = -1;
  std::string peer_ = "?";
};

// A listening socket. One thread accepts; any thread may call Shutdown().
class Listener {
 public:
  Listener() = default;
  ~Listener();
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&& other) noexcept;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // With port 0 the kernel chooses a port. kNetwork if the address is in use.
  [[nodiscard]] static Result<Listener> Listen(const std::string& host, std::uint16_t port);
  // Listens at a Unix domain socket, which every user may connect to. A socket that nobody listens
  // at gives way. kNetwork if somebody does, or if another file is in the way.
  [[nodiscard]] static Result<Listener> ListenAtPath(const std::string& path);

  // kShutdown after Shutdown(). kBusy if the process is out of descriptors: call again later.
  [[nodiscard]] Result<Socket> Accept();
  void Shutdown();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }

 private:
  [[nodiscard]] Status PrepareWake(const std::string& name);

  int fd_ = -1;
  int wake_[2] = {-1, -1};
  std::uint16_t port_ = 0;
};

}  // namespace ebb
