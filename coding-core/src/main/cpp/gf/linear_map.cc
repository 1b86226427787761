#include "gf/linear_map.h"

#include <isa-l/erasure_code.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "gf/xor.h"

namespace ebb::gf {

namespace {

// ISA-L's expanded form of one coefficient.
constexpr std::size_t kTableBytes = 32;
// Where several groups of rows read the same sources, a piece of all of them is kept in the L2
// cache for the next group.
constexpr std::size_t kPieceTotalBytes = std::size_t{256} << 10;
constexpr std::size_t kPieceMinBytes = std::size_t{4} << 10;

// ISA-L takes pointers to mutable sources but does not write to them.
unsigned char* Mutable(const std::byte* data) {
  return reinterpret_cast<unsigned char*>(const_cast<std::byte*>(data));
}

unsigned char* Raw(std::byte* data) { return reinterpret_cast<unsigned char*>(data); }

// The pointers of a few sources or targets, without the heap.
template <typename Pointer>
class Pointers {
 public:
  explicit Pointers(std::size_t size) : large_(size > small_.size() ? size : 0) {
    begin_ = large_.empty() ? small_.data() : large_.data();
  }
  Pointer& operator[](std::size_t i) { return begin_[i]; }
  Pointer* data() { return begin_; }

 private:
  std::array<Pointer, 32> small_;
  std::vector<Pointer> large_;
  Pointer* begin_;
};

}  // namespace

LinearMap::LinearMap(std::span<const std::uint8_t> coefficients, std::size_t sources,
                     std::size_t targets)
    : sources_(sources),
      targets_(targets),
      coefficients_(coefficients.begin(), coefficients.end()) {
  if (coefficients.size() != sources * targets) {
    std::fprintf(stderr, "gf::LinearMap: %zu coefficients for %zu x %zu\n", coefficients.size(),
                 targets, sources);
    std::abort();
  }
  for (std::size_t t = 0; t < targets; ++t) {
    std::vector<std::size_t> used;
    bool only_ones = true;
    for (std::size_t s = 0; s < sources; ++s) {
      if (coefficient(t, s) != 0) used.push_back(s);
      only_ones = only_ones && coefficient(t, s) <= 1;
    }
    if (only_ones) {
      xor_rows_.push_back({t, std::move(used)});
    } else {
      AddDenseRow(t, std::move(used));
    }
  }
  for (DenseRows& rows : dense_rows_) MakeTables(rows);
}

void LinearMap::AddDenseRow(std::size_t target, std::vector<std::size_t> sources) {
  for (DenseRows& rows : dense_rows_) {
    if (rows.sources != sources) continue;
    rows.targets.push_back(target);
    return;
  }
  dense_rows_.push_back({{target}, std::move(sources), {}});
}

void LinearMap::MakeTables(DenseRows& rows) const {
  std::vector<std::uint8_t> matrix;
  for (const std::size_t t : rows.targets) {
    for (const std::size_t s : rows.sources) matrix.push_back(coefficient(t, s));
  }
  rows.tables.resize(matrix.size() * kTableBytes);
  ec_init_tables(static_cast<int>(rows.sources.size()), static_cast<int>(rows.targets.size()),
                 matrix.data(), rows.tables.data());
}

void LinearMap::Apply(std::span<const std::byte* const> sources,
                      std::span<std::byte* const> targets, std::size_t length) const {
  if (xor_rows_.size() + dense_rows_.size() <= 1) {
    // One pass over the sources in any case; ISA-L counts in int.
    constexpr std::size_t kMost = std::size_t{1} << 30;
    for (std::size_t at = 0; at < length; at += kMost) {
      ApplyPiece(sources, targets, at, std::min(kMost, length - at));
    }
    return;
  }
  const std::size_t even_share = kPieceTotalBytes / std::max<std::size_t>(1, sources_ + targets_);
  const std::size_t piece = std::max(kPieceMinBytes, even_share / 1024 * 1024);
  for (std::size_t at = 0; at < length; at += piece) {
    ApplyPiece(sources, targets, at, std::min(piece, length - at));
  }
}

void LinearMap::ApplyPiece(std::span<const std::byte* const> sources,
                           std::span<std::byte* const> targets, std::size_t offset,
                           std::size_t length) const {
  for (const DenseRows& rows : dense_rows_) {
    Pointers<unsigned char*> in(rows.sources.size());
    Pointers<unsigned char*> out(rows.targets.size());
    for (std::size_t i = 0; i < rows.sources.size(); ++i) {
      in[i] = Mutable(sources[rows.sources[i]] + offset);
    }
    for (std::size_t i = 0; i < rows.targets.size(); ++i) {
      out[i] = Raw(targets[rows.targets[i]] + offset);
    }
    ec_encode_data(static_cast<int>(length), static_cast<int>(rows.sources.size()),
                   static_cast<int>(rows.targets.size()),
                   const_cast<unsigned char*>(rows.tables.data()), in.data(), out.data());
  }
  for (const XorRow& row : xor_rows_) {
    Pointers<const std::byte*> in(row.sources.size());
    for (std::size_t i = 0; i < row.sources.size(); ++i) in[i] = sources[row.sources[i]] + offset;
    XorInto(targets[row.target] + offset, {in.data(), row.sources.size()}, length);
  }
}

void LinearMap::Accumulate(std::size_t source, const std::byte* data,
                           std::span<std::byte* const> targets, std::size_t length) const {
  for (const DenseRows& rows : dense_rows_) {
    const auto found = std::lower_bound(rows.sources.begin(), rows.sources.end(), source);
    if (found == rows.sources.end() || *found != source) continue;
    Pointers<unsigned char*> out(rows.targets.size());
    constexpr std::size_t kMost = std::size_t{1} << 30;
    for (std::size_t at = 0; at < length; at += kMost) {
      for (std::size_t i = 0; i < rows.targets.size(); ++i) {
        out[i] = Raw(targets[rows.targets[i]] + at);
      }
      ec_encode_data_update(
          static_cast<int>(std::min(kMost, length - at)), static_cast<int>(rows.sources.size()),
          static_cast<int>(rows.targets.size()), static_cast<int>(found - rows.sources.begin()),
          const_cast<unsigned char*>(rows.tables.data()), Mutable(data + at), out.data());
    }
  }
  for (const XorRow& row : xor_rows_) {
    if (!std::binary_search(row.sources.begin(), row.sources.end(), source)) continue;
    const std::array<const std::byte*, 2> in = {targets[row.target], data};
    XorInto(targets[row.target], in, length);
  }
}

}  // namespace ebb::gf
