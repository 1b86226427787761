// For tests: the rows of an outputCheck, computed from the coefficients of a combine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "gf/field.h"

namespace ebb {

// A row for each of the sources `decoded`: coefficients of all outputs, then of all sources. There
// are as many of them as outputs. Aborts if the outputs do not determine these sources.
inline std::vector<std::uint8_t> DecodeRows(const std::vector<std::uint8_t>& coefficients,
                                            std::size_t sources,
                                            const std::vector<std::size_t>& decoded) {
  const std::size_t n = decoded.size();
  // [columns of the decoded sources | identity], brought to [identity | inverse].
  std::vector<std::vector<std::uint8_t>> rows(n, std::vector<std::uint8_t>(2 * n));
  for (std::size_t t = 0; t < n; ++t) {
    for (std::size_t k = 0; k < n; ++k) rows[t][k] = coefficients[t * sources + decoded[k]];
    rows[t][n + t] = 1;
  }
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    while (pivot < n && rows[pivot][c] == 0) ++pivot;
    if (pivot == n) std::abort();
    std::swap(rows[c], rows[pivot]);
    const std::uint8_t inverse = gf::Inv(rows[c][c]);
    for (auto& value : rows[c]) value = gf::Mul(value, inverse);
    for (std::size_t r = 0; r < n; ++r) {
      const std::uint8_t factor = rows[r][c];
      for (std::size_t i = 0; r != c && i < 2 * n; ++i) {
        rows[r][i] = static_cast<std::uint8_t>(rows[r][i] ^ gf::Mul(factor, rows[c][i]));
      }
    }
  }
  std::vector<std::uint8_t> result;
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<std::uint8_t> row(rows[k].begin() + static_cast<std::ptrdiff_t>(n), rows[k].end());
    row.resize(n + sources);
    for (std::size_t t = 0; t < n; ++t) {
      for (std::size_t s = 0; s < sources; ++s) {
        if (std::ranges::find(decoded, s) != decoded.end()) continue;
        row[n + s] = static_cast<std::uint8_t>(
            row[n + s] ^ gf::Mul(rows[k][n + t], coefficients[t * sources + s]));
      }
    }
    result.insert(result.end(), row.begin(), row.end());
  }
  return result;
}

}  // namespace ebb
