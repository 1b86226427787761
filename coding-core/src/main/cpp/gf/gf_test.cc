#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "gf/backend.h"
#include "gf/field.h"
#include "gf/linear_map.h"
#include "gf/xor.h"

namespace ebb::gf {
namespace {

// Multiplication by its definition: polynomials multiplied bit by bit, reduced by 0x11d.
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

// A matrix with rows of all kinds: zeros, ones, sparse and dense.
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

// Applies the map once, compares the result with the reference, and checks that the bytes around
// the targets are unchanged.
void CheckOnce(Backend backend, Random& random, const std::vector<std::uint8_t>& matrix,
               std::size_t sources, std::size_t length) {
  constexpr std::size_t kGuard = 64;
  const std::size_t targets = matrix.size() / sources;
  const LinearMap map(matrix, sources, targets, backend);
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

void CheckOnce(Backend backend, Random& random, std::size_t sources, std::size_t targets,
               std::size_t length) {
  CheckOnce(backend, random, RandomMatrix(random, sources, targets), sources, length);
}

std::vector<Backend> AvailableBackends() {
  std::vector<Backend> backends;
  std::ranges::copy_if(kAllBackends, std::back_inserter(backends), IsAvailable);
  return backends;
}

// Tests of behaviour that all backends have in common.
class BackendTest : public testing::TestWithParam<Backend> {
 protected:
  Random random_;
  testing::ScopedTrace trace_{__FILE__, __LINE__, random_.trace()};
};

INSTANTIATE_TEST_SUITE_P(All, BackendTest, testing::ValuesIn(AvailableBackends()),
                         [](const auto& backend) {
                           std::string name(Name(backend.param));
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(BackendTest, EveryShortLength) {
  for (std::size_t length = 0; length <= 340 && !HasFatalFailure(); ++length) {
    CheckOnce(GetParam(), random_, 1 + random_.Below(8), 1 + random_.Below(7), length);
  }
}

TEST_P(BackendTest, RandomShapesAndLengths) {
  for (int i = 0; i < 12 && !HasFatalFailure(); ++i) {
    CheckOnce(GetParam(), random_, 1 + random_.Below(36), 1 + random_.Below(12),
              random_.Below(70001));
  }
}

TEST_P(BackendTest, ManySources) { CheckOnce(GetParam(), random_, 200, 40, 1000); }

TEST_P(BackendTest, EveryCoefficientOfEveryByte) {
  std::vector<std::uint8_t> matrix(256);
  std::vector<std::byte> data(256);
  for (unsigned v = 0; v < 256; ++v) {
    matrix[v] = static_cast<std::uint8_t>(v);
    data[v] = static_cast<std::byte>(v);
  }
  const LinearMap map(matrix, 1, 256, GetParam());
  std::vector<std::vector<std::byte>> out(256, std::vector<std::byte>(256));
  std::vector<std::byte*> targets;
  for (auto& target : out) targets.push_back(target.data());
  const std::array<const std::byte*, 1> sources = {data.data()};
  map.Apply(sources, targets, 256);
  for (unsigned c = 0; c < 256; ++c) {
    for (unsigned v = 0; v < 256; ++v) ASSERT_EQ(out[c][v], std::byte{ReferenceMul(c, v)});
  }
}

// The sums of rows, of columns and of all cells of a grid, in any order: some sums contain others.
TEST_P(BackendTest, SumsOfAGrid) {
  for (int i = 0; i < 20 && !HasFatalFailure(); ++i) {
    const std::size_t rows = 1 + random_.Below(6);
    const std::size_t columns = 1 + random_.Below(6);
    std::vector<std::vector<std::uint8_t>> sums(rows + columns + 2,
                                                std::vector<std::uint8_t>(rows * columns));
    for (std::size_t s = 0; s < rows * columns; ++s) {
      sums[s / columns][s] = sums[rows + s % columns][s] = 1;
      sums[rows + columns][s] = 1;
      sums[rows + columns + 1][s] = static_cast<std::uint8_t>(s + 2);
    }
    for (std::size_t t = sums.size(); t > 1; --t) std::swap(sums[t - 1], sums[random_.Below(t)]);
    std::vector<std::uint8_t> matrix;
    for (const auto& sum : sums) matrix.insert(matrix.end(), sum.begin(), sum.end());
    CheckOnce(GetParam(), random_, matrix, rows * columns, random_.Below(5000));
  }
}

// Slices of the chunk server's length, at page boundaries and beside them.
TEST(BackendsTest, AllGiveTheSameBytes) {
  Random random;
  SCOPED_TRACE(random.trace());
  constexpr std::size_t kSources = 14;
  constexpr std::size_t kTargets = 5;
  for (const std::size_t length : {0, 1, 4096, 131072, 131071, 262147}) {
    const auto matrix = RandomMatrix(random, kSources, kTargets);
    const std::size_t shift = random.Below(2) * random.Below(64);
    std::vector<std::vector<std::byte>> in;
    std::vector<const std::byte*> sources;
    for (std::size_t s = 0; s < kSources; ++s) {
      in.push_back(random.Bytes(length + shift));
      sources.push_back(in.back().data() + shift);
    }
    std::vector<std::vector<std::byte>> first;
    for (const Backend backend : AvailableBackends()) {
      std::vector<std::vector<std::byte>> out(kTargets, std::vector<std::byte>(length));
      std::vector<std::byte*> targets;
      for (auto& target : out) targets.push_back(target.data());
      LinearMap(matrix, kSources, kTargets, backend).Apply(sources, targets, length);
      if (first.empty()) first = out;
      ASSERT_TRUE(out == first) << Name(backend) << ", length " << length;
    }
  }
}

TEST(BackendsTest, AreFoundByName) {
  for (const Backend backend : kAllBackends) EXPECT_EQ(BackendByName(Name(backend)), backend);
  EXPECT_EQ(BackendByName("abacus"), std::nullopt);
  EXPECT_TRUE(IsAvailable(DefaultBackend()));
}

TEST_P(BackendTest, NoSourcesMeansZeros) {
  const LinearMap map({}, 0, 2, GetParam());
  std::vector<std::byte> a(100, std::byte{1});
  std::vector<std::byte> b(100, std::byte{1});
  const std::array<std::byte*, 2> targets = {a.data(), b.data()};
  map.Apply({}, targets, 100);
  EXPECT_EQ(a, std::vector<std::byte>(100));
  EXPECT_EQ(b, std::vector<std::byte>(100));
}

TEST_P(BackendTest, ASourceWithoutCoefficientsIsNotRead) {
  const std::vector<std::uint8_t> matrix = {1, 0, 1, 7, 0, 9};
  const LinearMap map(matrix, 3, 2, GetParam());
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
