// The constants come from java.util.Random, String.hashCode and URLEncoder of a JVM.
#include "data_tool/content.h"

#include <gtest/gtest.h>

#include <vector>

#include "data_tool/java_random.h"
#include "data_tool/url_coding.h"

namespace ebb::data_tool {
namespace {

std::vector<int> Numbers(std::span<const std::byte> bytes) {
  std::vector<int> numbers;
  for (const std::byte byte : bytes) numbers.push_back(std::to_integer<int>(byte));
  return numbers;
}

TEST(JavaRandomTest, BytesAreThoseOfJava) {
  std::vector<std::byte> bytes(10);
  JavaRandom(1).FillBytes(bytes);
  EXPECT_EQ(Numbers(bytes),
            (std::vector{0x73, 0xd5, 0x1a, 0xbb, 0xd8, 0x9c, 0xb8, 0x19, 0x6f, 0x0e}));
}

TEST(JavaRandomTest, DoublesAreThoseOfJava) {
  JavaRandom random(42LL * 1'000'003 + 7);
  EXPECT_EQ(random.NextDouble(), 0.44966420736247215);
  EXPECT_EQ(random.NextDouble(), 0.26532071166217550);
  EXPECT_EQ(JavaRandom(-5).NextDouble(), 0.26930095796932485);
}

TEST(ContentTest, BytesAreThoseOfDataTool) {
  const Content content;
  EXPECT_EQ(Numbers(content.At("/large/f3", 0, 8)),
            (std::vector{0xd2, 0x80, 0xf0, 0x28, 0x7d, 0x00, 0x81, 0x04}));
  EXPECT_EQ(Numbers(content.At("/large/f3", 12'345'678'901, 8)),
            (std::vector{0xa5, 0x93, 0xa5, 0x33, 0xf5, 0x83, 0x5a, 0x16}));
  // A copy in another directory holds the same.
  EXPECT_EQ(Numbers(content.At("/f3", 0, 8)), Numbers(content.At("/large/f3", 0, 8)));
}

TEST(ContentTest, BytesGoOnBeyondThePeriod) {
  const Content content;
  std::vector<std::byte> file;
  while (file.size() < 3'000'000) {
    const auto piece = content.At("/f", file.size(), kPieceBytes);
    file.insert(file.end(), piece.begin(), piece.end());
  }
  EXPECT_TRUE(content.Check("/f", 0, file));
  EXPECT_TRUE(content.Check("/f", 1'048'572, std::span(file).subspan(1'048'572, 4)));
  EXPECT_FALSE(content.Check("/g", 0, file));
  EXPECT_FALSE(content.Check("/f", 1, file));
}

TEST(ContentTest, TheFirstWrongByteIsNamed) {
  const Content content;
  const auto right = content.At("/d/f", 500, kPieceBytes);
  std::vector<std::byte> bytes(right.begin(), right.end());
  bytes[77] ^= std::byte{1};
  const auto checked = content.Check("/d/f", 500, bytes);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(checked.error().message, "/d/f is wrong at offset 577");
}

TEST(UrlCodingTest, TextIsThatOfJava) {
  EXPECT_EQ(UrlEncoded("/a b+\xc3\xa4%~*._-\t!"), "%2Fa+b%2B%C3%A4%25%7E*._-%09%21");
  EXPECT_EQ(UrlDecoded("%2Fa+b%2B%C3%A4%25%7E*._-%09%21"), "/a b+\xc3\xa4%~*._-\t!");
  EXPECT_EQ(UrlDecoded("%"), "%");
  EXPECT_EQ(UrlDecoded("%2"), "%2");
  EXPECT_EQ(UrlDecoded("%2x0"), "%2x0");
}

}  // namespace
}  // namespace ebb::data_tool
