#include "metadata_load/await.h"

#include <fmt/format.h>

#include <thread>
#include <utility>
#include <vector>

#include "metadata_load/load_loop.h"
#include "metadata_load/workers.h"

namespace ebb::metadata_load {

namespace {

constexpr std::chrono::milliseconds kBetweenAttempts(5);

Status Attempt(const Namenode& namenode, const std::string& path, bool write) {
  EBB_ASSIGN(LoadLoop loop, LoadLoop::Connect(namenode, 1, 0));
  Group group;
  group.workers.push_back(CallWorker::Once({write ? Mkdirs(path) : GetFileInfo(path)},
                                           write ? MustBeTrue() : AtLeast(kStatusBytes)));
  EBB_ASSIGN(const Measurement done, loop.Run(group, std::nullopt));
  if (done.failures == 0) return {};
  return Fail(ErrorCode::kRemote, done.first_failure);
}

}  // namespace

Status Await(const Namenode& namenode, const std::string& path, bool write,
             std::chrono::seconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    const Status served = Attempt(namenode, path, write);
    if (served) return {};
    if (std::chrono::steady_clock::now() > end) {
      return Fail(ErrorCode::kTimeout,
                  fmt::format("{}:{} serves no {} after {} s; the last answer: {}", namenode.host,
                              namenode.port, write ? "writes" : "reads", timeout.count(),
                              served.error().message));
    }
    std::this_thread::sleep_for(kBetweenAttempts);
  }
}

}  // namespace ebb::metadata_load
