#include "common/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

#include "common/bytes.h"

namespace ebb {
namespace {

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::vector<std::byte> Random(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> data(size);
  for (auto& b : data) b = static_cast<std::byte>(random());
  return data;
}

// The check values of the two polynomials, from the catalogue of parametrised CRCs.
TEST(Crc32cTest, CheckValues) {
  EXPECT_EQ(Crc32c(0, Bytes("123456789")), 0xe3069283U);
  EXPECT_EQ(Crc32cPortable(0, Bytes("123456789")), 0xe3069283U);
  EXPECT_EQ(Crc32(0, Bytes("123456789")), 0xcbf43926U);
}

TEST(Crc32cTest, PortableContinuedAndConcatenatedAgree) {
  const auto data = Random(5000, 1);
  const std::span<const std::byte> all(data);
  for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 63U, 511U, 512U, 513U, 4097U, 5000U}) {
    const auto part = all.first(size);
    const auto whole = Crc32c(0, part);
    EXPECT_EQ(Crc32cPortable(0, part), whole) << size;
    for (const std::size_t cut : {std::size_t{0}, size / 3, size}) {
      const auto a = part.first(cut);
      const auto b = part.subspan(cut);
      EXPECT_EQ(Crc32c(Crc32c(0, a), b), whole) << size << " at " << cut;
      EXPECT_EQ(Crc32cConcat(Crc32c(0, a), Crc32c(0, b), b.size()), whole) << size << " at " << cut;
      EXPECT_EQ(Crc32Concat(Crc32(0, a), Crc32(0, b), b.size()), Crc32(0, part)) << size;
    }
  }
}

TEST(Crc32cTest, ChunksComposeToTheWhole) {
  const auto data = Random(512 * 7 + 13, 3);
  for (const std::size_t chunk : {1U, 16U, 500U, 512U, 1024U, 10000U}) {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{512}, std::size_t{1025}, data.size()}) {
      Crc32cComposer composer(chunk);
      for (std::size_t at = 0; at < size; at += chunk) {
        const auto part = std::span(data).subspan(at, std::min(chunk, size - at));
        composer.Append(Crc32c(0, part), part.size());
      }
      EXPECT_EQ(composer.value(), Crc32c(0, std::span(data).first(size))) << chunk << " " << size;
    }
  }
}

TEST(Crc32cTest, ChunksAreThoseOneByOne) {
  const auto data = Random(512 * 7 + 13, 2);
  for (const std::size_t chunk : {1U, 8U, 500U, 512U, 10000U}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{511},
                                   std::size_t{512}, std::size_t{1537}, data.size()}) {
      const std::size_t count = (size + chunk - 1) / chunk;
      std::vector<std::byte> sums(4 * count);
      Crc32cChunks(std::span(data).first(size), chunk, sums.data());
      for (std::size_t i = 0; i < count; ++i) {
        const auto part = std::span(data).subspan(i * chunk, std::min(chunk, size - i * chunk));
        EXPECT_EQ(LoadBig32(&sums[4 * i]), Crc32c(0, part)) << chunk << " " << size << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace ebb
