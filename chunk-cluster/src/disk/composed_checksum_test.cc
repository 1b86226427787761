#include "disk/composed_checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "common/crc32c.h"
#include "disk/test_support.h"

namespace ebb {
namespace {

using namespace testing;

class ComposedChecksumTest : public ::testing::Test {
 protected:
  ComposedChecksumTest() : store_(OpenStore(RealFileSystem(), {directory_ / "a"})) {}

  void Store(std::uint64_t id, format::Checksum checksum, std::span<const std::byte> data) {
    auto writer = store_->Create({.block_id = id, .generation_stamp = 1001, .checksum = checksum});
    ASSERT_TRUE(writer.has_value()) << writer.error().message;
    ASSERT_TRUE(WriteBytes(**writer, 0, data).has_value());
    ASSERT_TRUE((*writer)->Finish(false).has_value());
  }
  Result<std::optional<std::uint32_t>> Compose(std::uint64_t id) {
    EBB_ASSIGN(const auto reader, store_->OpenReader(id, 0));
    return ComposeCrc32c(*reader);
  }

  TemporaryDirectory directory_;
  std::unique_ptr<BlockStore> store_;
};

TEST_F(ComposedChecksumTest, IsThatOfTheData) {
  std::uint64_t id = 1;
  for (const std::uint32_t chunk : {1U, 16U, 512U, 4096U, 1U << 20}) {
    for (const auto size : kBoundarySizes) {
      const auto data = RandomBytes(chunk == 1 ? size / 10 : size, size);
      Store(id, {format::ChecksumType::kCrc32c, chunk}, data);
      const auto crc = Compose(id++);
      ASSERT_TRUE(crc.has_value()) << crc.error().message;
      EXPECT_EQ(*crc, Crc32c(0, data)) << size << " bytes in chunks of " << chunk;
    }
  }
}

TEST_F(ComposedChecksumTest, OfEachPiece) {
  std::uint64_t id = 1;
  for (const std::uint32_t chunk : {16U, 512U, 4096U}) {
    for (const auto size : kBoundarySizes) {
      const auto data = RandomBytes(size, size);
      Store(id, {format::ChecksumType::kCrc32c, chunk}, data);
      const auto reader = store_->OpenReader(id++, 0);
      ASSERT_TRUE(reader.has_value());
      for (const std::size_t piece : {std::size_t{4096}, std::size_t{8192}}) {
        const auto crcs = ComposePieceCrc32cs(**reader, piece);
        ASSERT_TRUE(crcs.has_value()) << crcs.error().message;
        std::vector<std::uint32_t> expected;
        for (std::size_t at = 0; at < data.size(); at += piece) {
          expected.push_back(
              Crc32c(0, std::span(data).subspan(at, std::min(piece, data.size() - at))));
        }
        EXPECT_EQ(*crcs, expected) << size << " bytes in chunks of " << chunk;
      }
      EXPECT_EQ(*ComposePieceCrc32cs(**reader, chunk + 1), std::nullopt);
    }
  }
}

// A block with more checksums than the composer holds in memory at once.
TEST_F(ComposedChecksumTest, OfALongBlock) {
  const auto data = RandomBytes(16 * 1024 * 512 * 2 + 700, 5);
  StoreBlock(*store_, 1, data);
  const auto crc = Compose(1);
  ASSERT_TRUE(crc.has_value()) << crc.error().message;
  EXPECT_EQ(*crc, Crc32c(0, data));
}

TEST_F(ComposedChecksumTest, NeedsNoData) {
  const auto data = RandomBytes(5000, 5);
  StoreBlock(*store_, 1, data);
  for (const auto& path : directory_.Find("blk_1")) {
    if (!path.ends_with(".meta")) FlipByte(path, 3000);
  }
  EXPECT_EQ(*Compose(1), Crc32c(0, data));
}

TEST_F(ComposedChecksumTest, NothingForOtherChecksums) {
  Store(1, {format::ChecksumType::kCrc32, 512}, RandomBytes(5000, 1));
  Store(2, {format::ChecksumType::kNull, 512}, RandomBytes(5000, 1));
  for (const std::uint64_t id : {1, 2}) {
    const auto crc = Compose(id);
    ASSERT_TRUE(crc.has_value()) << crc.error().message;
    EXPECT_EQ(*crc, std::nullopt);
  }
}

TEST_F(ComposedChecksumTest, AFileThatEndsEarlyIsCorrupt) {
  StoreBlock(*store_, 1, RandomBytes(5000, 5));
  const auto files = directory_.Find(".meta");
  ASSERT_EQ(files.size(), 1u);
  std::filesystem::resize_file(files[0], format::kMetaHeaderBytes + 9 * 4);
  EXPECT_EQ(Compose(1).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace ebb
