#include <isa-l/erasure_code.h>

#include <algorithm>
#include <vector>

#include "gf/dense_rows.h"
#include "gf/pointers.h"

namespace ebb::gf {

namespace {

// ISA-L's expanded form of one coefficient.
constexpr std::size_t kTableBytes = 32;
// ISA-L counts in int.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

// ISA-L takes pointers to mutable sources and tables but does not write to them.
unsigned char* Mutable(const std::byte* data) {
  return reinterpret_cast<unsigned char*>(const_cast<std::byte*>(data));
}

class IsalRows final : public DenseRows {
 public:
  IsalRows(std::span<const std::uint8_t> matrix, std::size_t sources, std::size_t targets)
      : sources_(static_cast<int>(sources)),
        targets_(static_cast<int>(targets)),
        tables_(matrix.size() * kTableBytes) {
    ec_init_tables(sources_, targets_, const_cast<unsigned char*>(matrix.data()), tables_.data());
  }

  std::size_t LeastSliceBytes() const override { return std::size_t{8} << 10; }

  void Apply(const std::byte* const* sources, std::byte* const* targets,
             std::size_t length) const override {
    if (length <= kMostBytes) {
      // The arrays of pointers already have the form that ISA-L expects.
      ec_encode_data(static_cast<int>(length), sources_, targets_, tables(),
                     reinterpret_cast<unsigned char**>(const_cast<std::byte**>(sources)),
                     reinterpret_cast<unsigned char**>(const_cast<std::byte**>(targets)));
      return;
    }
    const auto count = static_cast<std::size_t>(sources_);
    Pointers<const std::byte*> in(count);
    Pointers<std::byte*> out(kMostRows);
    for (std::size_t at = 0; at < length; at += kMostBytes) {
      for (std::size_t s = 0; s < count; ++s) in[s] = sources[s] + at;
      for (int t = 0; t < targets_; ++t) out[t] = targets[t] + at;
      Apply(in.data(), out.data(), std::min(kMostBytes, length - at));
    }
  }

  void Accumulate(std::size_t source, const std::byte* data, std::byte* const* targets,
                  std::size_t length) const override {
    std::array<unsigned char*, kMostRows> out;
    for (std::size_t at = 0; at < length; at += kMostBytes) {
      for (int t = 0; t < targets_; ++t) out[t] = Mutable(targets[t] + at);
      ec_encode_data_update(static_cast<int>(std::min(kMostBytes, length - at)), sources_, targets_,
                            static_cast<int>(source), tables(), Mutable(data + at), out.data());
    }
  }

 private:
  unsigned char* tables() const { return const_cast<unsigned char*>(tables_.data()); }

  int sources_;
  int targets_;
  std::vector<std::uint8_t> tables_;
};

}  // namespace

std::shared_ptr<const DenseRows> MakeIsalRows(std::span<const std::uint8_t> matrix,
                                              std::size_t sources, std::size_t targets) {
  return std::make_shared<IsalRows>(matrix, sources, targets);
}

}  // namespace ebb::gf
