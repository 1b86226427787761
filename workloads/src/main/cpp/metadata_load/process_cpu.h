// The processor time of a process of this machine.
#pragma once

#include <cstdint>
#include <string>

#include "common/error.h"

namespace ebb::metadata_load {

// User and system time of all threads of a process since its start, ended threads included, in
// microseconds. The kernel tells it in ticks of 10 ms. kNotFound if there is no such process.
[[nodiscard]] Result<std::uint64_t> ProcessCpuMicros(int pid);

}  // namespace ebb::metadata_load
