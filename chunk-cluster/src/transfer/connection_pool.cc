#include "transfer/connection_pool.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <system_error>
#include <utility>
#include <vector>

namespace ebb::transfer {

namespace {

// A displaced connection ends as soon as its thread runs.
constexpr auto kDisplacePatience = std::chrono::seconds(5);
// How often the deadlines of parked and queued connections are looked at.
constexpr Timeout kTick = std::chrono::milliseconds(500);

// Every operation has an answer that begins as this one does.
void AnswerBusy(Socket& socket, const std::string& why) {
  spdlog::warn("refused a connection from {}: {}", socket.peer(), why);
  hadoop::hdfs::BlockOpResponseProto response;
  response.set_status(hadoop::hdfs::ERROR);
  response.set_message(why);
  if (!WriteMessage(socket, response, Timeout(0))) return;
  // If bytes of the peer were left unread, the peer would lose the answer.
  std::byte sink[4096];
  (void)socket.ReadSome(sink, Timeout(0));
}

}  // namespace

ConnectionPool::ConnectionPool(const Options& options, TransferCounters& counters, Run run)
    : options_(options), counters_(counters), run_(std::move(run)) {}

ConnectionPool::~ConnectionPool() { Stop(); }

Status ConnectionPool::Start() {
  EBB_TRY(readiness_.Open());
  waiter_ = std::thread([this] { WaitForPeers(); });
  return {};
}

void ConnectionPool::Add(Socket socket, ShortCircuitRegistry* short_circuit) {
  auto added = std::make_unique<OpenConnection>();
  added->socket = std::move(socket);
  added->short_circuit = short_circuit;
  auto& opened = *added;
  Lock lock(mutex_);
  const bool room = MakeRoom(lock);
  if (stopping_) return;
  if (!room) {
    ++counters_.refused_connections;
    lock.unlock();
    AnswerBusy(opened.socket, fmt::format("this server has {} connections, and all of them run "
                                          "operations; use another replica, or raise "
                                          "--max-connections",
                                          options_.max_connections));
    return;
  }
  open_.emplace(&opened, std::move(added));
  ++open_count_;
  if (!Park(opened)) (void)Take(opened);
}

bool ConnectionPool::MakeRoom(Lock& lock) {
  if (open_.size() < options_.max_connections) return true;
  OpenConnection* const oldest = Oldest(true);
  if (oldest == nullptr) return false;
  ++counters_.displaced_connections;
  oldest->displaced = true;
  oldest->socket.Shutdown();
  return ended_.wait_for(lock, kDisplacePatience,
                         [this] { return stopping_ || open_.size() < options_.max_connections; });
}

OpenConnection* ConnectionPool::Oldest(bool parked_too) {
  OpenConnection* oldest = nullptr;
  auto since = Waiting::Clock::time_point::max();
  for (const auto& [opened, owner] : open_) {
    const auto begun = opened->waiting.since();
    const bool candidate = opened->state == State::kRunning ||
                           (parked_too && opened->state == State::kParked);
    if (!candidate || opened->displaced || !begun || *begun >= since) continue;
    oldest = opened;
    since = *begun;
  }
  return oldest;
}

bool ConnectionPool::Park(OpenConnection& opened) {
  const auto patience = opened.served ? options_.idle_patience : options_.first_patience;
  opened.state = State::kParked;
  opened.deadline = Waiting::Clock::now() + patience;
  const auto watched = opened.served ? readiness_.AddAgain(opened.socket, &opened)
                                     : readiness_.Add(opened.socket, &opened);
  if (watched) return true;
  spdlog::warn("closed the connection of {}: {}", opened.socket.peer(), watched.error().message);
  return false;
}

std::unique_ptr<OpenConnection> ConnectionPool::Take(OpenConnection& opened) {
  const auto it = open_.find(&opened);
  auto taken = std::move(it->second);
  open_.erase(it);
  --open_count_;
  ended_.notify_all();
  return taken;
}

void ConnectionPool::Close(OpenConnection& opened) {
  std::unique_ptr<OpenConnection> closed;  // destroyed after the lock is released
  const Lock lock(mutex_);
  closed = Take(opened);
}

// ---- the thread that waits for peers ------------------------------------------------------------

void ConnectionPool::WaitForPeers() {
  auto next_look = Waiting::Clock::now();
  for (;;) {
    for (void* const tag : readiness_.Wait(kTick)) Arrive(*static_cast<OpenConnection*>(tag));
    // A look goes over all connections, so it does not follow each event.
    if (const auto now = Waiting::Clock::now(); now >= next_look) {
      RefuseTheLate();
      next_look = now + kTick;
    }
    const Lock lock(mutex_);
    if (stopping_) return;
  }
}

void ConnectionPool::Arrive(OpenConnection& opened) {
  if (opened.socket.Ended()) {
    Close(opened);
    return;
  }
  const Lock lock(mutex_);
  opened.state = State::kQueued;
  opened.deadline = Waiting::Clock::now() + options_.queue_patience;
  queued_.push_back(&opened);
  Employ();
}

void ConnectionPool::Employ() {
  if (stopping_) return;
  if (running_ >= options_.max_running) {
    OpenConnection* const oldest = Oldest(false);
    if (oldest == nullptr) return;
    ++counters_.displaced_connections;
    oldest->displaced = true;
    oldest->socket.Shutdown();
    return;
  }
  ++running_;
  try {
    std::thread([this] { Work(); }).detach();
  } catch (const std::system_error& failure) {
    --running_;
    spdlog::warn("no thread for an operation: {}; raise the limit of threads or lower "
                 "--max-operations",
                 failure.what());
  }
}

void ConnectionPool::RefuseTheLate() {
  std::vector<std::unique_ptr<OpenConnection>> silent;
  std::vector<std::unique_ptr<OpenConnection>> refused;
  {
    const Lock lock(mutex_);
    const auto now = Waiting::Clock::now();
    std::vector<OpenConnection*> late;
    for (const auto& [opened, owner] : open_) {
      if (opened->state != State::kRunning && opened->deadline <= now) late.push_back(opened);
    }
    for (OpenConnection* const opened : late) {
      const bool queued = opened->state == State::kQueued;
      if (queued) std::erase(queued_, opened);
      (queued ? refused : silent).push_back(Take(*opened));
    }
    counters_.refused_connections += refused.size();
    // A thread that could not be started may start now.
    if (!queued_.empty() && running_ == 0) Employ();
  }
  for (const auto& opened : refused) {
    AnswerBusy(opened->socket,
               fmt::format("this server runs {} operations, and none of them ended in time; use "
                           "another replica, or raise --max-operations",
                           running()));
  }
}

// ---- the threads that run operations ------------------------------------------------------------

void ConnectionPool::Work() {
  for (;;) {
    OpenConnection* opened = nullptr;
    {
      const Lock lock(mutex_);
      if (stopping_ || queued_.empty()) {
        --running_;
        ended_.notify_all();
        return;
      }
      opened = queued_.front();
      queued_.pop_front();
      opened->state = State::kRunning;
      opened->waiting.Begin();
    }
    const bool idle = run_(*opened);
    std::unique_ptr<OpenConnection> closed;  // destroyed after the lock is released
    const Lock lock(mutex_);
    opened->served = true;
    if (!idle || !Park(*opened)) closed = Take(*opened);
  }
}

std::size_t ConnectionPool::CloseWriters() {
  const Lock lock(mutex_);
  std::size_t closed = 0;
  for (const auto& [opened, owner] : open_) {
    if (!opened->writes) continue;
    opened->socket.Shutdown();
    ++closed;
  }
  return closed;
}

void ConnectionPool::Stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
    for (const auto& [opened, owner] : open_) opened->socket.Shutdown();
  }
  ended_.notify_all();
  readiness_.Wake();
  if (waiter_.joinable()) waiter_.join();
  Lock lock(mutex_);
  ended_.wait(lock, [this] { return running_ == 0; });
  queued_.clear();
  open_.clear();
  open_count_ = 0;
}

}  // namespace ebb::transfer
