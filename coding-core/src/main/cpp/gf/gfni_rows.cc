// GFNI has an instruction that multiplies every byte of a vector by an 8 x 8 bit matrix.
// Multiplication by a constant is linear over GF(2), so that every coefficient is such a matrix, in
// any field of 256 elements. (GFNI's direct multiplication works only in the field of AES, 0x11b.)
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "gf/dense_rows.h"
#include "gf/field.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace ebb::gf {

namespace {

using Kernel = void (*)(const std::uint64_t*, std::size_t, const std::byte* const*,
                        std::byte* const*, std::size_t);

#pragma GCC push_options
#pragma GCC target("gfni,avx2")
namespace avx2 {
using Vector = __m256i;
inline constexpr std::size_t kUnroll = 2;
inline Vector Broadcast(std::uint64_t matrix) {
  return _mm256_set1_epi64x(static_cast<long long>(matrix));
}
inline Vector Multiply(Vector values, Vector matrix) {
  return _mm256_gf2p8affine_epi64_epi8(values, matrix, 0);
}
#include "gf/gfni_rows.inc"
}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("gfni,avx512f,avx512bw")
namespace avx512 {
using Vector = __m512i;
inline constexpr std::size_t kUnroll = 4;
inline Vector Broadcast(std::uint64_t matrix) {
  return _mm512_set1_epi64(static_cast<long long>(matrix));
}
inline Vector Multiply(Vector values, Vector matrix) {
  return _mm512_gf2p8affine_epi64_epi8(values, matrix, 0);
}
#include "gf/gfni_rows.inc"
}  // namespace avx512
#pragma GCC pop_options

// Bit i of the product is the parity of (byte AND row i). Bit j of row i is bit i of coefficient *
// 2^j. The instruction expects the row of bit 0 in the highest byte.
constexpr std::uint64_t BitMatrix(std::uint8_t coefficient) {
  std::uint64_t matrix = 0;
  for (unsigned j = 0; j < 8; ++j) {
    const unsigned product = Mul(coefficient, static_cast<std::uint8_t>(1U << j));
    for (unsigned i = 0; i < 8; ++i) {
      matrix |= std::uint64_t{product >> i & 1} << ((7 - i) * 8 + j);
    }
  }
  return matrix;
}
static_assert(BitMatrix(1) == 0x0102040810204080);

class GfniRows final : public DenseRows {
 public:
  GfniRows(const std::array<Kernel, kMostRows>& kernels, std::span<const std::uint8_t> matrix,
           std::size_t sources, std::size_t targets)
      : kernel_(kernels[targets - 1]), one_(kernels[0]), sources_(sources), targets_(targets) {
    for (std::size_t s = 0; s < sources; ++s) {
      for (std::size_t t = 0; t < targets; ++t) {
        matrices_.push_back(BitMatrix(matrix[t * sources + s]));
      }
    }
  }

  std::size_t LeastSliceBytes() const override { return 1024; }

  void Apply(const std::byte* const* sources, std::byte* const* targets,
             std::size_t length) const override {
    kernel_(matrices_.data(), sources_, sources, targets, length);
  }

  // Adds as a map with two sources: the target itself with coefficient 1, and the data. Each step
  // is read before it is written.
  void Accumulate(std::size_t source, const std::byte* data, std::byte* const* targets,
                  std::size_t length) const override {
    for (std::size_t t = 0; t < targets_; ++t) {
      const std::array matrices = {BitMatrix(1), matrices_[source * targets_ + t]};
      const std::array<const std::byte*, 2> sources = {targets[t], data};
      one_(matrices.data(), 2, sources.data(), &targets[t], length);
    }
  }

 private:
  Kernel kernel_;
  Kernel one_;
  std::size_t sources_;
  std::size_t targets_;
  std::vector<std::uint64_t> matrices_;
};

}  // namespace

std::shared_ptr<const DenseRows> MakeGfniRows(Backend backend, std::span<const std::uint8_t> matrix,
                                              std::size_t sources, std::size_t targets) {
  if (!IsAvailable(backend)) return nullptr;
  const auto& kernels = backend == Backend::kGfniAvx512 ? avx512::kKernels : avx2::kKernels;
  return std::make_shared<GfniRows>(kernels, matrix, sources, targets);
}

}  // namespace ebb::gf

#else

namespace ebb::gf {

std::shared_ptr<const DenseRows> MakeGfniRows(Backend, std::span<const std::uint8_t>, std::size_t,
                                              std::size_t) {
  return nullptr;
}

}  // namespace ebb::gf

#endif
