#include "gf/linear_map.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "gf/pointers.h"
#include "gf/xor.h"

namespace ebb::gf {

namespace {

// If several groups of rows read the same sources, the pieces are so short that they stay in the L1
// cache for the next group. They are not shorter than that, because then the calls would cost more
// than the computation.
constexpr std::size_t kPieceTotalBytes = std::size_t{32} << 10;
constexpr std::size_t kLeastXorBytes = 1024;
// The bytes that the kernels compute in one step.
constexpr std::size_t kPieceStepBytes = 256;

}  // namespace

LinearMap::LinearMap(std::span<const std::uint8_t> coefficients, std::size_t sources,
                     std::size_t targets, Backend backend)
    : sources_(sources),
      targets_(targets),
      coefficients_(coefficients.begin(), coefficients.end()) {
  if (coefficients.size() != sources * targets) {
    std::fprintf(stderr, "gf::LinearMap: %zu coefficients for %zu x %zu\n", coefficients.size(),
                 targets, sources);
    std::abort();
  }
  if (!IsAvailable(backend)) {
    std::fprintf(stderr, "gf::LinearMap: this processor cannot run %s; choose another backend\n",
                 Name(backend).data());
    std::abort();
  }
  const auto only_ones = [&](std::size_t t) {
    return std::ranges::all_of(std::span(coefficients_).subspan(t * sources_, sources_),
                               [](std::uint8_t value) { return value <= 1; });
  };
  for (std::size_t t = 0; t < targets; ++t) {
    if (only_ones(t)) continue;
    auto columns = Columns(t);
    if (!JoinGroup(t, columns)) groups_.push_back({{t}, std::move(columns), nullptr});
  }
  for (std::size_t t = 0; t < targets; ++t) {
    if (!only_ones(t)) continue;
    auto columns = Columns(t);
    if (!JoinGroup(t, columns)) AddXorRow(t, std::move(columns));
  }
  for (Group& group : groups_) {
    std::vector<std::uint8_t> matrix;
    for (const std::size_t t : group.targets) {
      for (const std::size_t s : group.sources) matrix.push_back(coefficient(t, s));
    }
    group.rows = MakeDenseRows(backend, matrix, group.sources.size(), group.targets.size());
  }
  piece_bytes_ = PieceBytes();
}

std::size_t LinearMap::PieceBytes() const {
  // A single group reads the sources only once.
  if (groups_.size() + xor_rows_.size() <= 1) return std::numeric_limits<std::size_t>::max();
  std::size_t piece = kPieceTotalBytes / (sources_ + targets_) / kPieceStepBytes * kPieceStepBytes;
  piece = std::max(piece, kLeastXorBytes);
  for (const Group& group : groups_) piece = std::max(piece, group.rows->LeastSliceBytes());
  return piece;
}

std::vector<std::size_t> LinearMap::Columns(std::size_t target) const {
  std::vector<std::size_t> columns;
  for (std::size_t s = 0; s < sources_; ++s) {
    if (coefficient(target, s) != 0) columns.push_back(s);
  }
  return columns;
}

bool LinearMap::JoinGroup(std::size_t target, const std::vector<std::size_t>& columns) {
  for (Group& group : groups_) {
    if (group.sources != columns || group.targets.size() == DenseRows::kMostRows) continue;
    group.targets.push_back(target);
    return true;
  }
  return false;
}

// Reuses earlier rows. For example, the global parity of PC(6x5) is the sum of its six row
// parities, which is cheaper than the sum of thirty data blocks.
void LinearMap::AddXorRow(std::size_t target, std::vector<std::size_t> columns) {
  XorRow row{target, columns, std::move(columns), {}};
  for (const XorRow& earlier : xor_rows_) {
    if (earlier.columns.size() < 2) continue;
    if (!std::ranges::includes(row.sources, earlier.columns)) continue;
    std::vector<std::size_t> rest;
    std::ranges::set_difference(row.sources, earlier.columns, std::back_inserter(rest));
    row.sources = std::move(rest);
    row.earlier.push_back(earlier.target);
  }
  xor_rows_.push_back(std::move(row));
}

void LinearMap::Apply(std::span<const std::byte* const> sources,
                      std::span<std::byte* const> targets, std::size_t length) const {
  for (std::size_t at = 0; at < length;) {
    const std::size_t piece = std::min(piece_bytes_, length - at);
    ApplyPiece(sources, targets, at, piece);
    at += piece;
  }
}

void LinearMap::ApplyPiece(std::span<const std::byte* const> sources,
                           std::span<std::byte* const> targets, std::size_t offset,
                           std::size_t length) const {
  for (const Group& group : groups_) {
    Pointers<const std::byte*> in(group.sources.size());
    std::array<std::byte*, DenseRows::kMostRows> out;
    for (std::size_t i = 0; i < group.sources.size(); ++i) {
      in[i] = sources[group.sources[i]] + offset;
    }
    for (std::size_t i = 0; i < group.targets.size(); ++i) {
      out[i] = targets[group.targets[i]] + offset;
    }
    group.rows->Apply(in.data(), out.data(), length);
  }
  for (const XorRow& row : xor_rows_) {
    Pointers<const std::byte*> in(row.sources.size() + row.earlier.size());
    std::size_t count = 0;
    for (const std::size_t s : row.sources) in[count++] = sources[s] + offset;
    for (const std::size_t t : row.earlier) in[count++] = targets[t] + offset;
    XorInto(targets[row.target] + offset, {in.data(), count}, length);
  }
}

void LinearMap::Accumulate(std::size_t source, const std::byte* data,
                           std::span<std::byte* const> targets, std::size_t length) const {
  for (const Group& group : groups_) {
    const auto found = std::ranges::lower_bound(group.sources, source);
    if (found == group.sources.end() || *found != source) continue;
    std::array<std::byte*, DenseRows::kMostRows> out;
    for (std::size_t i = 0; i < group.targets.size(); ++i) out[i] = targets[group.targets[i]];
    group.rows->Accumulate(static_cast<std::size_t>(found - group.sources.begin()), data,
                           out.data(), length);
  }
  for (const XorRow& row : xor_rows_) {
    if (!std::ranges::binary_search(row.columns, source)) continue;
    const std::array<const std::byte*, 2> in = {targets[row.target], data};
    XorInto(targets[row.target], in, length);
  }
}

}  // namespace ebb::gf
