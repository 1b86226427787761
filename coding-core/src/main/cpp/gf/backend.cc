#include "gf/backend.h"

namespace ebb::gf {

std::string_view Name(Backend backend) {
  switch (backend) {
    case Backend::kIsal:
      return "isal";
    case Backend::kJerasure:
      return "jerasure";
    case Backend::kGfniAvx2:
      return "gfni-avx2";
    case Backend::kGfniAvx512:
      return "gfni-avx512";
  }
  __builtin_unreachable();
}

std::optional<Backend> BackendByName(std::string_view name) {
  for (const Backend backend : kAllBackends) {
    if (Name(backend) == name) return backend;
  }
  return std::nullopt;
}

bool IsAvailable(Backend backend) {
  switch (backend) {
    case Backend::kIsal:
    case Backend::kJerasure:
      return true;
#if defined(__x86_64__)
    // These tests include the operating system's support for the wide registers.
    case Backend::kGfniAvx2:
      return __builtin_cpu_supports("gfni") && __builtin_cpu_supports("avx2");
    case Backend::kGfniAvx512:
      return __builtin_cpu_supports("gfni") && __builtin_cpu_supports("avx512bw");
#endif
    default:
      return false;
  }
}

Backend DefaultBackend() {
  static const Backend fastest = [] {
    for (const Backend gfni : {Backend::kGfniAvx512, Backend::kGfniAvx2}) {
      if (IsAvailable(gfni)) return gfni;
    }
    return Backend::kIsal;
  }();
  return fastest;
}

}  // namespace ebb::gf
