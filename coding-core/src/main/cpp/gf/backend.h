// Which code multiplies in GF(2^8). All backends give the same bytes; they differ in speed and in
// what they need of the processor. Thread-safe.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace ebb::gf {

enum class Backend {
  kIsal,        // ISA-L; chooses SSE to AVX-512 by itself
  kJerasure,    // jerasure over GF-Complete: the second opinion of the tests
  kGfniAvx2,    // our own, for processors with GFNI and AVX2
  kGfniAvx512,  // our own, for processors with GFNI and AVX-512
};

inline constexpr std::array kAllBackends = {Backend::kIsal, Backend::kJerasure, Backend::kGfniAvx2,
                                            Backend::kGfniAvx512};

// "isal", "jerasure", "gfni-avx2", "gfni-avx512".
[[nodiscard]] std::string_view Name(Backend backend);
[[nodiscard]] std::optional<Backend> BackendByName(std::string_view name);

// Whether this processor can run it.
[[nodiscard]] bool IsAvailable(Backend backend);

// The fastest that this processor can run, by what kernel_benchmark measures: GFNI with the widest
// vectors there are, else ISA-L.
[[nodiscard]] Backend DefaultBackend();

}  // namespace ebb::gf
