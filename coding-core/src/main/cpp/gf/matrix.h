// Matrices over GF(2^8). Every function is pure but for its arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gf/field.h"

namespace ebb::gf {

using Row = std::vector<std::uint8_t>;

// target += factor * source, for rows of one length.
inline void AddRow(Row& target, const Row& source, std::uint8_t factor) {
  for (std::size_t i = 0; i < target.size(); ++i) {
    target[i] = static_cast<std::uint8_t>(target[i] ^ Mul(factor, source[i]));
  }
}

// Replaces a square matrix by its inverse. False if there is none; the rows are of no use then.
[[nodiscard]] inline bool Invert(std::vector<Row>& rows) {
  const std::size_t n = rows.size();
  // [matrix | identity], brought to [identity | inverse].
  for (std::size_t r = 0; r < n; ++r) {
    rows[r].resize(2 * n);
    rows[r][n + r] = 1;
  }
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    while (pivot < n && rows[pivot][c] == 0) ++pivot;
    if (pivot == n) return false;
    std::swap(rows[c], rows[pivot]);
    const std::uint8_t inverse = Inv(rows[c][c]);
    for (auto& value : rows[c]) value = Mul(value, inverse);
    for (std::size_t r = 0; r < n; ++r) {
      if (r != c) AddRow(rows[r], rows[c], rows[r][c]);
    }
  }
  for (auto& row : rows) row.erase(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(n));
  return true;
}

}  // namespace ebb::gf
