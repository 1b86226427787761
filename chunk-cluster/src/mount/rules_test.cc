// What the mount decides without a cluster: errnos, places of writes, ways of reads, listings.
#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "mount/directory_cursor.h"
#include "mount/error_number.h"
#include "mount/read_pattern.h"
#include "mount/write_place.h"

namespace ebb::mount {
namespace {

Error Remote(const std::string& exception) {
  return {ErrorCode::kRemote, "refused", exception, "refused"};
}

TEST(ErrorNumberTest, EachExceptionHasItsNumber) {
  const std::vector<std::pair<std::string, int>> expected = {
      {"java.io.FileNotFoundException", ENOENT},
      {"java.io.IOException", EIO},
      {"java.lang.UnsupportedOperationException", EOPNOTSUPP},
      {"org.apache.hadoop.HadoopIllegalArgumentException", EINVAL},
      {"org.apache.hadoop.fs.FileAlreadyExistsException", EEXIST},
      {"org.apache.hadoop.fs.InvalidPathException", EINVAL},
      {"org.apache.hadoop.fs.ParentNotDirectoryException", ENOTDIR},
      {"org.apache.hadoop.fs.PathIsNotDirectoryException", ENOTDIR},
      {"org.apache.hadoop.fs.PathIsNotEmptyDirectoryException", ENOTEMPTY},
      {"org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException", EBUSY},
      {"org.apache.hadoop.hdfs.protocol.DSQuotaExceededException", EDQUOT},
      {"org.apache.hadoop.hdfs.protocol.FSLimitException$PathComponentTooLongException",
       ENAMETOOLONG},
      {"org.apache.hadoop.hdfs.protocol.NSQuotaExceededException", EDQUOT},
      {"org.apache.hadoop.hdfs.protocol.RecoveryInProgressException", EBUSY},
      {"org.apache.hadoop.hdfs.protocol.SnapshotAccessControlException", EROFS},
      {"org.apache.hadoop.hdfs.protocol.XAttrNotFoundException", ENODATA},
      {"org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException", EIO},
      {"org.apache.hadoop.hdfs.server.namenode.SafeModeException", EROFS},
      {"org.apache.hadoop.ipc.StandbyException", EAGAIN},
      {"org.apache.hadoop.security.AccessControlException", EACCES},
  };
  for (const auto& [exception, number] : expected) {
    EXPECT_EQ(ErrorNumberOf(Remote(exception)), number) << exception;
  }
}

TEST(ErrorNumberTest, ErrorsOfThisSide) {
  const std::vector<std::pair<ErrorCode, int>> expected = {
      {ErrorCode::kNotFound, ENOENT},      {ErrorCode::kCorrupt, EIO},
      {ErrorCode::kIo, EIO},               {ErrorCode::kNetwork, EIO},
      {ErrorCode::kTimeout, ETIMEDOUT},    {ErrorCode::kBusy, EAGAIN},
      {ErrorCode::kNoSpace, ENOSPC},       {ErrorCode::kInvalid, EINVAL},
      {ErrorCode::kUnsupported, EOPNOTSUPP}, {ErrorCode::kShutdown, ESHUTDOWN},
      {ErrorCode::kNotReady, EAGAIN},      {ErrorCode::kCannotTell, EIO},
  };
  for (const auto& [code, number] : expected) {
    EXPECT_EQ(ErrorNumberOf({code, "x"}), number) << static_cast<int>(code);
  }
}

TEST(ErrorNumberTest, TheCallMayChangeIt) {
  EXPECT_EQ(ErrorNumberOfRead({ErrorCode::kNotFound, "no server"}), EIO);
  const auto denied = Remote("org.apache.hadoop.security.AccessControlException");
  EXPECT_EQ(ErrorNumberOfChange(denied), EPERM);
  EXPECT_EQ(ErrorNumberOfXAttr(denied, ENODATA), EACCES);
  EXPECT_EQ(ErrorNumberOfXAttr(Remote("java.io.IOException"), ENODATA), ENODATA);
}

TEST(WritePlaceTest, TheEndIsTheOnlyPlace) {
  EXPECT_TRUE(CheckWritePlace("/f", 0, 0, false));
  EXPECT_TRUE(CheckWritePlace("/f", 7, 7, false));
  EXPECT_TRUE(CheckWritePlace("/f", 5, 7, true));
  for (const std::uint64_t offset : {0, 6, 8}) {
    const auto refused = CheckWritePlace("/f", offset, 7, false);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(refused.error().message.find("/f at byte " + std::to_string(offset)),
              std::string::npos);
  }
}

TEST(ReadPatternTest, SequentialReadsStream) {
  using Way = ReadPattern::Way;
  ReadPattern pattern;
  const auto next = [&](std::uint64_t offset, std::size_t size) {
    return pattern.Next(offset, size);
  };
  const ReadPattern::Step streams{Way::kStream, 0};
  const ReadPattern::Step positional{Way::kPositional, 0};
  EXPECT_EQ(next(0, 100), streams);
  EXPECT_EQ(next(100, 100), streams);
  EXPECT_EQ(next(250, 100), (ReadPattern::Step{Way::kStream, 50})) << "a short gap is read";
  EXPECT_EQ(next(1 << 30, 100), positional);
  EXPECT_EQ(next(5000, 100), positional);
  EXPECT_EQ(next(5100, 100), streams) << "the second one in order";
  EXPECT_EQ(next(5000, 100), positional) << "back";
}

TEST(ReadPatternTest, AFirstReadElsewhereIsPositional) {
  ReadPattern pattern;
  EXPECT_EQ(pattern.Next(4096, 10).way, ReadPattern::Way::kPositional);
}

// A directory as a namenode lists it.
class DirectoryCursorTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kBatch = 3;

