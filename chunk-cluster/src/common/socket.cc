#include "common/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

namespace ebb {

namespace {

using Clock = std::chrono::steady_clock;

std::string Describe(int error) { return std::generic_category().message(error); }

std::string NameOf(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return fmt::format("{}:{}", text, ntohs(v4.sin_port));
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    return fmt::format("[{}]:{}", text, ntohs(v6.sin6_port));
  }
  return "local";
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

Result<std::unique_ptr<addrinfo, FreeAddresses>> Resolve(const std::string& host,
                                                         std::uint16_t port, bool passive) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  addrinfo* list = nullptr;
  const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (code != 0) {
    return Fail(ErrorCode::kNetwork, fmt::format("cannot resolve host '{}': {}; check the name",
                                                 host, gai_strerror(code)));
  }
  return std::unique_ptr<addrinfo, FreeAddresses>(list);
}

// Waits for `events`. False at the deadline.
Result<bool> WaitFor(int fd, short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<Timeout>(deadline - Clock::now());
    pollfd entry = {fd, events, 0};
    const int millis = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
    const int ready = poll(&entry, 1, millis);
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) {
      return Fail(ErrorCode::kNetwork, fmt::format("poll failed: {}", Describe(errno)));
    }
  }
}

Status Await(int fd, short events, Clock::time_point deadline, Timeout timeout,
             const std::string& peer, const char* what) {
  EBB_ASSIGN(const bool ready, WaitFor(fd, events, deadline));
  if (ready) return {};
  return Fail(ErrorCode::kTimeout, fmt::format("{} {} took longer than {} ms; is it overloaded?",
                                               what, peer, timeout.count()));
}

std::unexpected<Error> Broken(const char* what, const std::string& peer, int error) {
  return Fail(ErrorCode::kNetwork, fmt::format("{} {} failed: {}", what, peer, Describe(error)));
}

// kInvalid if the kernel takes no path of this length.
Result<sockaddr_un> PathAddress(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("the path of a socket '{}' has {} bytes; give one of 1 to {}", path,
                            path.size(), sizeof address.sun_path - 1));
  }
  path.copy(address.sun_path, path.size());
  return address;
}

// No socket could be made. That is no fault of the peer.
std::unexpected<Error> NoSocket(const std::string& peer, int error) {
  if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM) {
    return Broken("opening a socket for", peer, error);
  }
  return Fail(ErrorCode::kBusy, fmt::format("opening a socket for {} failed: {}; raise ulimit -n",
                                            peer, Describe(error)));
}

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

Socket::Socket(int fd) : fd_(fd) {
  fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL, 0) | O_NONBLOCK);
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  if (getpeername(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
    peer_ = NameOf(address);
  }
}

Socket::~Socket() { Close(); }

Socket::Socket(Socket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), peer_(std::move(other.peer_)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = std::exchange(other.fd_, -1);
    peer_ = std::move(other.peer_);
  }
  return *this;
}

Result<Socket> Socket::Connect(const std::string& host, std::uint16_t port, Timeout timeout) {
  EBB_ASSIGN(const auto addresses, Resolve(host, port, false));
  const auto deadline = Clock::now() + timeout;
  const std::string name = fmt::format("{}:{}", host, port);
  Error last = {ErrorCode::kNetwork, fmt::format("{} has no address", name)};
  for (const addrinfo* a = addresses.get(); a != nullptr; a = a->ai_next) {
    Socket socket;
    socket.fd_ = ::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket.fd_ < 0) return NoSocket(name, errno);
    int error = 0;
    if (connect(socket.fd_, a->ai_addr, a->ai_addrlen) != 0) error = errno;
    if (error == EINPROGRESS) {
      if (auto ready = Await(socket.fd_, POLLOUT, deadline, timeout, name, "connecting to");
          !ready) {
        return std::unexpected(std::move(ready).error());
      }
      socklen_t size = sizeof error;
      getsockopt(socket.fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error == 0) return Socket(std::exchange(socket.fd_, -1));
    last = Broken("connecting to", name, error).error();
  }
  return std::unexpected(std::move(last));
}

Result<std::pair<Socket, Socket>> Socket::Pair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return Fail(ErrorCode::kNetwork, fmt::format("socketpair failed: {}", Describe(errno)));
  }
  return std::pair(Socket(fds[0]), Socket(fds[1]));
}

