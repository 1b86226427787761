#include "metadata_load/load_loop.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "metadata_load/process_cpu.h"

namespace ebb::metadata_load {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kEventsPerWait = 64;
// A namenode that answers nothing for so long is taken for dead.
constexpr int kSilenceMillis = 120'000;

std::uint64_t OwnCpuMicros() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(time.tv_usec);
  };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

}  // namespace

Result<LoadLoop> LoadLoop::Connect(const Namenode& namenode, std::size_t connections,
                                   int server_pid) {
  LoadLoop loop(epoll_create1(EPOLL_CLOEXEC), server_pid);
  if (loop.epoll_ < 0) {
    return Fail(ErrorCode::kIo, fmt::format("no epoll descriptor: {}", std::strerror(errno)));
  }
  for (std::size_t i = 0; i < connections; ++i) {
    EBB_ASSIGN(auto connection, Connection::Open(namenode));
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = i;
    if (epoll_ctl(loop.epoll_, EPOLL_CTL_ADD, connection->fd(), &event) != 0) {
      return Fail(ErrorCode::kIo, fmt::format("epoll refuses connection {}: {}", i,
                                              std::strerror(errno)));
    }
    loop.connections_.push_back(std::move(connection));
  }
  return loop;
}

LoadLoop::LoadLoop(LoadLoop&& other) noexcept
    : epoll_(std::exchange(other.epoll_, -1)),
      server_pid_(other.server_pid_),
      connections_(std::move(other.connections_)) {}

LoadLoop::~LoadLoop() {
  if (epoll_ >= 0) ::close(epoll_);
}

// The state of one call of Run.
class LoadLoop::Round {
 public:
  Round(LoadLoop& loop, std::span<const std::unique_ptr<Worker>> workers,
       std::optional<std::chrono::nanoseconds> window)
      : loop_(loop), workers_(workers), began_(workers.size()), window_(window) {}

  [[nodiscard]] Result<Measurement> Execute() {
    EBB_TRY(Open());
    for (std::size_t i = 0; i < workers_.size(); ++i) EBB_TRY(BeginNext(i, Clock::now()));
    while (busy_ > 0) EBB_TRY(Wait());
    if (!closed_) EBB_TRY(Close(Clock::now()));
    return std::move(result_);
  }

 private:
  [[nodiscard]] Result<std::uint64_t> ServerCpu() const {
    if (loop_.server_pid_ == 0) return 0;
    return ProcessCpuMicros(loop_.server_pid_);
  }

  [[nodiscard]] Status Open() {
    EBB_ASSIGN(server_cpu_, ServerCpu());
    client_cpu_ = OwnCpuMicros();
    start_ = Clock::now();
    return {};
  }

  // Ends the window. What is under way is waited for and not counted.
  [[nodiscard]] Status Close(Clock::time_point now) {
    closed_ = true;
    result_.seconds = std::chrono::duration<double>(now - start_).count();
    EBB_ASSIGN(const std::uint64_t cpu, ServerCpu());
    result_.server_cpu_micros = cpu - server_cpu_;
    result_.client_cpu_micros = OwnCpuMicros() - client_cpu_;
    return {};
  }

  [[nodiscard]] Status BeginNext(std::size_t i, Clock::time_point now) {
    const Call* call = closed_ ? nullptr : workers_[i]->Begin();
    if (call == nullptr) {
      if (window_ && !closed_) return Close(now);
      return {};
    }
    began_[i] = now;
    ++busy_;
    return loop_.connections_[i]->Send(*call);
  }

  [[nodiscard]] Status Wait() {
    std::array<epoll_event, kEventsPerWait> events = {};
    const int count = epoll_wait(loop_.epoll_, events.data(), kEventsPerWait, WaitMillis());
    if (count < 0 && errno != EINTR) {
      return Fail(ErrorCode::kIo, fmt::format("epoll_wait: {}", std::strerror(errno)));
    }
    const auto now = Clock::now();
    if (count == 0 && closed_) {
      return Fail(ErrorCode::kTimeout,
                  fmt::format("{} operations got no answer for {} s; see the namenode's log", busy_,
                              kSilenceMillis / 1000));
    }
    if (window_ && !closed_ && now - start_ >= *window_) EBB_TRY(Close(now));
    for (int e = 0; e < count; ++e) EBB_TRY(OnReadable(events[static_cast<std::size_t>(e)].data.u64));
    return {};
  }

  [[nodiscard]] int WaitMillis() const {
    if (!window_ || closed_) return kSilenceMillis;
    const auto left = start_ + *window_ - Clock::now();
    return static_cast<int>(
        std::max<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 0));
  }

  [[nodiscard]] Status OnReadable(std::size_t i) {
    auto answer = loop_.connections_[i]->Receive();
    if (!answer && answer.error().code != ErrorCode::kRemote) {
      return std::unexpected(std::move(answer).error());
    }
    if (answer && !*answer) return {};
    Result<const Call*> next = answer ? workers_[i]->Proceed(**answer)
                                      : std::unexpected(std::move(answer).error());
    if (next && *next != nullptr) return loop_.connections_[i]->Send(**next);
    const auto now = Clock::now();
    --busy_;
    Count(next, now - began_[i]);
    return BeginNext(i, now);
  }

  void Count(const Result<const Call*>& end, Clock::duration latency) {
    if (!end) {
      if (result_.failures++ == 0) result_.first_failure = end.error().message;
    } else if (!closed_) {
      ++result_.operations;
      result_.latencies.Record(static_cast<std::uint64_t>(latency.count()));
    }
  }

  LoadLoop& loop_;
  const std::span<const std::unique_ptr<Worker>> workers_;
  std::vector<Clock::time_point> began_;
  const std::optional<std::chrono::nanoseconds> window_;
  Clock::time_point start_;
  std::uint64_t server_cpu_ = 0;
  std::uint64_t client_cpu_ = 0;
  std::size_t busy_ = 0;
  bool closed_ = false;
  Measurement result_;
};

Result<Measurement> LoadLoop::Run(std::span<const std::unique_ptr<Worker>> workers,
                                  std::optional<std::chrono::nanoseconds> window) {
  return Round(*this, workers, window).Execute();
}

}  // namespace ebb::metadata_load
