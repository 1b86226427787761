#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "gf/field.h"
#include "gf/linear_map.h"
#include "gf/xor.h"

namespace ebb::gf {
namespace {

// The definition: polynomials multiplied bit by bit, reduced by 0x11d.
std::uint8_t ReferenceMul(unsigned a, unsigned b) {
  unsigned product = 0;
  for (int bit = 0; bit < 8; ++bit) {
    if ((b >> bit & 1) != 0) product ^= a << bit;
  }
  for (int bit = 15; bit >= 8; --bit) {
    if ((product >> bit & 1) != 0) product ^= 0x11d << (bit - 8);
  }
  return static_cast<std::uint8_t>(product);
}

TEST(FieldTest, MultipliesLikeTheDefinition) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      ASSERT_EQ(Mul(static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)), ReferenceMul(a, b))
          << a << " * " << b;
    }
  }
}

TEST(FieldTest, InvertsAllButZero) {
  EXPECT_EQ(Inv(0), 0);
  for (unsigned a = 1; a < 256; ++a) {
    ASSERT_EQ(ReferenceMul(a, Inv(static_cast<std::uint8_t>(a))), 1) << a;
  }
}

class Random {
 public:
  Random() : seed_(std::random_device()()), engine_(seed_) {}
  std::string trace() const { return "seed " + std::to_string(seed_); }
  std::size_t Below(std::size_t n) { return engine_() % n; }
  std::vector<std::byte> Bytes(std::size_t n) {
    std::vector<std::byte> bytes(n);
    for (std::byte& b : bytes) b = static_cast<std::byte>(engine_());
    return bytes;
  }

 private:
  unsigned seed_;
  std::mt19937 engine_;
};

// A matrix whose rows are of all kinds: zeros, ones, sparse and dense.
std::vector<std::uint8_t> RandomMatrix(Random& random, std::size_t sources, std::size_t targets) {
  std::vector<std::uint8_t> matrix;
  for (std::size_t t = 0; t < targets; ++t) {
    const std::size_t kind = random.Below(5);
    for (std::size_t s = 0; s < sources; ++s) {
      const std::array<std::size_t, 5> values = {0, 1, random.Below(2),
                                                 random.Below(3) == 0 ? random.Below(256) : 0,
                                                 1 + random.Below(255)};
      matrix.push_back(static_cast<std::uint8_t>(values[kind]));
    }
  }
  return matrix;
}

std::vector<std::byte> Expected(const std::vector<std::vector<std::byte>>& sources,
                                std::span<const std::uint8_t> row, std::size_t offset,
                                std::size_t length) {
  std::vector<std::byte> sum(length);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    if (row[s] == 0) continue;
    std::array<std::byte, 256> table;
    for (unsigned v = 0; v < 256; ++v) table[v] = std::byte{ReferenceMul(row[s], v)};
    for (std::size_t i = 0; i < length; ++i) {
      sum[i] ^= table[std::to_integer<unsigned>(sources[s][offset + i])];
    }
  }
  return sum;
}

// Runs the map once, checks it against the reference and that nothing around the targets changed.
void CheckOnce(Random& random, std::size_t sources, std::size_t targets, std::size_t length) {
  constexpr std::size_t kGuard = 64;
  const std::vector<std::uint8_t> matrix = RandomMatrix(random, sources, targets);
  const LinearMap map(matrix, sources, targets);
  const std::size_t in_offset = random.Below(kGuard);
  const std::size_t out_offset = random.Below(kGuard);
  std::vector<std::vector<std::byte>> in;
  std::vector<const std::byte*> in_pointers;
  for (std::size_t s = 0; s < sources; ++s) {
    in.push_back(random.Bytes(length + kGuard));
    in_pointers.push_back(in.back().data() + in_offset);
  }
  std::vector<std::vector<std::byte>> applied;
  std::vector<std::vector<std::byte>> accumulated;
  std::vector<std::byte*> applied_pointers;
  std::vector<std::byte*> accumulated_pointers;
  for (std::size_t t = 0; t < targets; ++t) {
    applied.emplace_back(length + 2 * kGuard, std::byte{0xA5});
    accumulated.emplace_back(length + 2 * kGuard);
    applied_pointers.push_back(applied.back().data() + out_offset);
    accumulated_pointers.push_back(accumulated.back().data() + out_offset);
  }
  map.Apply(in_pointers, applied_pointers, length);
  for (std::size_t s = 0; s < sources; ++s) {
    map.Accumulate(s, in_pointers[s], accumulated_pointers, length);
  }
  for (std::size_t t = 0; t < targets; ++t) {
    const auto sum =
        Expected(in, std::span(matrix).subspan(t * sources, sources), in_offset, length);
    std::vector<std::byte> whole(length + 2 * kGuard, std::byte{0xA5});
    std::copy(sum.begin(), sum.end(), whole.begin() + static_cast<std::ptrdiff_t>(out_offset));
    ASSERT_TRUE(applied[t] == whole) << "Apply: target " << t << ", length " << length;
    std::fill(whole.begin(), whole.end(), std::byte{0});
    std::copy(sum.begin(), sum.end(), whole.begin() + static_cast<std::ptrdiff_t>(out_offset));
    ASSERT_TRUE(accumulated[t] == whole) << "Accumulate: target " << t << ", length " << length;
  }
}

TEST(LinearMapTest, EveryShortLength) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (std::size_t length = 0; length <= 600 && !HasFatalFailure(); ++length) {
    CheckOnce(random, 1 + random.Below(8), 1 + random.Below(7), length);
  }
}

TEST(LinearMapTest, RandomShapesAndLengths) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int i = 0; i < 60 && !HasFatalFailure(); ++i) {
    CheckOnce(random, 1 + random.Below(36), 1 + random.Below(12), random.Below(70001));
  }
}

TEST(LinearMapTest, ManySources) {
  Random random;
  SCOPED_TRACE(random.trace());
  CheckOnce(random, 200, 40, 1000);
}

TEST(LinearMapTest, NoSourcesMeansZeros) {
  const LinearMap map({}, 0, 2);
  std::vector<std::byte> a(100, std::byte{1});
  std::vector<std::byte> b(100, std::byte{1});
  const std::array<std::byte*, 2> targets = {a.data(), b.data()};
  map.Apply({}, targets, 100);
  EXPECT_EQ(a, std::vector<std::byte>(100));
  EXPECT_EQ(b, std::vector<std::byte>(100));
}

TEST(LinearMapTest, ASourceWithoutCoefficientsIsNotRead) {
  const std::vector<std::uint8_t> matrix = {1, 0, 1, 7, 0, 9};
  const LinearMap map(matrix, 3, 2);
  const std::vector<std::byte> data(1000, std::byte{3});
  std::vector<std::byte> a(1000);
  std::vector<std::byte> b(1000);
  const std::array<const std::byte*, 3> sources = {data.data(), nullptr, data.data()};
  const std::array<std::byte*, 2> targets = {a.data(), b.data()};
  map.Apply(sources, targets, 1000);
  EXPECT_EQ(a, std::vector<std::byte>(1000));
  EXPECT_EQ(b[999], std::byte(ReferenceMul(7 ^ 9, 3)));
}

TEST(LinearMapDeathTest, RefusesAMatrixOfTheWrongSize) {
  const std::vector<std::uint8_t> matrix(5);
  EXPECT_DEATH(LinearMap(matrix, 3, 2), "5 coefficients for 2 x 3");
}

}  // namespace
}  // namespace ebb::gf