Result<std::size_t> Socket::ReadSome(std::span<std::byte> out, Timeout timeout) {
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    const ssize_t n = recv(fd_, out.data(), out.size(), 0);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno == EINTR) continue;
    if (!WouldBlock(errno)) return Broken("reading from", peer_, errno);
    EBB_TRY(Await(fd_, POLLIN, deadline, timeout, peer_, "reading from"));
  }
}

Status Socket::ReadExact(std::span<std::byte> out, Timeout timeout) {
  const auto deadline = Clock::now() + timeout;
  while (!out.empty()) {
    const ssize_t n = recv(fd_, out.data(), out.size(), 0);
    if (n > 0) {
      out = out.subspan(static_cast<std::size_t>(n));
    } else if (n == 0) {
      return Fail(ErrorCode::kNetwork,
                  fmt::format("{} closed the connection with {} bytes missing", peer_, out.size()));
    } else if (WouldBlock(errno)) {
      EBB_TRY(Await(fd_, POLLIN, deadline, timeout, peer_, "reading from"));
    } else if (errno != EINTR) {
      return Broken("reading from", peer_, errno);
    }
  }
  return {};
}

Status Socket::WriteAll(std::span<const std::byte> data, Timeout timeout) {
  iovec part = {const_cast<std::byte*>(data.data()), data.size()};
  return WriteAll(std::span(&part, 1), timeout);
}

Status Socket::WriteAll(std::span<iovec> parts, Timeout timeout) {
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    while (!parts.empty() && parts.front().iov_len == 0) parts = parts.subspan(1);
    if (parts.empty()) return {};
    msghdr message = {};
    message.msg_iov = parts.data();
    message.msg_iovlen = std::min<std::size_t>(parts.size(), IOV_MAX);
    const ssize_t n = sendmsg(fd_, &message, MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EINTR) continue;
      if (!WouldBlock(errno)) return Broken("writing to", peer_, errno);
      EBB_TRY(Await(fd_, POLLOUT, deadline, timeout, peer_, "writing to"));
      continue;
    }
    auto sent = static_cast<std::size_t>(n);
    for (auto& part : parts) {
      const std::size_t taken = std::min(sent, part.iov_len);
      part.iov_base = static_cast<std::byte*>(part.iov_base) + taken;
      part.iov_len -= taken;
      sent -= taken;
      if (sent == 0) break;
    }
  }
}

Result<Socket> Socket::ConnectToPath(const std::string& path) {
  EBB_ASSIGN(const auto address, PathAddress(path));
  Socket socket;
  socket.fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket.fd_ < 0) return Broken("opening a socket for", path, errno);
  if (connect(socket.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return Broken("connecting to", path, errno);
  }
  return Socket(std::exchange(socket.fd_, -1));
}

Status Socket::SendMessage(const msghdr& message, Timeout timeout) {
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    if (sendmsg(fd_, &message, MSG_NOSIGNAL) >= 0) return {};
    if (errno == EINTR) continue;
    if (!WouldBlock(errno)) return Broken("writing to", peer_, errno);
    EBB_TRY(Await(fd_, POLLOUT, deadline, timeout, peer_, "writing to"));
  }
}

Status Socket::SendFile(int file, std::uint64_t offset, std::size_t length, Timeout timeout,
                        const RunCall& run) {
  const auto deadline = Clock::now() + timeout;
  auto position = static_cast<off_t>(offset);
  while (length > 0) {
    ssize_t n = -1;
    int error = 0;
    const auto send = [&]() -> Status {
      n = sendfile(fd_, file, &position, length);
      error = errno;
      if (n >= 0 || error != EIO) return {};
      return Fail(ErrorCode::kIo,
                  fmt::format("reading a file for {} failed: {}", peer_, Describe(error)));
    };
    EBB_TRY(run ? run(send) : send());
    if (n > 0) {
      length -= static_cast<std::size_t>(n);
    } else if (n == 0) {
      return Fail(ErrorCode::kIo, fmt::format("the file ends {} bytes early", length));
    } else if (WouldBlock(error)) {
      EBB_TRY(Await(fd_, POLLOUT, deadline, timeout, peer_, "writing to"));
    } else if (error != EINTR) {
      return Broken("writing to", peer_, error);
    }
  }
  return {};
}