  DirectoryCursor Cursor() {
    return DirectoryCursor([this](const std::string& after) -> Result<client::Listing> {
      ++fetches_;
      if (broken_) return Fail(ErrorCode::kNetwork, "no namenode");
      client::Listing listing;
      auto at = names_.upper_bound(after);
      for (; at != names_.end() && listing.entries.size() < kBatch; ++at) {
        listing.entries.emplace_back().name = *at;
      }
      listing.more = at != names_.end();
      return listing;
    });
  }

  static std::string NameAt(DirectoryCursor& cursor, std::uint64_t position) {
    const auto entry = cursor.At(position);
    if (!entry) return "error";
    return *entry == nullptr ? "end" : (*entry)->name;
  }

  std::set<std::string> names_ = {"a", "b", "c", "d", "e", "f", "g"};
  int fetches_ = 0;
  bool broken_ = false;
};

TEST_F(DirectoryCursorTest, ListsInBatches) {
  auto cursor = Cursor();
  std::string all;
  std::uint64_t position = 0;
  for (; NameAt(cursor, position) != "end"; ++position) all += NameAt(cursor, position);
  EXPECT_EQ(all, "abcdefg");
  EXPECT_EQ(fetches_, 3);
  EXPECT_EQ(NameAt(cursor, position + 10), "end");
  EXPECT_EQ(fetches_, 3) << "the end is known";
}

TEST_F(DirectoryCursorTest, RemovalsMeanwhileSkipNothing) {
  auto cursor = Cursor();
  std::string all;
  for (std::uint64_t position = 0;; ++position) {
    const auto name = NameAt(cursor, position);
    if (name == "end") break;
    all += name;
    names_.erase(name);
  }
  EXPECT_EQ(all, "abcdefg");
}

TEST_F(DirectoryCursorTest, GoesBackByReadingAgain) {
  auto cursor = Cursor();
  EXPECT_EQ(NameAt(cursor, 6), "g");
  EXPECT_EQ(NameAt(cursor, 1), "b");
  EXPECT_EQ(NameAt(cursor, 4), "e");
  names_ = {"x"};
  EXPECT_EQ(NameAt(cursor, 5), "f") << "the batch is kept";
  cursor.Rewind();
  EXPECT_EQ(NameAt(cursor, 0), "x");
  EXPECT_EQ(NameAt(cursor, 1), "end");
}

TEST_F(DirectoryCursorTest, GoesOnAfterAnError) {
  auto cursor = Cursor();
  EXPECT_EQ(NameAt(cursor, 2), "c");
  broken_ = true;
  EXPECT_EQ(NameAt(cursor, 3), "error");
  broken_ = false;
  EXPECT_EQ(NameAt(cursor, 3), "d");
}

TEST_F(DirectoryCursorTest, AnEmptyDirectoryEndsAtOnce) {
  names_.clear();
  auto cursor = Cursor();
  EXPECT_EQ(NameAt(cursor, 0), "end");
  EXPECT_EQ(NameAt(cursor, 0), "end");
  EXPECT_EQ(fetches_, 1);
}

}  // namespace
}  // namespace ebb::mount
