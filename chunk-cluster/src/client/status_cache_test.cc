#include "client/status_cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/fake_cluster.h"
#include "client/file_system.h"

namespace ebb::client {
namespace {

using testing::FakeDatanode;
using testing::FakeNamenode;

FileStatus OfLength(std::uint64_t length) {
  FileStatus status;
  status.length = length;
  return status;
}

TEST(StatusCacheTest, AStatusIsKeptForItsTime) {
  StatusCache cache(Timeout(100));
  const auto now = StatusCache::Clock::now();
  EXPECT_FALSE(cache.Find("/f", now));
  cache.Keep(cache.Ask(now), "/f", OfLength(3));
  // The time begins with the question: the answer may have been long under way.
  ASSERT_TRUE(cache.Find("/f", now + Timeout(100)));
  EXPECT_EQ(cache.Find("/f", now)->length, 3U);
  EXPECT_FALSE(cache.Find("/f", now + Timeout(101)));
  EXPECT_EQ(cache.size(), 0U);
}

TEST(StatusCacheTest, NothingIsKeptWithoutATime) {
  StatusCache cache(Timeout(0));
  cache.Keep(cache.Ask(), "/f", OfLength(3));
  cache.Forget("/f");
  cache.ForgetName("/f");
  EXPECT_FALSE(cache.Find("/f"));
}

TEST(StatusCacheTest, TheAnswerToTheLaterQuestionStays) {
  StatusCache cache(Timeout(100'000));
  const auto now = StatusCache::Clock::now();
  const auto early = cache.Ask(now);
  cache.Keep(cache.Ask(now + Timeout(5)), "/f", OfLength(2));
  cache.Keep(early, "/f", OfLength(1));
  EXPECT_EQ(cache.Find("/f", now)->length, 2U);
}

TEST(StatusCacheTest, AnAnswerFromBeforeAChangeIsNotKept) {
  StatusCache cache(Timeout(100'000));
  const auto question = cache.Ask();
  cache.Forget("/f");
  cache.Keep(question, "/f", OfLength(3));
  EXPECT_FALSE(cache.Find("/f"));
}

TEST(StatusCacheTest, ANameTakesWithItWhatIsBelowAndTheDirectoriesAbove) {
  StatusCache cache(Timeout(100'000));
  const std::vector<std::string> all = {"/",      "/a",      "/a/b", "/a/b/c", "/a/b/c/d",
                                        "/a/b.c", "/a/b0",   "/a/x", "/ab",    "/a-b"};
  const auto fill = [&] {
    for (const auto& path : all) cache.Keep(cache.Ask(), path, OfLength(1));
  };
  const auto kept = [&] {
    std::vector<std::string> found;
    for (const auto& path : all) {
      if (cache.Find(path)) found.push_back(path);
    }
    return found;
  };
  fill();
  EXPECT_EQ(kept(), all);
  cache.ForgetName("/a/./b/");
  EXPECT_EQ(kept(), (std::vector<std::string>{"/a/b.c", "/a/b0", "/a/x", "/ab", "/a-b"}));
  fill();
  cache.Forget("/a/b");
  EXPECT_EQ(cache.size(), all.size() - 1);
  cache.ForgetName("/");
  EXPECT_EQ(cache.size(), 0U);
}

TEST(StatusCacheTest, AFileHasOneKeptPath) {
  StatusCache cache(Timeout(100'000));
  for (const char* path : {"/.reserved/.inodes/17", "/a//b", "/a/", "/a/../b", "a", ""}) {
    cache.Keep(cache.Ask(), path, OfLength(1));
    EXPECT_FALSE(cache.Find(path)) << path;
  }
  cache.Keep(cache.Ask(), "/a", OfLength(1));
  // Nobody knows which file this is.
  cache.Forget("/.reserved/.inodes/17");
  EXPECT_FALSE(cache.Find("/a"));
}

TEST(StatusCacheTest, TheNumberOfPathsIsBounded) {
  StatusCache cache(Timeout(100'000));
  for (std::size_t i = 0; i <= StatusCache::kMostPaths; ++i) {
    cache.Keep(cache.Ask(), "/" + std::to_string(i), OfLength(i));
    EXPECT_LE(cache.size(), StatusCache::kMostPaths);
  }
  EXPECT_TRUE(cache.Find("/" + std::to_string(StatusCache::kMostPaths)));
}

class CachedStatTest : public ::testing::Test {
 protected:
  void SetUp() override { address_ = namenode_.Start()[0].Text(); }

  void Open(const std::string& millis) {
    Configuration configuration;
    if (!millis.empty()) configuration.Set("ebbfs.client.status.cache.millis", millis);
    auto opened = FileSystem::Open(configuration, address_);
    ASSERT_TRUE(opened) << opened.error().message;
    files_ = std::move(*opened);
    MakeNames();
  }

  void MakeNames() {
    namenode_.names = {{"/", true}, {"/d", true}, {"/d/f", false}, {"/d/g", false}, {"/e", true}};
  }

  // Whether the namenode was asked.
  bool Asks(const std::string& path) {
    const int before = namenode_.StatusQuestions();
    const auto status = files_->CachedStat(path);
    EXPECT_TRUE(status) << status.error().message;
    return namenode_.StatusQuestions() > before;
  }

  FakeDatanode node_;
  FakeNamenode namenode_{std::vector{node_.info()}};
  std::string address_;
  std::unique_ptr<FileSystem> files_;
};

TEST_F(CachedStatTest, NothingIsKeptUnlessItIsConfigured) {
  for (const char* millis : {"", "0"}) {
    Open(millis);
    EXPECT_TRUE(Asks("/d/f"));
    EXPECT_TRUE(Asks("/d/f"));
  }
  Configuration wrong;
  wrong.Set("ebbfs.client.status.cache.millis", "soon");
  const auto refused = FileSystem::Open(wrong, address_);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("ebbfs.client.status.cache.millis"));
}

TEST_F(CachedStatTest, WhatOthersChangeIsSeenLater) {
  Open("9000000000");
  EXPECT_TRUE(Asks("/d/f"));
  EXPECT_FALSE(Asks("/d/f"));
  namenode_.names.erase("/d/f");
  EXPECT_TRUE(files_->CachedStat("/d/f")->has_value());
  // A missing path is asked for each time, and Stat() always.
  EXPECT_FALSE(files_->Stat("/d/f")->has_value());
  EXPECT_FALSE(files_->CachedStat("/d/f")->has_value());
  EXPECT_TRUE(Asks("/d/f"));
  namenode_.names["/d/f"] = true;
  EXPECT_TRUE((*files_->Stat("/d/f"))->IsDirectory());
  EXPECT_FALSE(Asks("/d/f"));
  EXPECT_TRUE((*files_->CachedStat("/d/f"))->IsDirectory());
}

TEST_F(CachedStatTest, AStatusEndsWithItsTime) {
  Open("30");
  EXPECT_TRUE(Asks("/d/f"));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_TRUE(Asks("/d/f"));
}

TEST_F(CachedStatTest, WhatTheClientChangesIsSeenAtOnce) {
  Open("60000");
  using Change = std::function<void()>;
  const std::vector<std::pair<const char*, Change>> changes = {
      {"mode", [&] { (void)files_->SetMode("/d/f", 0600); }},
      {"owner", [&] { (void)files_->SetOwner("/d/f", "ann", ""); }},
      {"times", [&] { (void)files_->SetTimes("/d/f", 1, 2); }},
      {"replication", [&] { (void)files_->SetReplication("/d/f", 2); }},
      {"truncate", [&] { (void)files_->Truncate("/d/f", 0); }},
      {"remove", [&] { (void)files_->Remove("/d/f", false); }},
      {"remove the directory", [&] { (void)files_->Remove("/d", true); }},
      {"rename", [&] { (void)files_->Rename("/d/f", "/e/f", false); }},
      {"rename to", [&] { (void)files_->Rename("/e", "/d/f", true); }},
      {"rename the directory", [&] { (void)files_->Rename("/d", "/c", false); }},
      {"rename the directory as of old", [&] { (void)files_->RenameOld("/d", "/e"); }},
      {"create", [&] { (void)files_->Create("/d/f", {.overwrite = true}); }},
      {"recover", [&] { (void)files_->RecoverLease("/d/f"); }},
      // The fake namenode refuses these: a call that fails may have taken effect.
      {"concat", [&] { (void)files_->Concat("/d/f", {"/d/g"}); }},
      {"concat from", [&] { (void)files_->Concat("/d/g", {"/d/f"}); }},
      {"acl", [&] { (void)files_->ModifyAcl("/d/f", {}); }},
      {"remove acl", [&] { (void)files_->RemoveAcl("/d/f"); }},
  };
  for (const auto& [name, change] : changes) {
    SCOPED_TRACE(name);
    MakeNames();
    (void)files_->Stat("/d/f");
    EXPECT_FALSE(Asks("/d/f"));
    change();
    EXPECT_TRUE(Asks("/d/f"));
  }
  // A new name changes the time of its directory, and nothing beside it.
  MakeNames();
  (void)files_->Stat("/d/f");
  (void)files_->Stat("/d");
  ASSERT_TRUE(files_->MakeDirectory("/d/new", true));
  EXPECT_FALSE(Asks("/d/f"));
  EXPECT_TRUE(Asks("/d"));
}

TEST_F(CachedStatTest, WhatAStreamWritesIsSeenAtOnce) {
  Open("60000");
  auto stream = files_->Create("/d/f", {.overwrite = true});
  ASSERT_TRUE(stream);
  const std::string text = "one line\n";
  const std::vector<std::pair<const char*, std::function<ebb::Status()>>> calls = {
      {"write", [&] { return (*stream)->Write(std::as_bytes(std::span(text))); }},
      {"flush", [&] { return (*stream)->Flush(); }},
      {"close", [&] { return (*stream)->Close(); }}};
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    (void)files_->Stat("/d/f");
    EXPECT_FALSE(Asks("/d/f"));
    ASSERT_TRUE(call());
    EXPECT_TRUE(Asks("/d/f"));
  }
}

}  // namespace
}  // namespace ebb::client
