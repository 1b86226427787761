#include "common/readiness.h"

#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace ebb {

namespace {

std::unexpected<Error> Failed(const char* what) {
  return Fail(ErrorCode::kBusy,
              fmt::format("{} failed: {}", what, std::generic_category().message(errno)));
}

Status Control(int epoll, int operation, int fd, std::uint32_t events, void* tag) {
  epoll_event event = {};
  event.events = events;
  event.data.ptr = tag;
  if (epoll_ctl(epoll, operation, fd, &event) != 0) return Failed("epoll_ctl");
  return {};
}

constexpr std::uint32_t kOnce = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT;

}  // namespace

Readiness::~Readiness() {
  for (const int fd : {epoll_, wake_}) {
    if (fd >= 0) close(fd);
  }
}

Status Readiness::Open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return Failed("epoll_create1");
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) return Failed("eventfd");
  return Control(epoll_, EPOLL_CTL_ADD, wake_, EPOLLIN, nullptr);
}

Status Readiness::Add(const Socket& socket, void* tag) {
  return Control(epoll_, EPOLL_CTL_ADD, socket.fd(), kOnce, tag);
}

Status Readiness::AddAgain(const Socket& socket, void* tag) {
  return Control(epoll_, EPOLL_CTL_MOD, socket.fd(), kOnce, tag);
}

std::vector<void*> Readiness::Wait(Timeout timeout) {
  epoll_event events[256];
  const int count =
      epoll_wait(epoll_, events, std::size(events), static_cast<int>(timeout.count()));
  std::vector<void*> tags;
  for (int i = 0; i < count; ++i) {
    if (events[i].data.ptr != nullptr) {
      tags.push_back(events[i].data.ptr);
      continue;
    }
    std::uint64_t wakes = 0;
    (void)!read(wake_, &wakes, sizeof wakes);
  }
  return tags;
}

void Readiness::Wake() {
  const std::uint64_t one = 1;
  (void)!write(wake_, &one, sizeof one);
}

}  // namespace ebb
