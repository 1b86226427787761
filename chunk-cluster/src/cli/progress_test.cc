#include "cli/progress.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "cli/jobs.h"

namespace ebb::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string Written(std::FILE* file) {
  std::rewind(file);
  char buffer[4096];
  return {buffer, std::fread(buffer, 1, sizeof buffer, file)};
}

TEST(ProgressTest, TellsShareSpeedAndTheTimeThatIsLeft) {
  constexpr std::uint64_t kMega = 1 << 20;
  EXPECT_EQ(ProgressText(512 * kMega, 2048 * kMega, 128.0 * kMega),
            "512 M of 2 G (25%), 128 M/s, 12 s left");
  EXPECT_EQ(ProgressText(3 * kMega, 0, kMega), "3 M, 1 M/s") << "standard input has no length";
}

TEST(ProgressTest, ShowsNothingInTheFirstSecondsAndOneLineTwiceASecondThen) {
  std::FILE* out = std::tmpfile();
  {
    Progress progress(out, true);
    const auto start = Progress::Clock::now();
    progress.Expect(1000);
    progress.Skip(400);
    progress.Add(100, start + seconds(1));
    EXPECT_EQ(Written(out), "");
    progress.Add(100, start + seconds(10));
    const auto first = Written(out);
    EXPECT_TRUE(first.contains("\r\x1b[K600 of 1000 (60%), ")) << first;
    progress.Add(100, start + seconds(10) + milliseconds(100));
    EXPECT_EQ(Written(out), first);
    progress.Add(100, start + seconds(11));
    EXPECT_TRUE(Written(out).contains("800 of 1000 (80%)"));
    progress.Clear();
    EXPECT_TRUE(Written(out).ends_with("\r\x1b[K"));
  }
  std::fclose(out);
}

TEST(ProgressTest, ShowsNothingUnlessATerminalIsThere) {
  std::FILE* out = std::tmpfile();
  {
    Progress progress(out, false);
    progress.Expect(1000);
    progress.Add(100, Progress::Clock::now() + seconds(10));
  }
  EXPECT_EQ(Written(out), "");
  std::fclose(out);
}

TEST(JobsTest, AllJobsRunAndNoMoreWaitThanMay) {
  for (const std::size_t threads : {1, 4}) {
    std::atomic<int> ran = 0;
    Jobs jobs(threads, 2);
    for (int i = 0; i < 100; ++i) jobs.Run([&] { ++ran; });
    jobs.Finish();
    EXPECT_EQ(ran, 100);
  }
}

TEST(JobsTest, ANumberOfThreadsIsChecked) {
  EXPECT_EQ(CountOf("t", "64", 64).value(), 64U);
  for (const char* wrong : {"", "0", "65", "x", "4x", "-1"}) {
    EXPECT_FALSE(CountOf("t", wrong, 64)) << wrong;
  }
}

}  // namespace
}  // namespace ebb::cli
