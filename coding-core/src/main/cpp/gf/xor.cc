#include "gf/xor.h"

#include <cstdint>
#include <cstring>

namespace ebb::gf {

namespace {

constexpr std::size_t kVectorBytes = 64;
constexpr std::size_t kUnroll = 4;
constexpr std::size_t kStepBytes = kVectorBytes * kUnroll;

typedef std::uint64_t Vector __attribute__((vector_size(kVectorBytes)));

// The compiler splits the vectors into the registers of the chosen instruction set. Returns the
// number of bytes done, a multiple of the step. memcpy stands for an unaligned load.
__attribute__((always_inline)) inline std::size_t XorSteps(
    std::byte* target, std::span<const std::byte* const> sources, std::size_t length) {
  std::size_t at = 0;
  for (; at + kStepBytes <= length; at += kStepBytes) {
    // Full unrolling of every loop over these keeps them in registers.
    Vector sum[kUnroll];
#pragma GCC unroll 8
    for (std::size_t u = 0; u < kUnroll; ++u) {
      std::memcpy(&sum[u], sources[0] + at + u * kVectorBytes, kVectorBytes);
    }
    for (std::size_t s = 1; s < sources.size(); ++s) {
#pragma GCC unroll 8
      for (std::size_t u = 0; u < kUnroll; ++u) {
        Vector value;
        std::memcpy(&value, sources[s] + at + u * kVectorBytes, kVectorBytes);
        sum[u] ^= value;
      }
    }
#pragma GCC unroll 8
    for (std::size_t u = 0; u < kUnroll; ++u) {
      std::memcpy(target + at + u * kVectorBytes, &sum[u], kVectorBytes);
    }
  }
  return at;
}

using Steps = std::size_t (*)(std::byte*, std::span<const std::byte* const>, std::size_t);

std::size_t XorStepsPlain(std::byte* target, std::span<const std::byte* const> sources,
                          std::size_t length) {
  return XorSteps(target, sources, length);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) std::size_t XorStepsAvx2(std::byte* target,
                                                         std::span<const std::byte* const> sources,
                                                         std::size_t length) {
  return XorSteps(target, sources, length);
}

__attribute__((target("avx512f,prefer-vector-width=512"))) std::size_t XorStepsAvx512(
    std::byte* target, std::span<const std::byte* const> sources, std::size_t length) {
  return XorSteps(target, sources, length);
}
#endif

Steps ChooseSteps() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return XorStepsAvx512;
  if (__builtin_cpu_supports("avx2")) return XorStepsAvx2;
#endif
  return XorStepsPlain;
}

}  // namespace

void XorInto(std::byte* target, std::span<const std::byte* const> sources, std::size_t length) {
  if (length == 0) return;
  if (sources.empty()) {
    std::memset(target, 0, length);
    return;
  }
  static const Steps steps = ChooseSteps();
  for (std::size_t at = steps(target, sources, length); at < length; ++at) {
    std::byte sum = sources[0][at];
    for (std::size_t s = 1; s < sources.size(); ++s) sum ^= sources[s][at];
    target[at] = sum;
  }
}

}  // namespace ebb::gf
