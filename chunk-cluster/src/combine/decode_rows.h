// For tests: the rows of an outputCheck, computed from the coefficients of a combine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "gf/field.h"
#include "gf/matrix.h"

namespace ebb {

// A row for each of the sources `decoded`: coefficients of all outputs, then of all sources. There
// are as many of them as outputs. Aborts if the outputs do not determine these sources.
inline std::vector<std::uint8_t> DecodeRows(const std::vector<std::uint8_t>& coefficients,
                                            std::size_t sources,
                                            const std::vector<std::size_t>& decoded) {
  const std::size_t n = decoded.size();
  std::vector<gf::Row> rows(n, gf::Row(n));
  for (std::size_t t = 0; t < n; ++t) {
    for (std::size_t k = 0; k < n; ++k) rows[t][k] = coefficients[t * sources + decoded[k]];
  }
  if (!gf::Invert(rows)) std::abort();
  std::vector<std::uint8_t> result;
  for (std::size_t k = 0; k < n; ++k) {
    gf::Row row = rows[k];
    row.resize(n + sources);
    for (std::size_t t = 0; t < n; ++t) {
      for (std::size_t s = 0; s < sources; ++s) {
        if (std::ranges::find(decoded, s) != decoded.end()) continue;
        row[n + s] = static_cast<std::uint8_t>(
            row[n + s] ^ gf::Mul(rows[k][t], coefficients[t * sources + s]));
      }
    }
    result.insert(result.end(), row.begin(), row.end());
  }
  return result;
}

}  // namespace ebb
