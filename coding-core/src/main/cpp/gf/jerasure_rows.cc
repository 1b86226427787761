extern "C" {
#include <jerasure.h>
}

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "gf/dense_rows.h"
#include "gf/pointers.h"

namespace ebb::gf {

namespace {

constexpr int kWordBits = 8;
// GF-Complete needs source and target at the same distance from a multiple of this, and jerasure
// needs a length of whole words. Other slices are copied, piece by piece, into aligned buffers.
constexpr std::size_t kAlignment = 16;
constexpr std::size_t kPieceBytes = 2048;

struct alignas(kAlignment) Piece {
  std::array<std::byte, kPieceBytes> bytes;
};

std::size_t RoundUp(std::size_t length) {
  return (length + kAlignment - 1) / kAlignment * kAlignment;
}

bool IsAligned(const std::byte* data) {
  return reinterpret_cast<std::uintptr_t>(data) % kAlignment == 0;
}

char* Chars(const std::byte* data) { return reinterpret_cast<char*>(const_cast<std::byte*>(data)); }

class JerasureRows final : public DenseRows {
 public:
  JerasureRows(std::span<const std::uint8_t> matrix, std::size_t sources, std::size_t targets)
      : sources_(sources), targets_(targets), matrix_(matrix.begin(), matrix.end()) {
    // At its first use jerasure computes global tables, without a lock.
    [[maybe_unused]] static const bool made = [] {
      if (galois_init_default_field(kWordBits) == 0) return true;
      std::fprintf(stderr, "gf: jerasure has no memory for the tables of GF(2^8)\n");
      std::abort();
    }();
  }

  std::size_t LeastSliceBytes() const override { return std::size_t{8} << 10; }

  void Apply(const std::byte* const* sources, std::byte* const* targets,
             std::size_t length) const override {
    bool aligned = length <= (std::size_t{1} << 30);  // jerasure counts in int
    for (std::size_t s = 0; s < sources_; ++s) aligned = aligned && IsAligned(sources[s]);
    for (std::size_t t = 0; t < targets_; ++t) aligned = aligned && IsAligned(targets[t]);
    const std::size_t direct = aligned ? length / kAlignment * kAlignment : 0;
    if (direct > 0) Encode(sources, targets, direct);
    if (direct < length) ApplyCopied(sources, targets, direct, length);
  }

  void Accumulate(std::size_t source, const std::byte* data, std::byte* const* targets,
                  std::size_t length) const override {
    Piece in;
    Piece out;
    for (std::size_t at = 0; at < length; at += kPieceBytes) {
      const std::size_t piece = std::min(kPieceBytes, length - at);
      in.bytes.fill(std::byte{0});
      std::memcpy(in.bytes.data(), data + at, piece);
      for (std::size_t t = 0; t < targets_; ++t) {
        const int coefficient = matrix_[t * sources_ + source];
        if (coefficient == 0) continue;
        std::memcpy(out.bytes.data(), targets[t] + at, piece);
        galois_w08_region_multiply(Chars(in.bytes.data()), coefficient,
                                   static_cast<int>(RoundUp(piece)), Chars(out.bytes.data()), 1);
        std::memcpy(targets[t] + at, out.bytes.data(), piece);
      }
    }
  }

 private:
  // The pointers already have the form that jerasure expects. It changes neither them nor the
  // sources.
  void Encode(const std::byte* const* sources, std::byte* const* targets,
              std::size_t length) const {
    jerasure_matrix_encode(static_cast<int>(sources_), static_cast<int>(targets_), kWordBits,
                           const_cast<int*>(matrix_.data()),
                           reinterpret_cast<char**>(const_cast<std::byte**>(sources)),
                           reinterpret_cast<char**>(const_cast<std::byte**>(targets)),
                           static_cast<int>(length));
  }

  void ApplyCopied(const std::byte* const* sources, std::byte* const* targets, std::size_t from,
                   std::size_t length) const {
    std::vector<Piece> pieces(sources_ + targets_);
    Pointers<const std::byte*> in(sources_);
    Pointers<std::byte*> out(targets_);
    for (std::size_t s = 0; s < sources_; ++s) in[s] = pieces[s].bytes.data();
    for (std::size_t t = 0; t < targets_; ++t) out[t] = pieces[sources_ + t].bytes.data();
    for (std::size_t at = from; at < length; at += kPieceBytes) {
      const std::size_t piece = std::min(kPieceBytes, length - at);
      for (std::size_t s = 0; s < sources_; ++s) {
        std::memcpy(pieces[s].bytes.data(), sources[s] + at, piece);
      }
      Encode(in.data(), out.data(), RoundUp(piece));
      for (std::size_t t = 0; t < targets_; ++t) std::memcpy(targets[t] + at, out[t], piece);
    }
  }

  std::size_t sources_;
  std::size_t targets_;
  std::vector<int> matrix_;
};

}  // namespace

std::shared_ptr<const DenseRows> MakeJerasureRows(std::span<const std::uint8_t> matrix,
                                                  std::size_t sources, std::size_t targets) {
  return std::make_shared<JerasureRows>(matrix, sources, targets);
}

}  // namespace ebb::gf
