// The implementations of multiplication in GF(2^8). All backends compute the same bytes. They
// differ in speed and in the instructions that they need. Thread-safe.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace ebb::gf {

enum class Backend {
  kIsal,        // ISA-L, which chooses SSE to AVX-512 by itself
  kJerasure,    // jerasure over GF-Complete, the reference of the tests
  kGfniAvx2,    // EbbFS, for processors with GFNI and AVX2
  kGfniAvx512,  // EbbFS, for processors with GFNI and AVX-512
};

inline constexpr std::array kAllBackends = {Backend::kIsal, Backend::kJerasure, Backend::kGfniAvx2,
                                            Backend::kGfniAvx512};

// "isal", "jerasure", "gfni-avx2", "gfni-avx512".
[[nodiscard]] std::string_view Name(Backend backend);
[[nodiscard]] std::optional<Backend> BackendByName(std::string_view name);

// True if this processor can run the backend.
[[nodiscard]] bool IsAvailable(Backend backend);

// The fastest backend for this processor according to kernel_benchmark: GFNI with the widest
// vectors, or ISA-L without GFNI.
[[nodiscard]] Backend DefaultBackend();

// A backend that shares no code with `backend` and that every processor can run. A result of one is
// checked by the other.
[[nodiscard]] constexpr Backend UnlikeBackend(Backend backend) {
  return backend == Backend::kIsal ? Backend::kJerasure : Backend::kIsal;
}

}  // namespace ebb::gf
