#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "disk/faulty_file_system.h"
#include "disk/test_support.h"

namespace ebb {
namespace {

class RelocationTest : public ::testing::Test {
 protected:
  RelocationTest() { Open(); }

  void Open() {
    store_.reset();
    store_ = OpenStore(files_, {directory_ / "a", directory_ / "b"},
                       {StorageType::kDisk, StorageType::kArchive});
    store_->SetListener(&listener_);
  }

  StorageType TypeOf(std::uint64_t block_id) {
    return store_->TypeOf(store_->Find(block_id)->storage_uuid);
  }

  // A block on the disk of type DISK.
  std::vector<std::byte> Store(std::uint64_t block_id, std::size_t size) {
    const auto data = RandomBytes(size, block_id);
    StoreBlock(*store_, block_id, data);
    if (TypeOf(block_id) != StorageType::kDisk) {
      EXPECT_TRUE(store_->Relocate(block_id, 1001, {.type = StorageType::kDisk}));
    }
    return data;
  }

  TemporaryDirectory directory_;
  FaultyFileSystem files_;
  RecordingListener listener_;
  std::unique_ptr<BlockStore> store_;
};

TEST_F(RelocationTest, AReplicaMovesToADiskOfAnotherTypeAndStaysThere) {
  for (const std::size_t size : {0, 1, 512, 700, 3 << 20}) {
    const std::uint64_t id = 10 + size;
    const auto data = Store(id, size);
    const auto moved = store_->Relocate(id, 1001, {.type = StorageType::kArchive});
    ASSERT_TRUE(moved.has_value()) << moved.error().message;
    EXPECT_EQ(TypeOf(id), StorageType::kArchive);
    EXPECT_EQ(*ReadBlock(*store_, id), data);
    const auto events = listener_.events();
    EXPECT_EQ(events[events.size() - 2], "stored " + std::to_string(id));
    EXPECT_EQ(events.back(), "deleted " + std::to_string(id));
    // The data and its checksums, on one disk.
    EXPECT_EQ(directory_.Find("blk_" + std::to_string(id)).size(), 2U);
  }
  const auto disks = store_->Disks();
  EXPECT_EQ(disks[0].used_bytes, 0U);
  EXPECT_EQ(disks[1].blocks, 5U);
  Open();
  EXPECT_EQ(TypeOf(522), StorageType::kArchive);
}

TEST_F(RelocationTest, AMoveThatIsRefusedLeavesTheReplica) {
  Store(1, 700);
  const auto here = store_->Relocate(1, 1001, {.type = StorageType::kDisk});
  ASSERT_FALSE(here.has_value());
  EXPECT_NE(here.error().message.find("already"), std::string::npos);
  const auto nowhere = store_->Relocate(1, 1001, {.type = StorageType::kSsd});
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_NE(nowhere.error().message.find("SSD"), std::string::npos);
  EXPECT_FALSE(store_->Relocate(1, 1001, {.storage_uuid = "DS-unknown"}).has_value());
  EXPECT_FALSE(store_->Relocate(2, 1001, {.type = StorageType::kArchive}).has_value());
  EXPECT_EQ(TypeOf(1), StorageType::kDisk);
  EXPECT_EQ(directory_.Find("blk_1").size(), 2U);
}

TEST_F(RelocationTest, AReplicaThatChangesOrIsDeletedMeanwhileDoesNotMove) {
  Store(1, 700);
  Store(2, 700);
  const auto deleted = store_->Relocate(1, 1001, {.type = StorageType::kArchive},
                                        [&](std::uint64_t) -> Status {
                                          EXPECT_TRUE(store_->Delete(1, 1001));
                                          return {};
                                        });
  EXPECT_FALSE(deleted.has_value());
  EXPECT_FALSE(store_->Find(1).has_value());
  const auto appended = store_->Relocate(
      2, 1001, {.type = StorageType::kArchive}, [&](std::uint64_t) -> Status {
        const auto writer = store_->Append(2, 1001, 1002, 700);
        EXPECT_TRUE(writer.has_value());
        EXPECT_FALSE(store_->Relocate(2, 1001, {.type = StorageType::kArchive}).has_value());
        return (*writer)->Finish(false);
      });
  EXPECT_FALSE(appended.has_value());
  EXPECT_EQ(store_->Find(2)->generation_stamp, 1002U);
  EXPECT_EQ(TypeOf(2), StorageType::kDisk);
  EXPECT_EQ(directory_.Find("/b/").size(), directory_.Find("/b/VERSION").size() +
                                               directory_.Find("/b/in_use.lock").size());
}

// The move ends between the look-up of the replica and the moment when it is open for the change:
// after both files of the old disk are open, or after the first one is, and the other one is gone.
TEST_F(RelocationTest, AChangeGoesOnWhereTheReplicaHasJustMovedTo) {
  std::uint64_t id = 1;
  for (const std::string opened : {".meta", "blk_"}) {
    const std::function<void()> changes[] = {
        [&] {
          const auto writer = store_->Append(id, 1001, 1002, 700);
          ASSERT_TRUE(writer.has_value()) << writer.error().message;
          EXPECT_TRUE((*writer)->Finish(false).has_value());
        },
        [&] {
          const auto closed = store_->RecoverClose(id, 1001, 1002, 700);
          EXPECT_TRUE(closed.has_value()) << closed.error().message;
        },
        [&] {
          ASSERT_TRUE(store_->StartRecovery(id, 1001, 1002).has_value());
          const auto finished = store_->FinishRecovery(id, 1002, 700);
          // The move leaves a replica alone that a recovery holds.
          EXPECT_TRUE(finished.has_value()) << finished.error().message;
        }};
    for (const auto& change : changes) {
      const auto data = Store(id, 700);
      bool moved = false;
      files_.AfterOpening(opened, [&] {
        moved = store_->Relocate(id, 1001, {.type = StorageType::kArchive}).has_value();
      });
      change();
      const auto read = ReadBlock(*store_, id);
      ASSERT_TRUE(read.has_value()) << read.error().message;
      EXPECT_EQ(*read, data);
      EXPECT_EQ(store_->Find(id)->generation_stamp, 1002U);
      EXPECT_EQ(TypeOf(id), moved ? StorageType::kArchive : StorageType::kDisk);
      ++id;
    }
  }
}

TEST_F(RelocationTest, DamagedBytesDoNotMove) {
  Store(1, 700);
  const auto file = directory_.Find("/01/blk_1");
  for (const auto& path : file) {
    if (path.ends_with("blk_1")) std::filesystem::resize_file(path, 0);
    if (path.ends_with("blk_1")) std::filesystem::resize_file(path, 700);
  }
  EXPECT_FALSE(store_->Relocate(1, 1001, {.type = StorageType::kArchive}).has_value());
  EXPECT_EQ(TypeOf(1), StorageType::kDisk);
}

TEST_F(RelocationTest, AWriterGetsTheTypeThatItAsksForIfThereIsOne) {
  for (std::uint64_t id = 1; id <= 4; ++id) {
    const auto writer = store_->Create({.block_id = id,
                                        .generation_stamp = 1001,
                                        .checksum = {},
                                        .storage_type = StorageType::kArchive});
    ASSERT_TRUE(writer.has_value());
    EXPECT_EQ(store_->TypeOf((*writer)->storage_uuid()), StorageType::kArchive);
  }
  EXPECT_TRUE(store_
                  ->Create({.block_id = 5,
                            .generation_stamp = 1001,
                            .checksum = {},
                            .storage_type = StorageType::kSsd})
                  .has_value());
  EXPECT_FALSE(store_
                   ->Create({.block_id = 6,
                             .generation_stamp = 1001,
                             .checksum = {},
                             .storage_type = StorageType::kSsd,
                             .exact_type = true})
                   .has_value());
}

}  // namespace
}  // namespace ebb
