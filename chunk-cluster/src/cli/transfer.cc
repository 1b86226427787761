#include "cli/transfer.h"

namespace ebb::cli {

namespace {

constexpr std::size_t kMostThreads = 64;
constexpr std::size_t kMostWaiting = 1'000'000;

}  // namespace

Result<TransferSize> TransferSizeOf(const Words& words) {
  TransferSize size;
  if (const auto threads = words.values.find("t"); threads != words.values.end()) {
    EBB_ASSIGN(size.threads, CountOf("t", threads->second, kMostThreads));
  }
  if (const auto waiting = words.values.find("q"); waiting != words.values.end()) {
    EBB_ASSIGN(size.waiting, CountOf("q", waiting->second, kMostWaiting));
  }
  return size;
}

void Transfer::Finish() {
  jobs_.Finish();
  for (const auto& job : last_) job();
  last_.clear();
}

}  // namespace ebb::cli
