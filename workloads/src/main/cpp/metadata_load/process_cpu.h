// The processor time of a process of this machine.
#pragma once

#include <cstdint>
#include <string>

#include "common/error.h"

namespace ebb::metadata_load {

// Processor time in microseconds.
struct CpuMicros {
  std::uint64_t all = 0;
  // The part within the kernel.
  std::uint64_t kernel = 0;
};

// The time of all threads of a process since its start, ended threads included. The kernel tells it
// in ticks of 10 ms. kNotFound if there is no such process.
[[nodiscard]] Result<CpuMicros> ProcessCpuMicros(int pid);

}  // namespace ebb::metadata_load
