#include "common/fail_point.h"

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace ebb::fail_point {

namespace {

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

const std::string kProcess = Environment("EBBFS_PROCESS");

// The file of an armed point. It may hold the lines "kill", "error" or "stall SECONDS" (the
// action), "process NAME" (only that process fires) and "skip N" (the first N times do nothing).
struct Armed {
  enum class Action { kKill, kStall, kError };
  Action action = Action::kKill;
  unsigned stall_seconds = 0;
  std::string process;
  unsigned skip = 0;
  // All lines but "skip N".
  std::string rest;
};

unsigned Number(std::string_view text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool Read(const std::string& path, Armed& armed) {
  std::ifstream file(path);
  if (!file) return false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::string value;
    words >> word >> value;
    if (word == "error") armed.action = Armed::Action::kError;
    if (word == "stall") {
      armed.action = Armed::Action::kStall;
      armed.stall_seconds = Number(value);
    }
    if (word == "process") armed.process = value;
    if (word == "skip") {
      armed.skip = Number(value);
    } else if (!word.empty()) {
      armed.rest += line + "\n";
    }
  }
  return true;
}

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

// True if this thread is the one that executes the action.
bool Take(const std::string& directory, std::string_view point, std::string_view process,
          Armed& armed) {
  const std::string path = fmt::format("{}/{}", directory, point);
  if (!Read(path, armed)) return false;
  if (!armed.process.empty() && armed.process != process) return false;
  static std::atomic<unsigned> number = 0;
  const std::string taken = fmt::format("{}/.{}.{}.{}", directory, point, getpid(), ++number);
  // Another thread or process may be faster.
  if (std::rename(path.c_str(), taken.c_str()) != 0) return false;
  if (armed.skip > 0) {
    Write(taken, fmt::format("{}skip {}\n", armed.rest, armed.skip - 1));
    (void)std::rename(taken.c_str(), path.c_str());
    return false;
  }
  Write(taken, fmt::format("{}by {}\n", armed.rest, process));
  (void)std::rename(taken.c_str(), fmt::format("{}.fired", path).c_str());
  return true;
}

}  // namespace

const std::string kDirectory = Environment("EBBFS_FAIL_POINTS");

Status Pass(const std::string& directory, std::string_view point, std::string_view process) {
  if (access(fmt::format("{}/{}", directory, point).c_str(), F_OK) != 0) return {};
  Armed armed;
  if (!Take(directory, point, process, armed)) return {};
  switch (armed.action) {
    case Armed::Action::kKill:
      kill(getpid(), SIGKILL);
      for (;;) pause();
    case Armed::Action::kStall:
      std::this_thread::sleep_for(std::chrono::seconds(armed.stall_seconds));
      return {};
    case Armed::Action::kError:
      return Fail(ErrorCode::kIo, fmt::format("fail point {} was armed as an error", point));
  }
  return {};
}

Status Reach(std::string_view point) {
  if (kDirectory.empty()) return {};
  return Pass(kDirectory, point, kProcess);
}

}  // namespace ebb::fail_point
