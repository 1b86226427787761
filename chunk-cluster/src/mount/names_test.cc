// The names that the kernel knows, and the list of mounts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <random>
#include <string>
#include <utility>

#include "mount/mount_list.h"
#include "mount/node_table.h"
#include "mount/users.h"

namespace ebb::mount {
namespace {

TEST(NodeTableTest, PathsFollowRenames) {
  NodeTable table("/base");
  EXPECT_EQ(table.PathOf(*table.root()), "/base");
  const auto a = table.Look(table.root(), "a", 10);
  const auto b = table.Look(a, "b", 11);
  const auto c = table.Look(b, "c", 12);
  EXPECT_EQ(table.PathOf(*c), "/base/a/b/c");
  EXPECT_EQ(table.PathOf(*b, "new"), "/base/a/b/new");
  table.Rename(a, "b", table.root(), "d");
  EXPECT_EQ(table.PathOf(*c), "/base/d/c");
  EXPECT_EQ(table.Look(table.root(), "d", 11), b);
}

TEST(NodeTableTest, TheRootOfTheFileSystemIsASlash) {
  NodeTable table("/");
  EXPECT_EQ(table.PathOf(*table.root()), "/");
  EXPECT_EQ(table.PathOf(*table.root(), "a"), "/a");
}

TEST(NodeTableTest, ANameThatStandsForAnotherFileIsAnotherNode) {
  NodeTable table("/");
  const auto old = table.Look(table.root(), "a", 10);
  const auto below = table.Look(old, "x", 20);
  const auto now = table.Look(table.root(), "a", 11);
  EXPECT_NE(old->id(), now->id());
  EXPECT_EQ(table.PathOf(*old), std::nullopt);
  EXPECT_EQ(table.PathOf(*below), std::nullopt);
  EXPECT_EQ(table.PathOf(*now), "/a");
}

TEST(NodeTableTest, RemovedAndReplacedNodesHaveNoPath) {
  NodeTable table("/");
  const auto a = table.Look(table.root(), "a", 10);
  const auto b = table.Look(table.root(), "b", 11);
  table.Rename(table.root(), "a", table.root(), "b");
  EXPECT_EQ(table.PathOf(*b), std::nullopt);
  EXPECT_EQ(table.PathOf(*a), "/b");
  table.Remove(table.root(), "b");
  EXPECT_EQ(table.PathOf(*a), std::nullopt);
  EXPECT_EQ(table.Find(a->id()), a) << "the kernel has not forgotten it";
  table.Forget(a->id(), 1);
  EXPECT_EQ(table.Find(a->id()), nullptr);
}

TEST(NodeTableTest, ANodeIsForgottenWithItsLastLookup) {
  NodeTable table("/");
  const auto a = table.Look(table.root(), "a", 10);
  EXPECT_EQ(table.Look(table.root(), "a", 10), a);
  table.Forget(a->id(), 1);
  EXPECT_EQ(table.Find(a->id()), a);
  table.Forget(a->id(), 1);
  EXPECT_EQ(table.Find(a->id()), nullptr);
  EXPECT_EQ(table.size(), 0);
  EXPECT_NE(table.Look(table.root(), "a", 10)->id(), a->id());
}

TEST(NodeTableTest, FilesInSnapshotsAreMarked) {
  NodeTable table("/");
  const auto directory = table.Look(table.root(), "d", 10);
  const auto snapshot = table.Look(table.Look(directory, ".snapshot", 0), "s1", 10);
  EXPECT_FALSE(directory->in_snapshot());
  EXPECT_TRUE(table.Look(snapshot, "file", 11)->in_snapshot());
}

// Against a map from paths to file ids.
TEST(NodeTableTest, RandomChangesAgreeWithAMapOfPaths) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  NodeTable table("/");
  std::map<std::string, std::uint64_t> model;
  std::map<std::string, NodePointer> nodes;
  std::uint64_t next = 100;
  const auto any = [&] { return std::string(1, static_cast<char>('a' + random() % 6)); };
  for (int step = 0; step < 5000; ++step) {
    const std::string name = any();
    switch (random() % 3) {
      case 0:
        model[name] = random() % 4 == 0 || !model.contains(name) ? ++next : model[name];
        nodes[name] = table.Look(table.root(), name, model[name]);
        break;
      case 1:
        model.erase(name);
        nodes.erase(name);
        table.Remove(table.root(), name);
        break;
      default:
        const std::string to = any();
        if (!model.contains(name) || to == name) break;
        model[to] = std::exchange(model[name], 0);
        nodes[to] = nodes[name];
        model.erase(name);
        nodes.erase(name);
        table.Rename(table.root(), name, table.root(), to);
    }
    for (const auto& [path, id] : model) {
      ASSERT_EQ(table.PathOf(*nodes[path]), "/" + path);
      ASSERT_EQ(nodes[path]->file_id(), id);
    }
  }
}

TEST(MountListTest, TheLastMountAtAPathCounts) {
  constexpr std::string_view kText =
      "22 1 8:1 / / rw - ext4 /dev/sda rw\n"
      "30 22 0:40 / /mnt/with\\040blank rw,nosuid shared:2 - fuse.ebbfs hdfs://n:8020/ rw\n"
      "31 22 0:41 / /mnt/x rw - tmpfs tmpfs rw\n"
      "32 31 0:42 / /mnt/x rw - fuse.ebbfs hdfs://n:8020/ rw\n"
      "broken\n";
  const auto blank = FindMount(kText, "/mnt/with blank");
  ASSERT_TRUE(blank);
  EXPECT_EQ(blank->type, kFileSystemType);
  EXPECT_EQ(blank->device, "0:40");
  EXPECT_EQ(FindMount(kText, "/mnt/x")->device, "0:42");
  EXPECT_FALSE(FindMount(kText, "/mnt"));
}

TEST(MountListTest, PathsAreAbsoluteWithoutALookAtTheLastName) {
  EXPECT_EQ(AbsolutePath("/none").value(), "/none");
  EXPECT_EQ(AbsolutePath("/none///").value(), "/none");
  EXPECT_EQ(AbsolutePath("/").value(), "/");
  char here[4096];
  ASSERT_NE(getcwd(here, sizeof here), nullptr);
  EXPECT_EQ(AbsolutePath("none").value(), std::string(here) + "/none");
  EXPECT_EQ(AbsolutePath(".").value(), here);
  EXPECT_FALSE(AbsolutePath("/none/below"));
}

TEST(UsersTest, NamesAndNumbersOfThisMachine) {
  Users users;
  EXPECT_EQ(users.UserNumber("root"), 0);
  EXPECT_EQ(users.GroupNumber("root"), 0);
  EXPECT_EQ(users.UserName(0), "root");
  EXPECT_EQ(users.GroupName(0), "root");
  EXPECT_EQ(users.UserNumber("no such user here"), 65534);
  EXPECT_EQ(users.UserName(3'999'999'999), std::nullopt);
}

}  // namespace
}  // namespace ebb::mount
