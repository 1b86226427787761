// The check of the outputs of a combine, in memory, before they are written: sources are decoded
// back from the outputs. docs/transitions.md says what the check proves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gf/backend.h"
#include "gf/dense_rows.h"

namespace ebb {

// Decodes by another implementation of the arithmetic than the kernel of the outputs, and without
// gf::LinearMap: none of the code that computed the outputs runs again. Immutable and thread-safe.
class OutputCheck {
 public:
  struct Mismatch {
    // Index into the sources.
    std::size_t source;
    // The first byte that differs, from the start of the slice.
    std::size_t offset;
  };

  // The check of `decoded.size()` (at least 1) sources, a row of `coefficients` for each. A row has
  // `targets.size()` coefficients of outputs, then `sources` coefficients of sources. `kernel`
  // computes the outputs that are checked.
  OutputCheck(std::vector<std::size_t> decoded, std::vector<std::size_t> targets,
              std::size_t sources, std::span<const std::uint8_t> coefficients,
              gf::Backend kernel);

  // The scratch memory that Find needs.
  [[nodiscard]] std::size_t ScratchBytes() const {
    return std::min(decoded_.size(), gf::DenseRows::kMostRows) * kPieceBytes;
  }

  // The first difference between a source and what the outputs say of this source. `sources` and
  // `outputs` are all sources and all outputs of the combine; each has `length` bytes (any length).
  [[nodiscard]] std::optional<Mismatch> Find(std::span<const std::byte* const> sources,
                                             std::span<const std::byte* const> outputs,
                                             std::size_t length, std::byte* scratch) const;

  // The implementation that decodes.
  [[nodiscard]] gf::Backend backend() const { return backend_; }

 private:
  // Rows that are computed in one pass.
  struct Pass {
    std::size_t first_row;
    std::size_t rows;
    // Columns with a non-zero coefficient: outputs, then sources.
    std::vector<std::size_t> columns;
    std::shared_ptr<const gf::DenseRows> map;
  };

  // So many bytes of each output are decoded at a time: they stay in the processor's cache until
  // they are compared.
  static constexpr std::size_t kPieceBytes = std::size_t{16} << 10;

  std::vector<std::size_t> decoded_;
  std::vector<std::size_t> targets_;
  gf::Backend backend_;
  std::vector<Pass> passes_;
};

}  // namespace ebb
