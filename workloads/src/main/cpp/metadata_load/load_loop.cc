#include "metadata_load/load_loop.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <queue>
#include <utility>

#include "metadata_load/block_write.h"
#include "metadata_load/process_cpu.h"

namespace ebb::metadata_load {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kEventsPerWait = 64;
// A namenode that answers nothing for so long is taken for dead.
constexpr std::chrono::seconds kSilence(300);
// Marks the events of sockets to which blocks are written.
constexpr std::uint64_t kWriteBit = std::uint64_t{1} << 63;

std::uint64_t OwnCpuMicros() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(time.tv_usec);
  };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

Status Watch(int epoll, int fd, std::uint64_t mark) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = mark;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0) return {};
  return Fail(ErrorCode::kIo, fmt::format("epoll refuses a socket: {}", std::strerror(errno)));
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
    EBB_TRY(Watch(loop.epoll_, connection->fd(), i));
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
  Round(LoadLoop& loop, std::span<const Group> groups,
        std::optional<std::chrono::nanoseconds> window)
      : loop_(loop), window_(window), results_(groups.size()) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::size_t width = groups[g].workers.size();
      for (std::size_t i = 0; i < width; ++i) AddClient(groups[g], g, i);
    }
  }

  [[nodiscard]] Result<std::vector<Measurement>> Execute() {
    EBB_TRY(Open());
    for (std::size_t i = 0; i < clients_.size(); ++i) EBB_TRY(BeginNext(i, start_));
    while (busy_ > 0 || (!closed_ && !timers_.empty())) EBB_TRY(Wait());
    if (!closed_) EBB_TRY(Close(Clock::now()));
    return std::move(results_);
  }

 private:
  // A worker, its connection, and the operation under way.
  struct Client {
    Worker* worker = nullptr;
    std::size_t group = 0;
    // Between two operations of this client, and before its first; 0 in a closed loop.
    Clock::duration interval = {};
    Clock::duration offset = {};
    std::uint64_t begun = 0;
    Clock::time_point due;
    // Whether an operation is under way. A timer wakes a client that pauses within an operation,
    // or whose next operation is not due yet.
    bool busy = false;
    std::unique_ptr<BlockWrite> write;
  };
  using Timer = std::pair<Clock::time_point, std::size_t>;

  void AddClient(const Group& group, std::size_t g, std::size_t i) {
    Client client;
    client.worker = group.workers[i].get();
    client.group = g;
    if (group.rate > 0) {
      const std::chrono::duration<double> step(1 / group.rate);
      const auto width = static_cast<double>(group.workers.size());
      client.interval = std::chrono::duration_cast<Clock::duration>(step * width);
      client.offset = std::chrono::duration_cast<Clock::duration>(step * static_cast<double>(i));
    }
    clients_.push_back(std::move(client));
  }

  [[nodiscard]] Result<CpuMicros> ServerCpu() const {
    if (loop_.server_pid_ == 0) return CpuMicros{};
    return ProcessCpuMicros(loop_.server_pid_);
  }

  [[nodiscard]] Status Open() {
    EBB_ASSIGN(server_cpu_, ServerCpu());
    client_cpu_ = OwnCpuMicros();
    start_ = Clock::now();
    return {};
  }

  // Ends the window. The loop still waits for the operations under way, and does not count them.
  [[nodiscard]] Status Close(Clock::time_point now) {
    closed_ = true;
    EBB_ASSIGN(const CpuMicros cpu, ServerCpu());
    for (Measurement& result : results_) {
      result.seconds = std::chrono::duration<double>(now - start_).count();
      result.server_cpu = {cpu.all - server_cpu_.all, cpu.kernel - server_cpu_.kernel};
      result.client_cpu_micros = OwnCpuMicros() - client_cpu_;
    }
    return {};
  }

  [[nodiscard]] Status BeginNext(std::size_t i, Clock::time_point now) {
    if (closed_) return {};
    Client& client = clients_[i];
    client.due = now;
    if (client.interval > Clock::duration::zero()) {
      client.due = start_ + client.offset + client.interval * client.begun;
      if (client.due > now) {
        timers_.emplace(client.due, i);
        return {};
      }
    }
    return Begin(i, now);
  }

  [[nodiscard]] Status Begin(std::size_t i, Clock::time_point now) {
    Client& client = clients_[i];
    const Call* call = client.worker->Begin();
    if (call == nullptr) return window_ && !closed_ ? Close(now) : Status();
    ++client.begun;
    client.busy = true;
    ++busy_;
    return loop_.connections_[i]->Send(*call);
  }

  [[nodiscard]] Status Wait() {
    std::array<epoll_event, kEventsPerWait> events = {};
    const auto before = Clock::now();
    const int count = epoll_wait(loop_.epoll_, events.data(), kEventsPerWait, WaitMillis(before));
    if (count < 0 && errno != EINTR) {
      return Fail(ErrorCode::kIo, fmt::format("epoll_wait: {}", std::strerror(errno)));
    }
    const auto now = Clock::now();
    if (count == 0 && now - before >= kSilence) {
      return Fail(ErrorCode::kTimeout,
                  fmt::format("{} operations got no answer for {} s; see the namenode's log", busy_,
                              kSilence.count()));
    }
    if (window_ && !closed_ && now - start_ >= *window_ && EveryGroupHasEnded()) {
      EBB_TRY(Close(now));
    }
    for (int e = 0; e < count; ++e) {
      const std::uint64_t mark = events[static_cast<std::size_t>(e)].data.u64;
      EBB_TRY((mark & kWriteBit) != 0 ? OnAcknowledged(mark & ~kWriteBit) : OnAnswer(mark));
    }
    return FireTimers();
  }

  // Whether every group has an operation that has ended: a window without one tells nothing.
  [[nodiscard]] bool EveryGroupHasEnded() const {
    return std::ranges::all_of(
        results_, [](const Measurement& m) { return m.operations + m.failures > 0; });
  }

  [[nodiscard]] int WaitMillis(Clock::time_point now) const {
    auto until = now + kSilence;
    if (window_ && !closed_ && now < start_ + *window_) until = std::min(until, start_ + *window_);
    if (!timers_.empty()) until = std::min(until, timers_.top().first);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
  }

  [[nodiscard]] Status FireTimers() {
    while (!timers_.empty() && timers_.top().first <= Clock::now()) {
      const std::size_t i = timers_.top().second;
      timers_.pop();
      if (clients_[i].busy) {
        EBB_TRY(Continue(i, clients_[i].worker->Proceed({})));
      } else if (!closed_) {
        EBB_TRY(Begin(i, Clock::now()));
      }
    }
    return {};
  }

  [[nodiscard]] Status OnAnswer(std::size_t i) {
    auto answer = loop_.connections_[i]->Receive();
    if (!answer && answer.error().code != ErrorCode::kRemote) {
      return std::unexpected(std::move(answer).error());
    }
    if (!answer) return End(i, &answer.error());
    if (!*answer) return {};
    return Continue(i, clients_[i].worker->Proceed(**answer));
  }

  [[nodiscard]] Status OnAcknowledged(std::size_t i) {
    Client& client = clients_[i];
    const auto done = client.write->Receive();
    if (done && !*done) return {};
    client.write.reset();
    if (!done) return End(i, &done.error());
    return Continue(i, client.worker->Proceed({}));
  }

  [[nodiscard]] Status Continue(std::size_t i, const Result<Step>& step) {
    if (!step) return End(i, &step.error());
    switch (step->kind) {
      case Step::Kind::kCall:
        return loop_.connections_[i]->Send(*step->call);
      case Step::Kind::kPause:
        timers_.emplace(Clock::now() + step->pause, i);
        return {};
      case Step::Kind::kWriteBlock:
        return Write(i, *step->block);
      case Step::Kind::kEnd:
        break;
    }
    return End(i, nullptr);
  }

  [[nodiscard]] Status Write(std::size_t i, const hadoop::hdfs::LocatedBlockProto& block) {
    auto write = BlockWrite::Start(block, "metadata-load");
    if (!write) return End(i, &write.error());
    clients_[i].write = std::move(*write);
    return Watch(loop_.epoll_, clients_[i].write->fd(), i | kWriteBit);
  }

  [[nodiscard]] Status End(std::size_t i, const Error* failure) {
    Client& client = clients_[i];
    const auto now = Clock::now();
    Measurement& result = results_[client.group];
    client.busy = false;
    --busy_;
    if (failure != nullptr) {
      if (result.failures++ == 0) result.first_failure = failure->message;
    } else if (!closed_) {
      ++result.operations;
      result.latencies.Record(static_cast<std::uint64_t>((now - client.due).count()));
    }
    return BeginNext(i, now);
  }

  LoadLoop& loop_;
  const std::optional<std::chrono::nanoseconds> window_;
  std::vector<Client> clients_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  Clock::time_point start_;
  CpuMicros server_cpu_;
  std::uint64_t client_cpu_ = 0;
  std::size_t busy_ = 0;
  bool closed_ = false;
  std::vector<Measurement> results_;
};

Result<std::vector<Measurement>> LoadLoop::Run(std::span<const Group> groups,
                                               std::optional<std::chrono::nanoseconds> window) {
  return Round(*this, groups, window).Execute();
}

Result<Measurement> LoadLoop::Run(const Group& group,
                                  std::optional<std::chrono::nanoseconds> window) {
  EBB_ASSIGN(auto results, Run(std::span(&group, 1), window));
  return std::move(results.front());
}

}  // namespace ebb::metadata_load
