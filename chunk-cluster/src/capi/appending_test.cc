// Record appends from C, over a namenode and a leader that hold bytes in memory.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capi/hdfs.h"
#include "client/fake_cluster.h"
#include "client/fake_lanes.h"
#include "client/fake_namespace.h"

namespace ebb::capi {
namespace {

class CAppendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    node_ = std::make_unique<client::testing::FakeDatanode>();
    lanes_ = std::make_unique<client::testing::FakeLanes>(*node_);
    names_ = std::make_unique<client::testing::FakeNamespace>(
        std::vector<hadoop::hdfs::DatanodeInfoProto>{node_->info()});
    names_->recover = [this](std::uint64_t block) { return lanes_->Recover(block); };
    names_->directories = {"/d"};
    const auto address = names_->Start();
    auto* const builder = hdfsNewBuilder();
    hdfsBuilderSetNameNode(builder, address.Text().c_str());
    hdfsBuilderSetForceNewInstance(builder);
    fs_ = hdfsBuilderConnect(builder);
    ASSERT_NE(fs_, nullptr) << hdfsGetLastExceptionRootCause();
  }

  void TearDown() override {
    if (fs_ != nullptr) {
      EXPECT_EQ(hdfsDisconnect(fs_), 0);
    }
    node_ = nullptr;
  }

  ebbfs_appender* Open() {
    ebbfs_append_options options = {};
    options.lanes = 1;
    options.replication = 1;
    options.block_bytes = 1 << 20;
    auto* const appender = ebbfs_append_open(fs_, "/d/f", &options);
    EXPECT_NE(appender, nullptr) << hdfsGetLastExceptionRootCause();
    return appender;
  }

  std::string Content() {
    auto* const file = hdfsOpenFile(fs_, "/d/f", O_RDONLY, 0, 0, 0);
    std::string bytes(1'000, '\0');
    bytes.resize(static_cast<std::size_t>(
        hdfsRead(fs_, file, bytes.data(), static_cast<tSize>(bytes.size()))));
    EXPECT_EQ(hdfsCloseFile(fs_, file), 0);
    return bytes;
  }

  std::unique_ptr<client::testing::FakeLanes> lanes_;
  std::unique_ptr<client::testing::FakeDatanode> node_;
  std::unique_ptr<client::testing::FakeNamespace> names_;
  hdfsFS fs_ = nullptr;
};

// What a program is told of its records.
struct Told {
  std::mutex mutex;
  std::vector<int> errors;
  ebbfs_appender* appender = nullptr;
  int closed = 0;
};

void Tell(void* context, int error) {
  auto& told = *static_cast<Told*>(context);
  if (told.appender != nullptr) told.closed = ebbfs_append_close(told.appender) == 0 ? 0 : errno;
  const std::lock_guard lock(told.mutex);
  told.errors.push_back(error);
}

TEST_F(CAppendTest, RecordsOfTwoWritersAreInTheFile) {
  auto* const first = Open();
  auto* const second = Open();
  Told told;
  EXPECT_EQ(ebbfs_append(first, "one,", 4, Tell, &told), 0);
  EXPECT_EQ(ebbfs_append(first, "two,", 4, nullptr, nullptr), 0);
  EXPECT_EQ(ebbfs_append_flush(first), 0);
  EXPECT_EQ(ebbfs_append(second, "three", 5, Tell, &told), 0);
  EXPECT_EQ(ebbfs_append_close(first), 0);
  EXPECT_EQ(ebbfs_append_close(second), 0);
  EXPECT_EQ(told.errors, (std::vector<int>{0, 0}));
  EXPECT_EQ(Content(), "one,two,three");
  EXPECT_EQ(ebbfs_append_finish(fs_, "/d/f"), 0);
  EXPECT_EQ(names_->Names(), std::vector<std::string>{"/d/f"});
}

TEST_F(CAppendTest, SealAllMakesRecordsVisibleWhileAWriterGoesOn) {
  auto* const appender = Open();
  EXPECT_EQ(ebbfs_append(appender, "one,", 4, nullptr, nullptr), 0);
  EXPECT_EQ(ebbfs_append_flush(appender), 0);
  EXPECT_EQ(ebbfs_append_seal_all(fs_, "/d/f"), 0) << hdfsGetLastExceptionRootCause();
  EXPECT_EQ(Content(), "one,");
  EXPECT_EQ(ebbfs_append(appender, "two", 3, nullptr, nullptr), 0);
  EXPECT_EQ(ebbfs_append_close(appender), 0);
  EXPECT_EQ(Content(), "one,two");
}

TEST_F(CAppendTest, WrongCallsSetErrno) {
  EXPECT_EQ(ebbfs_append(nullptr, "x", 1, nullptr, nullptr), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(ebbfs_append_finish(fs_, "/d/none"), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(ebbfs_append_open(fs_, "/d", nullptr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ebbfs_append_options options = {};
  options.lanes = 65;
  EXPECT_EQ(ebbfs_append_open(fs_, "/d/f", &options), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_STREQ(hdfsGetLastExceptionRootCause(), "lanes is 65; choose a value from 1 to 64");
  options.lanes = -1;
  EXPECT_EQ(ebbfs_append_open(fs_, "/d/f", &options), nullptr);
  EXPECT_EQ(errno, EINVAL);
  auto* const appender = Open();
  EXPECT_EQ(ebbfs_append(appender, "", 0, nullptr, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ebbfs_append(appender, nullptr, 1, nullptr, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ebbfs_append_close(appender), 0);
}

TEST_F(CAppendTest, WhoTellsOfARecordCannotCloseTheAppender) {
  auto* const appender = Open();
  Told told;
  told.appender = appender;
  EXPECT_EQ(ebbfs_append(appender, "x", 1, Tell, &told), 0);
  EXPECT_EQ(ebbfs_append_close(appender), 0);
  EXPECT_EQ(told.closed, EDEADLK);
  EXPECT_EQ(told.errors, std::vector<int>{0});
}

TEST_F(CAppendTest, AFailureIsToldWithItsErrno) {
  auto* const appender = Open();
  names_->FailNext("create", 1, "org.apache.hadoop.security.AccessControlException");
  Told told;
  EXPECT_EQ(ebbfs_append(appender, "x", 1, Tell, &told), 0);
  EXPECT_EQ(ebbfs_append_close(appender), -1);
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(told.errors, std::vector<int>{EACCES});
}

}  // namespace
}  // namespace ebb::capi
