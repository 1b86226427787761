#include "combine/combine_engine.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string_view>

namespace ebb {

namespace {

ebbfs::CombineResponseProto Answer(ebbfs::CombineStatusProto status, std::string message) {
  ebbfs::CombineResponseProto response;
  response.set_status(status);
  response.set_message(std::move(message));
  return response;
}

// One combine may use at most the memory of all combines.
CombineEngineOptions WithinProcess(CombineEngineOptions options) {
  options.limits.max_combine_bytes =
      std::min(options.limits.max_combine_bytes, options.max_process_bytes);
  return options;
}

void Log(const ebbfs::CombineRequestProto& request, const ebbfs::CombineResponseProto& response) {
  if (response.status() != ebbfs::COMBINE_OK) {
    spdlog::warn("combine {}: {}: {}", request.id(),
                 ebbfs::CombineStatusProto_Name(response.status()), response.message());
    return;
  }
  spdlog::debug("combine {}: {} blocks read, {} bytes in, {} bytes out, {} ms", request.id(),
                response.blocksread(), response.bytesreadlocal() + response.bytesreadremote(),
                response.byteswrittenlocal() + response.byteswrittenremote(),
                response.elapsedmicros() / 1000);
}

class Counted {
 public:
  explicit Counted(std::atomic<std::uint32_t>& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<std::uint32_t>& count_;
};

}  // namespace

struct CombineEngine::Entry {
  // The hash of the request: one id must always mean the same work.
  std::size_t fingerprint;
  // The answer of a check is not kept: the sources may change afterwards.
  bool check;
  std::optional<ebbfs::CombineResponseProto> response;
};

CombineEngine::CombineEngine(BlockIo& io, Options options)
    : options_(WithinProcess(options)), io_(io), budget_(options.max_process_bytes) {}

CombineEngine::~CombineEngine() { Stop(); }

void CombineEngine::Stop() {
  stopping_ = true;
  budget_.Close();
}

ebbfs::CombineResponseProto CombineEngine::Combine(const ebbfs::CombineRequestProto& request) {
  const std::size_t fingerprint = std::hash<std::string>()(request.SerializeAsString());
  std::unique_lock lock(mutex_);
  if (const auto found = entries_.find(request.id()); found != entries_.end()) {
    if (found->second->fingerprint != fingerprint) {
      return Answer(
          ebbfs::COMBINE_REFUSED,
          fmt::format("combine id {} was used for another request; give each combine its own id",
                      request.id()));
    }
    const EntryPtr entry = found->second;
    lock.unlock();
    auto response = Await(entry);
    if (request.check()) return response;
    if (response.status() != ebbfs::COMBINE_OK || StillThere(request)) return response;
    lock.lock();
    Forget(request.id(), entry);
  }
  if (requests_ >= options_.max_requests) {
    return Answer(
        ebbfs::COMBINE_BUSY,
        fmt::format("{} combines are under way, which is the limit of this server; try again "
                    "later or at another server",
                    requests_));
  }
  const auto entry = std::make_shared<Entry>(Entry{fingerprint, request.check(), std::nullopt});
  if (!entries_.emplace(request.id(), entry).second) {
    return Answer(ebbfs::COMBINE_BUSY,
                  "another caller has just started this combine again; repeat the request");
  }
  ++requests_;
  lock.unlock();
  auto response = Execute(request);
  Log(request, response);
  Publish(request.id(), entry, response);
  return response;
}

ebbfs::CombineResponseProto CombineEngine::Execute(const ebbfs::CombineRequestProto& request) {
  const auto start = std::chrono::steady_clock::now();
  auto plan = CheckCombine(request, options_.limits);
  if (!plan) return Answer(ebbfs::COMBINE_REFUSED, std::move(plan.error().message));
  auto lease = budget_.Acquire(plan->memory_bytes, options_.busy_timeout);
  if (!lease) {
    const bool never = lease.error().code == ErrorCode::kInvalid;
    return Answer(never ? ebbfs::COMBINE_REFUSED : ebbfs::COMBINE_BUSY,
                  std::move(lease.error().message));
  }
  const Counted counted(running_);
  try {
    auto response =
        ExecuteCombine({io_, group_, stopping_, options_.run}, request, *plan, std::move(*lease));
    bytes_received_ += response.bytesreadremote();
    const auto elapsed = std::chrono::steady_clock::now() - start;
    response.set_elapsedmicros(static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count()));
    return response;
  } catch (const std::exception& failure) {  // out of memory or threads
    return Answer(ebbfs::COMBINE_BUSY,
                  fmt::format("{}; try again later or at another server", failure.what()));
  }
}

ebbfs::CombineResponseProto CombineEngine::Await(const EntryPtr& entry) {
  std::unique_lock lock(mutex_);
  if (!entry->response) {
    if (requests_ >= options_.max_requests) {
      return Answer(ebbfs::COMBINE_BUSY, "too many callers wait for combines; try again later");
    }
    ++requests_;
    changed_.wait(lock, [&] { return entry->response.has_value(); });
    --requests_;
  }
  return *entry->response;
}

// To be called before an answer is repeated: a disk may have failed since then.
bool CombineEngine::StillThere(const ebbfs::CombineRequestProto& request) {
  for (const auto& target : request.targets()) {
    if (target.block().numbytes() == 0) continue;
    ebbfs::SourceProto source;
    *source.mutable_block() = target.block();
    *source.add_locations() = target.location();
    if (!io_.OpenSource(source, 0, source.block().numbytes())) return false;
  }
  return true;
}

// The caller holds the mutex.
void CombineEngine::Forget(const std::string& id, const EntryPtr& entry) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second != entry) return;
  entries_.erase(found);
  ended_.remove(id);
}

void CombineEngine::Publish(const std::string& id, const EntryPtr& entry,
                            const ebbfs::CombineResponseProto& response) {
  const std::lock_guard lock(mutex_);
  --requests_;
  entry->response = response;
  changed_.notify_all();
  if (response.status() != ebbfs::COMBINE_OK || entry->check || options_.remembered_answers == 0) {
    entries_.erase(id);  // the next attempt is a new one
    return;
  }
  ended_.push_back(id);
  if (ended_.size() > options_.remembered_answers) {
    entries_.erase(ended_.front());
    ended_.pop_front();
  }
}

}  // namespace ebb
