#include "common/fail_point.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace ebb::fail_point {
namespace {

class FailPointTest : public testing::Test {
 protected:
  FailPointTest() {
    std::string name = (std::filesystem::temp_directory_path() / "fail-points-XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  ~FailPointTest() override { std::filesystem::remove_all(directory_); }

  void Arm(const std::string& text) { std::ofstream(directory_ + "/chunk-source-half") << text; }
  bool Exists(const std::string& name) { return std::filesystem::exists(directory_ + "/" + name); }
  Status Pass(std::string_view process = "server-01") {
    return fail_point::Pass(directory_, kSourceHalf, process);
  }

  std::string directory_;
};

TEST_F(FailPointTest, NothingHappensUnlessArmed) {
  EXPECT_TRUE(Pass());
  Arm("error");
  EXPECT_TRUE(fail_point::Pass(directory_, kTargetHalf, "server-01"));
  EXPECT_TRUE(Exists("chunk-source-half"));
}

TEST_F(FailPointTest, FiresOnceInTheProcessNamedAfterTheSkips) {
  Arm("error\nprocess server-02\nskip 2\n");
  EXPECT_TRUE(Pass("server-01"));
  EXPECT_TRUE(Pass("server-02"));
  EXPECT_TRUE(Pass("server-02"));
  EXPECT_TRUE(Pass("server-01"));
  const auto fired = Pass("server-02");
  ASSERT_FALSE(fired);
  EXPECT_EQ(fired.error().code, ErrorCode::kIo);
  EXPECT_TRUE(Exists("chunk-source-half.fired"));
  EXPECT_FALSE(Exists("chunk-source-half"));
  EXPECT_TRUE(Pass("server-02"));
}

TEST_F(FailPointTest, AnEmptyFileKillsAsTheKernelDoes) {
  Arm("");
  EXPECT_EXIT((void)Pass(), testing::KilledBySignal(SIGKILL), "");
}

TEST(HalfTest, IsReachedOnce) {
  Half half;
  EXPECT_FALSE(half.ReachedBy(1, 3));
  EXPECT_TRUE(half.ReachedBy(2, 3));
  EXPECT_FALSE(half.ReachedBy(3, 3));
}

}  // namespace
}  // namespace ebb::fail_point
