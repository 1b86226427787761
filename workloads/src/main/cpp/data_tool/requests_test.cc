// Requests over a namenode and a DataNode that hold bytes in memory.
#include "data_tool/requests.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "client/fake_cluster.h"
#include "client/file_system.h"
#include "data_tool/parts.h"

namespace ebb::data_tool {
namespace {

using client::testing::FakeDatanode;
using client::testing::FakeNamenode;

constexpr std::uint64_t kBlock = 101;

class RequestsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    namenode_ = std::make_unique<FakeNamenode>(std::vector{node_.info()});
    const auto address = namenode_->Start()[0];
    auto opened = client::FileSystem::Open(client::Configuration(), address.Text());
    ASSERT_TRUE(opened) << opened.error().message;
    system_ = std::move(*opened);
    files_ = std::make_unique<Files>(*system_);
  }

  // All reads find this block, whatever the name of the file.
  void Hold(const std::string& text) {
    node_.Put(kBlock, text);
    auto& block = *namenode_->located.add_blocks();
    namenode_->Locate(kBlock, {}, block);
    block.mutable_b()->set_numbytes(text.size());
    namenode_->located.set_filelength(text.size());
    namenode_->located.set_underconstruction(false);
    namenode_->located.set_islastblockcomplete(true);
  }

  static std::string Text(const std::string& path, std::uint64_t offset, std::size_t count) {
    const Content content;
    const auto bytes = content.At(path, offset, count);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  void ExpectTiming(const std::string& request) {
    EXPECT_TRUE(Answer(*files_, "9\t" + request).starts_with("9\tok\t"))
        << Answer(*files_, "9\t" + request);
  }
  void ExpectError(const std::string& request, const std::string& message) {
    EXPECT_EQ(Answer(*files_, "9\t" + request), "9\terror\t" + message);
  }

  FakeDatanode node_;
  std::unique_ptr<FakeNamenode> namenode_;
  std::unique_ptr<client::FileSystem> system_;
  std::unique_ptr<Files> files_;
};

TEST_F(RequestsTest, AFileIsWrittenWithTheContentOfItsName) {
  ExpectTiming("write\t%2Fd%2Ff\t1\t200000\t2\t1");
  EXPECT_EQ(namenode_->created().src(), "/d/f0");
  EXPECT_EQ(namenode_->created().replication(), 2U);
  // No EXPECT_EQ, which prints all bytes.
  EXPECT_TRUE(node_.Bytes(kBlock) ==
              Text("/d/f0", 0, 131'072) + Text("/d/f0", 131'072, 68'928));
}

TEST_F(RequestsTest, ReadsCompareTheirBytes) {
  Hold(Text("/d/f0", 0, 100'000));
  ExpectTiming("read\t%2Fd%2Ff\t1\t100000\t1");
  ExpectTiming("begin\t%2Fd%2Ff\t1\t70000");
  ExpectTiming("first\t%2Fd%2Ff\t1\t100000");
  ExpectTiming("pread\t%2Fd%2Ff\t1\t100000\t4\t4096\t30\t42");
}

TEST_F(RequestsTest, AWrongByteIsNamed) {
  auto text = Text("/d/f0", 0, 100'000);
  text[60'000] = static_cast<char>(text[60'000] ^ 1);
  Hold(text);
  ExpectError("read\t%2Fd%2Ff\t1\t100000\t1", "%2Fd%2Ff0+is+wrong+at+offset+60000");
  ExpectError("begin\t%2Fd%2Ff\t1\t70000", "%2Fd%2Ff0+is+wrong+at+offset+60000");
  ExpectTiming("begin\t%2Fd%2Ff\t1\t60000");
  ExpectTiming("first\t%2Fd%2Ff\t1\t100000");
  ExpectError("pread\t%2Fd%2Ff\t1\t100000\t1\t100000\t1\t42",
              "%2Fd%2Ff0+is+wrong+at+offset+60000");
}

TEST_F(RequestsTest, AMissingByteIsAnError) {
  Hold(Text("/d/f0", 0, 1000));
  ExpectError("read\t%2Fd%2Ff\t1\t1001\t1", "%2Fd%2Ff0+has+1000+bytes+instead+of+1001");
  ExpectError("read\t%2Fd%2Ff\t1\t999\t1", "%2Fd%2Ff0+has+1000+bytes+instead+of+999");
  ExpectError("begin\t%2Fd%2Ff\t1\t1001", "%2Fd%2Ff0+has+1000+bytes+instead+of+1001");
  ExpectError("pread\t%2Fd%2Ff\t1\t1001\t1\t1001\t1\t42",
              "%2Fd%2Ff0+has+1000+bytes+instead+of+1001");
}

TEST_F(RequestsTest, DirectoriesAreMadeAndDeleted) {
  EXPECT_EQ(Answer(*files_, "1\tmkdirs\t%2Fd\t"), "1\tok");
  EXPECT_TRUE(namenode_->names.contains("/d"));
  EXPECT_EQ(Answer(*files_, "2\tdelete\t%2Fd"), "2\tok");
  EXPECT_FALSE(namenode_->names.contains("/d"));
}

TEST_F(RequestsTest, AMistakeIsNamed) {
  ExpectError("fly", "unknown+request+fly");
  ExpectError("read\t%2Ff\t1\t10", "request+read%3A+too+few+fields");
  ExpectError("read\tf\t1\t10\t1", "request+read%3A+%27f%27+is+no+absolute+path");
  ExpectError("read\t%2Ff\t1\t10\t0", "request+read%3A+%270%27+is+no+number+from+1+on");
  ExpectError("read\t%2Ff\t1x\t10\t1", "request+read%3A+%271x%27+is+no+number+from+1+on");
  ExpectError("pread\t%2Ff\t1\t10\t1\t11\t1\t0",
              "1+files+of+10+bytes+have+no+parts+of+11+bytes");
}

TEST(PartsTest, EachThreadTakesItsParts) {
  std::vector<std::size_t> threads(10, 99);
  const auto timing = RunParts(10, 3, [&](std::size_t part, std::size_t thread) -> Status {
    threads[part] = thread;
    return {};
  });
  ASSERT_TRUE(timing);
  EXPECT_EQ(threads, (std::vector<std::size_t>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0}));
  EXPECT_LE(timing->median_micros, timing->micros);
}

TEST(PartsTest, TheErrorOfAPartIsReturned) {
  const auto timing = RunParts(10, 3, [&](std::size_t part, std::size_t) -> Status {
    if (part == 4) return Fail(ErrorCode::kIo, "part 4");
    return {};
  });
  ASSERT_FALSE(timing);
  EXPECT_EQ(timing.error().message, "part 4");
}

}  // namespace
}  // namespace ebb::data_tool
