// The interface of a backend: a few dense rows of a matrix, applied to slices. LinearMap chooses
// the rows, the columns and the length of the slices.
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
  // The most rows that one pass over the sources computes.
  static constexpr std::size_t kMostRows = 6;

  virtual ~DenseRows() = default;

  // Below this length the cost of the calls is higher than the gain from the cache.
  [[nodiscard]] virtual std::size_t LeastSliceBytes() const = 0;

  // Computes every target from all sources. Any length and alignment.
  virtual void Apply(const std::byte* const* sources, std::byte* const* targets,
                     std::size_t length) const = 0;

  // Adds the product of one source to every target.
  virtual void Accumulate(std::size_t source, const std::byte* data, std::byte* const* targets,
                          std::size_t length) const = 0;
};

// `matrix` is row-major: `targets` (1 to kMostRows) rows of `sources` (at least 1) coefficients.
// The backend must be available.
[[nodiscard]] std::shared_ptr<const DenseRows> MakeDenseRows(Backend backend,
                                                             std::span<const std::uint8_t> matrix,
                                                             std::size_t sources,
                                                             std::size_t targets);

// The same for one backend each.
[[nodiscard]] std::shared_ptr<const DenseRows> MakeIsalRows(std::span<const std::uint8_t> matrix,
                                                            std::size_t sources,
                                                            std::size_t targets);
[[nodiscard]] std::shared_ptr<const DenseRows> MakeJerasureRows(
    std::span<const std::uint8_t> matrix, std::size_t sources, std::size_t targets);
// Null if the processor or the architecture lacks the instructions.
[[nodiscard]] std::shared_ptr<const DenseRows> MakeGfniRows(Backend backend,
                                                            std::span<const std::uint8_t> matrix,
                                                            std::size_t sources,
                                                            std::size_t targets);

}  // namespace ebb::gf