Result<bool> Socket::WaitReadable(Timeout timeout) {
  return WaitFor(fd_, POLLIN, Clock::now() + timeout);
}

bool Socket::Ended() {
  std::byte next;
  const ssize_t n = recv(fd_, &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return n == 0 || (n < 0 && !WouldBlock(errno) && errno != EINTR);
}

void Socket::Cork(bool on) {
  const int value = on ? 1 : 0;
  setsockopt(fd_, IPPROTO_TCP, TCP_CORK, &value, sizeof value);
}

void Socket::Shutdown() {
  if (fd_ >= 0) shutdown(fd_, SHUT_RDWR);
}

void Socket::Close() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

std::string Socket::local() const {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  if (fd_ < 0 || getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "?";
  return NameOf(address);
}

Listener::~Listener() {
  for (const int fd : {fd_, wake_[0], wake_[1]}) {
    if (fd >= 0) close(fd);
  }
}

Listener::Listener(Listener&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      wake_{std::exchange(other.wake_[0], -1), std::exchange(other.wake_[1], -1)},
      port_(other.port_) {}

Listener& Listener::operator=(Listener&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(wake_, other.wake_);
  std::swap(port_, other.port_);
  return *this;
}

Result<Listener> Listener::Listen(const std::string& host, std::uint16_t port) {
  EBB_ASSIGN(const auto addresses, Resolve(host, port, true));
  const addrinfo* a = addresses.get();
  const std::string name = fmt::format("{}:{}", host, port);
  Listener listener;
  listener.fd_ = ::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener.fd_ < 0) return Broken("opening a socket for", name, errno);
  const int on = 1;
  setsockopt(listener.fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener.fd_, a->ai_addr, a->ai_addrlen) != 0 || listen(listener.fd_, 512) != 0) {
    return Fail(ErrorCode::kNetwork,
                fmt::format("cannot listen on {}: {}; choose another port or stop its owner", name,
                            Describe(errno)));
  }
  EBB_TRY(listener.PrepareWake(name));
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  getsockname(listener.fd_, reinterpret_cast<sockaddr*>(&address), &size);
  listener.port_ =
      ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                          : reinterpret_cast<const sockaddr_in&>(address).sin_port);
  return listener;
}

Status Listener::PrepareWake(const std::string& name) {
  if (pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0) return Broken("pipe for", name, errno);
  return {};
}

Result<Listener> Listener::ListenAtPath(const std::string& path) {
  EBB_ASSIGN(const auto address, PathAddress(path));
  struct stat status = {};
  if (lstat(path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode)) {
      return Fail(ErrorCode::kNetwork,
                  fmt::format("cannot listen at {}: it is a file, and not a socket; remove it, or "
                              "choose another path",
                              path));
    }
    if (Socket::ConnectToPath(path)) {
      return Fail(ErrorCode::kNetwork, fmt::format("cannot listen at {}: another process does; "
                                                   "choose another path or stop its owner",
                                                   path));
    }
    unlink(path.c_str());
  }
  Listener listener;
  listener.fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener.fd_ < 0) return Broken("opening a socket for", path, errno);
  if (bind(listener.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      chmod(path.c_str(), 0666) != 0 || listen(listener.fd_, 512) != 0) {
    return Fail(ErrorCode::kNetwork, fmt::format("cannot listen at {}: {}; choose another path",
                                                 path, Describe(errno)));
  }
  EBB_TRY(listener.PrepareWake(path));
  return listener;
}

Result<Socket> Listener::Accept() {
  for (;;) {
    pollfd entries[2] = {{fd_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    if (poll(entries, 2, -1) < 0 && errno != EINTR) {
      return Fail(ErrorCode::kNetwork, fmt::format("poll failed: {}", Describe(errno)));
    }
    if (entries[1].revents != 0) return Fail(ErrorCode::kShutdown, "the listener was shut down");
    const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) return Socket(fd);
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return Fail(ErrorCode::kBusy, fmt::format("accepting on port {} failed: {}; raise ulimit -n",
                                                port_, Describe(errno)));
    }
    // Any other error belongs to the one connection that was being accepted.
  }
}

void Listener::Shutdown() {
  const char byte = 0;
  if (wake_[1] >= 0) [[maybe_unused]]
    const auto ignored = write(wake_[1], &byte, 1);
}

}  // namespace ebb
