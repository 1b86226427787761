// The one kernel of all coding work: outputs are linear combinations of inputs over GF(2^8).
// Encoding, decoding, repair and conversion differ in the coefficients only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gf/backend.h"
#include "gf/dense_rows.h"

namespace ebb::gf {

// A matrix of coefficients, prepared for many slices. Immutable and thread-safe.
//
// Cost: a row of zeros and ones is computed by XOR of the sources with a one. It may start from an
// earlier row that has many of the same ones. The backend computes the other rows, in one pass for
// rows with the same non-zero columns (a row of ones may join such a pass). A zero coefficient
// costs nothing.
class LinearMap {
 public:
  // `coefficients` is row-major: `targets` rows of `sources` values each. If the size is wrong or
  // the backend is not available, the process ends.
  LinearMap(std::span<const std::uint8_t> coefficients, std::size_t sources, std::size_t targets,
            Backend backend = DefaultBackend());

  // targets[t][i] = sum over s of coefficient(t, s) * sources[s][i], for i below `length` bytes
  // (any length, any alignment). A source whose column is all zeros is not read and may be null.
  // Targets overlap neither each other nor a source.
  void Apply(std::span<const std::byte* const> sources, std::span<std::byte* const> targets,
             std::size_t length) const;

  // targets[t][i] += coefficient(t, source) * data[i], for sources that arrive one after the other.
  // The targets start as zeros.
  void Accumulate(std::size_t source, const std::byte* data, std::span<std::byte* const> targets,
                  std::size_t length) const;

  [[nodiscard]] std::size_t sources() const { return sources_; }
  [[nodiscard]] std::size_t targets() const { return targets_; }
  [[nodiscard]] std::uint8_t coefficient(std::size_t target, std::size_t source) const {
    return coefficients_[target * sources_ + source];
  }

 private:
  // Rows that are computed in one pass over the same non-zero columns.
  struct Group {
    std::vector<std::size_t> targets;
    std::vector<std::size_t> sources;
    std::shared_ptr<const DenseRows> rows;
  };
  // A row of zeros and ones: the XOR of sources and of earlier targets.
  struct XorRow {
    std::size_t target;
    std::vector<std::size_t> columns;
    std::vector<std::size_t> sources;
    std::vector<std::size_t> earlier;
  };

  [[nodiscard]] std::vector<std::size_t> Columns(std::size_t target) const;
  bool JoinGroup(std::size_t target, const std::vector<std::size_t>& columns);
  void AddXorRow(std::size_t target, std::vector<std::size_t> columns);
  [[nodiscard]] std::size_t PieceBytes() const;
  void ApplyPiece(std::span<const std::byte* const> sources, std::span<std::byte* const> targets,
                  std::size_t offset, std::size_t length) const;

  std::size_t sources_;
  std::size_t targets_;
  std::vector<std::uint8_t> coefficients_;
  std::vector<Group> groups_;
  std::vector<XorRow> xor_rows_;
  // All groups and rows are applied to this many bytes before the next bytes.
  std::size_t piece_bytes_;
};

}  // namespace ebb::gf
