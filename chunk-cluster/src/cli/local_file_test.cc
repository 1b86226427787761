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
  const std::string cut = PartName(fits + "b", "7-1");
  EXPECT_EQ(cut.size(), 255U);
  EXPECT_EQ(cut.substr(0, cut.find('~')), fits.substr(0, fits.size() - 9));
  EXPECT_TRUE(cut.ends_with(suffix)) << cut;
  EXPECT_NE(PartName(fits + "c", "7-1"), cut) << "another file with the same beginning";
  // The last letter has two bytes, of which only one has room.
  const std::string letters = fits.substr(0, fits.size() - 10) + "\xc3\xa8" + fits;
  EXPECT_EQ(PartName(letters, "7-1").find('~'), fits.size() - 10);
}

}  // namespace
}  // namespace ebb::cli
