#include "data_tool/parts.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <vector>

namespace ebb::data_tool {

namespace {

using Clock = std::chrono::steady_clock;

std::uint64_t MicrosSince(Clock::time_point begin) {
  const auto passed = Clock::now() - begin;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(passed).count());
}

}  // namespace

Result<Timing> RunParts(std::size_t count, std::size_t threads,
                        const std::function<Status(std::size_t, std::size_t)>& run) {
  std::vector<std::uint64_t> micros(count);
  std::vector<Status> ends(threads);
  const auto every = [&](std::size_t thread) -> Status {
    for (std::size_t part = thread; part < count; part += threads) {
      const auto begin = Clock::now();
      EBB_TRY(run(part, thread));
      micros[part] = MicrosSince(begin);
    }
    return {};
  };
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> running;
    for (std::size_t thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        try {
          ends[thread] = every(thread);
        } catch (const std::exception& error) {  // no memory, or no thread
          ends[thread] = Fail(ErrorCode::kIo, error.what());
        }
      });
    }
  }
  const std::uint64_t all = MicrosSince(begin);
  for (const Status& end : ends) EBB_TRY(end);
  std::ranges::sort(micros);
  return Timing{all, micros[count / 2]};
}

}  // namespace ebb::data_tool
