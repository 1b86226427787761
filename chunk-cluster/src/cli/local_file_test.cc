#include "cli/local_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/part_name.h"

namespace ebb::cli {
namespace {

namespace fs = std::filesystem;

TEST(LocalFileTest, OnlyAFileHasALength) {
  std::string pattern = fs::temp_directory_path() / "ebbfs-local-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  std::ofstream(pattern + "/file") << "one line\n";
  ASSERT_EQ(mkfifo((pattern + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(LengthOf(pattern + "/file"), 9U);
  for (const char* other : {"/pipe", "/missing", ""}) {
    EXPECT_EQ(LengthOf(pattern + other), 0U) << other;
  }
  fs::remove_all(pattern);
}

TEST(PartNameTest, ANameIsCutIfTheWholeWouldBeTooLong) {
  EXPECT_EQ(PartName("name", "7-1"), "name.7-1._COPYING_");
  const std::string suffix = ".7-1._COPYING_";
  const std::string fits(255 - suffix.size(), 'a');
  EXPECT_EQ(PartName(fits, "7-1"), fits + suffix);
  EXPECT_EQ(PartName(fits + "b", "7-1"), fits + suffix);
  // A letter of two bytes of which only one has room.
  EXPECT_EQ(PartName(fits.substr(1) + "\xc3\xa8", "7-1"), fits.substr(1) + suffix);
}

}  // namespace
}  // namespace ebb::cli
