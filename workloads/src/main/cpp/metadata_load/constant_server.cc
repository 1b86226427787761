#include "metadata_load/constant_server.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "RpcHeader.pb.h"
#include "common/socket.h"
#include "rpc/wire.h"

namespace ebb::metadata_load {

// A namespace of its own: other files have constants of the same names.
namespace constant_server {

namespace {

constexpr std::size_t kPreambleBytes = 7;
constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr int kEventsPerWait = 64;
// As long as the status of a file of the benchmark.
constexpr std::size_t kResultBytes = 100;

// What a connection has sent and what has not made a whole frame yet.
struct Peer {
  int fd = -1;
  std::string unread;
  bool greeted = false;
};

std::string ConstantAnswer() {
  hadoop::common::RpcResponseHeaderProto header;
  header.set_callid(0);
  header.set_status(hadoop::common::RpcResponseHeaderProto::SUCCESS);
  header.set_serveripcversionnum(9);
  header.set_clientid(rpc_wire::NewClientId());
  std::string frame = rpc_wire::BeginFrame();
  rpc_wire::AppendDelimited(frame, header);
  frame += static_cast<char>(kResultBytes);
  frame.append(kResultBytes, '\0');
  rpc_wire::EndFrame(frame);
  return frame;
}

std::size_t FrameBytes(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length = length << 8 | static_cast<std::uint8_t>(bytes[i]);
  }
  return kLengthBytes + length;
}

// Takes the preamble and whole frames from what a peer has sent. Returns how many of them are calls:
// the first frame is the connection's context, which has no answer.
int TakeCalls(Peer& peer) {
  std::string_view left = peer.unread;
  int calls = 0;
  if (!peer.greeted) {
    if (left.size() < kPreambleBytes + kLengthBytes) return 0;
    const std::size_t context = kPreambleBytes + FrameBytes(left.substr(kPreambleBytes));
    if (left.size() < context) return 0;
    left.remove_prefix(context);
    peer.greeted = true;
  }
  while (left.size() >= kLengthBytes && left.size() >= FrameBytes(left)) {
    left.remove_prefix(FrameBytes(left));
    ++calls;
  }
  peer.unread.erase(0, peer.unread.size() - left.size());
  return calls;
}

// False once the peer is gone.
bool Serve(Peer& peer, std::array<char, kReadBytes>& buffer, const std::string& answer) {
  const ssize_t got = ::recv(peer.fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
  peer.unread.append(buffer.data(), static_cast<std::size_t>(got));
  for (int calls = TakeCalls(peer); calls > 0; --calls) {
    if (::send(peer.fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return false;
  }
  return true;
}

void RunLoop(int epoll) {
  const auto buffer = std::make_unique<std::array<char, kReadBytes>>();
  const std::string answer = ConstantAnswer();
  std::array<epoll_event, kEventsPerWait> events = {};
  while (true) {
    const int ready = epoll_wait(epoll, events.data(), kEventsPerWait, -1);
    for (int i = 0; i < ready; ++i) {
      auto* peer = static_cast<Peer*>(events.at(static_cast<std::size_t>(i)).data.ptr);
      if (!Serve(*peer, *buffer, answer)) {
        ::close(peer->fd);
        delete peer;  // NOLINT: epoll owned it
      }
    }
  }
}

void Accept(Listener& listener, const std::vector<int>& epolls) {
  for (std::size_t next = 0;; ++next) {
    auto socket = listener.Accept();
    if (!socket) return;
    const int fd = ::dup(socket->fd());
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    auto peer = std::make_unique<Peer>(Peer{.fd = fd, .unread = {}, .greeted = false});
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.ptr = peer.get();
    if (epoll_ctl(epolls[next % epolls.size()], EPOLL_CTL_ADD, fd, &event) == 0) {
      (void)peer.release();  // epoll owns it from now on
    }
  }
}

[[noreturn]] void RunServer(Listener listener, int event_loops) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<int> epolls;
  for (int i = 0; i < event_loops; ++i) {
    epolls.push_back(epoll_create1(EPOLL_CLOEXEC));
    std::thread(RunLoop, epolls.back()).detach();
  }
  Accept(listener, epolls);
  _exit(1);
}

}  // namespace

}  // namespace constant_server

Result<ConstantServer> ConstantServer::Start(int event_loops) {
  EBB_ASSIGN(Listener listener, Listener::Listen("127.0.0.1", 0));
  const std::uint16_t port = listener.port();
  const pid_t pid = fork();
  if (pid < 0) {
    return Fail(ErrorCode::kIo, fmt::format("no process can be made: {}", std::strerror(errno)));
  }
  if (pid == 0) constant_server::RunServer(std::move(listener), event_loops);
  return ConstantServer(pid, port);
}

ConstantServer::ConstantServer(ConstantServer&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), port_(other.port_) {}

ConstantServer::~ConstantServer() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace ebb::metadata_load
