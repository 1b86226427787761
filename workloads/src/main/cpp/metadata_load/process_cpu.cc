#include "metadata_load/process_cpu.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace ebb::metadata_load {

Result<CpuMicros> ProcessCpuMicros(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) {
    return Fail(ErrorCode::kNotFound, fmt::format("there is no process {} to measure", pid));
  }
  // The command is in parentheses and may hold anything. State, field 3, follows it.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  fields >> user >> system;
  const auto micros_per_tick = 1'000'000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  return CpuMicros{.all = (user + system) * micros_per_tick, .kernel = system * micros_per_tick};
}

}  // namespace ebb::metadata_load
