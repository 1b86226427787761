#include "combine/output_check.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "gf/pointers.h"

namespace ebb {

OutputCheck::OutputCheck(std::vector<std::size_t> decoded, std::vector<std::size_t> targets,
                         std::size_t sources, std::span<const std::uint8_t> coefficients,
                         gf::Backend kernel)
    : decoded_(std::move(decoded)),
      targets_(std::move(targets)),
      backend_(gf::UnlikeBackend(kernel)) {
  const std::size_t width = targets_.size() + sources;
  for (std::size_t first = 0; first < decoded_.size(); first += gf::DenseRows::kMostRows) {
    Pass pass{first, std::min(gf::DenseRows::kMostRows, decoded_.size() - first), {}, nullptr};
    const auto rows = coefficients.subspan(first * width, pass.rows * width);
    for (std::size_t c = 0; c < width; ++c) {
      bool any = false;
      for (std::size_t r = 0; r < pass.rows; ++r) any = any || rows[r * width + c] != 0;
      if (any) pass.columns.push_back(c);
    }
    std::vector<std::uint8_t> matrix;
    for (std::size_t r = 0; r < pass.rows; ++r) {
      for (const std::size_t c : pass.columns) matrix.push_back(rows[r * width + c]);
    }
    pass.map = gf::MakeDenseRows(backend_, matrix, pass.columns.size(), pass.rows);
    passes_.push_back(std::move(pass));
  }
}

std::optional<OutputCheck::Mismatch> OutputCheck::Find(
    std::span<const std::byte* const> sources, std::span<const std::byte* const> outputs,
    std::size_t length, std::byte* scratch) const {
  std::array<std::byte*, gf::DenseRows::kMostRows> decoded;
  for (std::size_t r = 0; r < decoded.size(); ++r) decoded[r] = scratch + r * kPieceBytes;
  for (std::size_t at = 0; at < length; at += kPieceBytes) {
    const std::size_t piece = std::min(kPieceBytes, length - at);
    for (const Pass& pass : passes_) {
      gf::Pointers<const std::byte*> in(pass.columns.size());
      for (std::size_t i = 0; i < pass.columns.size(); ++i) {
        const std::size_t c = pass.columns[i];
        in[i] = at + (c < targets_.size() ? outputs[targets_[c]] : sources[c - targets_.size()]);
      }
      pass.map->Apply(in.data(), decoded.data(), piece);
      for (std::size_t r = 0; r < pass.rows; ++r) {
        const std::size_t source = decoded_[pass.first_row + r];
        const std::byte* const read = sources[source] + at;
        if (std::memcmp(decoded[r], read, piece) == 0) continue;
        const auto different = std::mismatch(decoded[r], decoded[r] + piece, read);
        return Mismatch{source, at + static_cast<std::size_t>(different.first - decoded[r])};
      }
    }
  }
  return std::nullopt;
}

}  // namespace ebb
