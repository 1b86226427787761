#include "combine/output_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "combine/decode_rows.h"
#include "gf/linear_map.h"

namespace ebb {
namespace {

using Slice = std::vector<std::byte>;

class OutputCheckTest : public testing::TestWithParam<gf::Backend> {
 protected:
  OutputCheckTest() : seed_(std::random_device()()), random_(seed_) {}

  std::size_t Below(std::size_t n) { return random_() % n; }

  // Sources and right outputs. Any sources can be decoded from the outputs: the coefficients are a
  // Cauchy matrix.
  void Prepare(std::size_t sources, std::size_t targets, std::size_t length) {
    length_ = length;
    coefficients_.clear();
    for (std::size_t t = 0; t < targets; ++t) {
      for (std::size_t s = 0; s < sources; ++s) {
        coefficients_.push_back(gf::Inv(static_cast<std::uint8_t>(t ^ (targets + s))));
      }
    }
    sources_.assign(sources, Slice(length));
    outputs_.assign(targets, Slice(length));
    for (Slice& source : sources_) {
      for (std::byte& b : source) b = static_cast<std::byte>(random_());
    }
    Compute(coefficients_);
  }

  void Compute(const std::vector<std::uint8_t>& coefficients) {
    std::vector<std::byte*> targets;
    for (Slice& output : outputs_) targets.push_back(output.data());
    gf::LinearMap(coefficients, sources_.size(), outputs_.size(), GetParam())
        .Apply(Data(sources_), targets, length_);
  }

  [[nodiscard]] std::optional<OutputCheck::Mismatch> Find() {
    std::vector<std::size_t> decoded(outputs_.size());
    for (std::size_t k = 0; k < decoded.size(); ++k) {
      decoded[k] = k * sources_.size() / decoded.size();
    }
    std::vector<std::size_t> targets(outputs_.size());
    std::iota(targets.begin(), targets.end(), std::size_t{0});
    const OutputCheck check(decoded, targets, sources_.size(),
                            DecodeRows(coefficients_, sources_.size(), decoded), GetParam());
    Slice scratch(check.ScratchBytes());
    return check.Find(Data(sources_), Data(outputs_), length_, scratch.data());
  }

  static std::vector<const std::byte*> Data(const std::vector<Slice>& slices) {
    std::vector<const std::byte*> data;
    for (const Slice& slice : slices) data.push_back(slice.data());
    return data;
  }

  unsigned seed_;
  std::mt19937 random_;
  std::size_t length_ = 0;
  std::vector<std::uint8_t> coefficients_;
  std::vector<Slice> sources_;
  std::vector<Slice> outputs_;
  testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
};

std::vector<gf::Backend> Kernels() {
  std::vector<gf::Backend> kernels;
  std::ranges::copy_if(gf::kAllBackends, std::back_inserter(kernels), gf::IsAvailable);
  return kernels;
}

INSTANTIATE_TEST_SUITE_P(Kernels, OutputCheckTest, testing::ValuesIn(Kernels()),
                         [](const auto& kernel) {
                           std::string name(gf::Name(kernel.param));
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(OutputCheckTest, RightOutputsPass) {
  std::vector<std::size_t> lengths = {4096, 16383, 16384, 16385, 65537};
  for (std::size_t length = 0; length <= 130; ++length) lengths.push_back(length);
  for (const std::size_t length : lengths) {
    const std::size_t sources = 1 + Below(12);
    Prepare(sources, 1 + Below(std::min<std::size_t>(sources, 8)), length);
    ASSERT_FALSE(Find()) << "length " << length;
  }
}

TEST_P(OutputCheckTest, EveryFlippedBitOfAnOutputIsFound) {
  for (const std::size_t length : {1, 63, 100}) {
    Prepare(6, 3, length);
    for (std::size_t bit = 0; bit < 8 * length; ++bit) {
      const std::byte flip{static_cast<unsigned char>(1U << bit % 8)};
      Slice& output = outputs_[Below(3)];
      output[bit / 8] ^= flip;
      const auto found = Find();
      ASSERT_TRUE(found) << "bit " << bit << " of " << length << " bytes";
      ASSERT_EQ(found->offset, bit / 8);
      output[bit / 8] ^= flip;
    }
  }
}

TEST_P(OutputCheckTest, AFlippedBitIsFoundInEveryPieceAndEveryRow) {
  Prepare(16, 13, 50'000);
  for (std::size_t t = 0; t < outputs_.size(); ++t) {
    const std::size_t at = Below(length_);
    outputs_[t][at] ^= std::byte{0x40};
    const auto found = Find();
    ASSERT_TRUE(found) << "output " << t << ", byte " << at;
    EXPECT_EQ(found->offset, at);
    outputs_[t][at] ^= std::byte{0x40};
  }
}

// A bug in the part of a kernel that handles the rest after the last whole vector.
TEST_P(OutputCheckTest, AKernelThatIsWrongForOneLengthIsFound) {
  for (std::size_t length = 60; length <= 90; ++length) {
    Prepare(10, 2, length);
    if (length == 77) outputs_[1].back() ^= std::byte{1};
    EXPECT_EQ(Find().has_value(), length == 77) << "length " << length;
  }
}

TEST_P(OutputCheckTest, AWrongCoefficientIsFound) {
  for (int i = 0; i < 100; ++i) {
    Prepare(6, 3, 64);
    auto wrong = coefficients_;
    wrong[Below(wrong.size())] ^= static_cast<std::uint8_t>(1 + Below(255));
    Compute(wrong);
    ASSERT_TRUE(Find());
  }
}

// Bytes of a source that change after the outputs were computed.
TEST_P(OutputCheckTest, AChangedSourceIsFound) {
  for (std::size_t s = 0; s < 6; ++s) {
    Prepare(6, 3, 64);
    sources_[s][Below(64)] ^= std::byte{2};
    EXPECT_TRUE(Find()) << "source " << s;
  }
}

TEST_P(OutputCheckTest, AnotherBackendDecodes) {
  Prepare(2, 1, 10);
  const std::vector<std::size_t> first = {0};
  const OutputCheck check(first, first, 2, DecodeRows(coefficients_, 2, first), GetParam());
  EXPECT_NE(check.backend(), GetParam());
}

}  // namespace

}  // namespace ebb
