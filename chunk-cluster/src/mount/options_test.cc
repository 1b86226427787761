// The command lines of 'ebb mount' and 'ebb umount'.
#include <gtest/gtest.h>

#include "mount/options.h"

namespace ebb::mount {
namespace {

std::string Refusal(std::vector<std::string> words) {
  const auto options = ParseMount(std::move(words));
  return options ? "nothing" : options.error().message;
}

TEST(OptionsTest, Defaults) {
  const auto options = ParseMount({"/mnt"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->directory, "/mnt");
  EXPECT_EQ(options->root, "/");
  EXPECT_FALSE(options->foreground);
  EXPECT_FALSE(options->default_permissions);
  EXPECT_EQ(options->freshness.count(), 1);
  EXPECT_EQ(options->deadline, std::chrono::seconds(60));
}

TEST(OptionsTest, EveryOptionIsTaken) {
  const auto options =
      ParseMount({"--dir", "/c", "-D", "a=b", "-Dc=d=e", "-fs", "hdfs://n", "-f", "--log", "/l",
                  "-oro,allow_other", "-o", "root=/x,freshness=0.5,deadline=2,threads=3,"
                                            "open_files=4,dirty=5,readahead=6", "/mnt"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->configuration, "/c/conf/client");
  EXPECT_EQ(options->settings,
            (std::vector<std::pair<std::string, std::string>>{
                {"a", "b"}, {"c", "d=e"}, {"fs.defaultFS", "hdfs://n"}}));
  EXPECT_TRUE(options->foreground);
  EXPECT_EQ(options->log, "/l");
  EXPECT_TRUE(options->read_only);
  EXPECT_TRUE(options->allow_other);
  EXPECT_TRUE(options->default_permissions) << "others come in, so that the kernel checks modes";
  EXPECT_EQ(options->root, "/x");
  EXPECT_EQ(options->freshness.count(), 0.5);
  EXPECT_EQ(options->deadline, std::chrono::seconds(2));
  EXPECT_EQ(options->threads, 3);
  EXPECT_EQ(options->open_files, 4);
  EXPECT_EQ(options->dirty_bytes, 5 << 20);
  EXPECT_EQ(options->read_ahead_bytes, 6 << 10);
  EXPECT_FALSE(
      ParseMount({"-o", "no_default_permissions,allow_other", "/m"})->default_permissions);
}

TEST(OptionsTest, MistakesAreNamed) {
  EXPECT_EQ(Refusal({}), "the directory is missing");
  EXPECT_EQ(Refusal({"/a", "/b"}), "'/a' and '/b': one directory only");
  EXPECT_EQ(Refusal({"-x", "1", "/a"}), "there is no option '-x'");
  EXPECT_EQ(Refusal({"/a", "-o"}), "'-o' wants a value");
  EXPECT_EQ(Refusal({"-o", "fast", "/a"}), "-o fast: there is no such option without a value");
  EXPECT_EQ(Refusal({"-o", "a=b", "/a"}), "-o a: there is no such option with a value");
  EXPECT_EQ(Refusal({"-o", "threads=1", "/a"}), "-o threads=1: write a number from 2 to 1024");
  EXPECT_EQ(Refusal({"-o", "root=x", "/a"}),
            "-o root=x: write an absolute path without '/' at its end");
  EXPECT_EQ(Refusal({"-o", "freshness=-1", "/a"}),
            "-o freshness=-1: write seconds, from 0 to 86400");
  EXPECT_EQ(Refusal({"-o", "deadline=nan", "/a"}),
            "-o deadline=nan: write seconds, from 0.1 to 86400");
  EXPECT_EQ(Refusal({"-D", "a", "/a"}), "-D a has no '='");
}

TEST(OptionsTest, Unmount) {
  EXPECT_FALSE(ParseUnmount({"/mnt"})->lazy);
  EXPECT_TRUE(ParseUnmount({"--lazy", "/mnt"})->lazy);
  EXPECT_FALSE(ParseUnmount({}));
  EXPECT_FALSE(ParseUnmount({"/a", "/b"}));
  EXPECT_FALSE(ParseUnmount({"--fast", "/a"}));
}

}  // namespace
}  // namespace ebb::mount
