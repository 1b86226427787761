// What a backend implements: a few dense rows of a matrix, applied to slices. LinearMap decides
// which rows and columns of a matrix come here, and how long the slices are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "gf/backend.h"

namespace ebb::gf {

// Immutable and thread-safe.
class DenseRows {
 public:
  // More rows than this would need a second pass over the sources.
  static constexpr std::size_t kMostRows = 6;

  virtual ~DenseRows() = default;

  // Slices shorter than this cost more in calling than they save by staying in the cache.
  [[nodiscard]] virtual std::size_t LeastSliceBytes() const = 0;

  // Every target from all sources; any length and alignment.
  virtual void Apply(const std::byte* const* sources, std::byte* const* targets,
                     std::size_t length) const = 0;

  // Adds the share of one source to every target.
  virtual void Accumulate(std::size_t source, const std::byte* data, std::byte* const* targets,
                          std::size_t length) const = 0;
};

// `matrix` is row-major: `targets` (1 to kMostRows) rows of `sources` (at least 1) coefficients.
// The backend is available.
[[nodiscard]] std::shared_ptr<const DenseRows> MakeDenseRows(Backend backend,
                                                             std::span<const std::uint8_t> matrix,
                                                             std::size_t sources,
                                                             std::size_t targets);

// One for each backend; as above.
[[nodiscard]] std::shared_ptr<const DenseRows> MakeIsalRows(std::span<const std::uint8_t> matrix,
                                                            std::size_t sources,
                                                            std::size_t targets);
[[nodiscard]] std::shared_ptr<const DenseRows> MakeJerasureRows(
    std::span<const std::uint8_t> matrix, std::size_t sources, std::size_t targets);
// Null where the processor or the architecture has no such instructions.
[[nodiscard]] std::shared_ptr<const DenseRows> MakeGfniRows(Backend backend,
                                                            std::span<const std::uint8_t> matrix,
                                                            std::size_t sources,
                                                            std::size_t targets);

}  // namespace ebb::gf
