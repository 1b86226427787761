// All blocks of this server, over all its disks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/error.h"
#include "disk/building.h"
#include "disk/disk.h"
#include "disk/file_system.h"
#include "disk/format.h"
#include "disk/replica.h"

namespace ebb {

class BlockStore;

// An open replica, as it was when it was opened. Any number of threads.
class ReplicaReader {
 public:
  [[nodiscard]] const format::Checksum& checksum() const { return checksum_; }
  [[nodiscard]] const ReplicaInfo& info() const { return info_; }
  // Bytes that may be read; for a block that is being written, all that is on the disk.
  [[nodiscard]] std::uint64_t length() const { return length_; }
  // The checksums of the chunks of [offset, end); `offset` begins a chunk, `end` ends one or is
  // the length.
  [[nodiscard]] Status ReadChecksums(std::uint64_t offset, std::uint64_t end,
                                     std::span<std::byte> out) const;
  [[nodiscard]] Status ReadData(std::uint64_t offset, std::span<std::byte> out) const;
  // For sendfile; negative if only ReadData works.
  [[nodiscard]] int descriptor() const { return data_->descriptor(); }

 private:
  friend class BlockStore;
  ReplicaInfo info_;
  format::Checksum checksum_;
  std::uint64_t length_ = 0;
  std::unique_ptr<File> data_;
  std::unique_ptr<File> meta_;
  // Of the last chunk of a block that is being written: the file may be ahead of `length_`.
  std::optional<std::array<std::byte, 4>> last_sum_;
};

// The right to write one replica. One thread, except where noted. Destroyed before Finish, it
// removes a temporary replica, and leaves one that a client writes for the client to come back.
class ReplicaWriter {
 public:
  ~ReplicaWriter();
  ReplicaWriter(const ReplicaWriter&) = delete;
  ReplicaWriter& operator=(const ReplicaWriter&) = delete;

  // See Building::Write. kShutdown if another writer has taken over.
  [[nodiscard]] Status Write(std::uint64_t offset, std::span<const std::byte> data,
                             std::span<const std::byte> sums, bool verify = true);
  [[nodiscard]] Status Sync();
  void Acknowledge(std::uint64_t length);
  // Publishes the replica with the bytes it has. With `sync`, once they are durable.
  [[nodiscard]] Status Finish(bool sync);
  // Makes a temporary replica one that a client may go on writing.
  [[nodiscard]] Status MakeVisible();
  // Called once if another writer takes over, by that writer's thread.
  void OnTakeOver(std::function<void()> wake);

  [[nodiscard]] format::Checksum checksum() const { return checksum_; }
  [[nodiscard]] std::uint64_t length() const;
  [[nodiscard]] const std::string& storage_uuid() const;

 private:
  friend class BlockStore;
  ReplicaWriter(BlockStore& store, std::shared_ptr<Building> building);
  [[nodiscard]] Status CheckTicket() const;
  [[nodiscard]] Status Report(Status status) const;

  BlockStore& store_;
  const std::shared_ptr<Building> building_;
  std::uint64_t ticket_;
  format::Checksum checksum_;
};

struct WriteRequest {
  std::uint64_t block_id = 0;
  std::uint64_t generation_stamp = 0;
  format::Checksum checksum = {};
  // kBeingWritten or kTemporary.
  ReplicaState state = ReplicaState::kBeingWritten;
  // The disk wanted; empty for any.
  std::string storage_uuid = {};
  // Refuse rather than take another disk than the one wanted.
  bool exact_storage = false;
  // 0 if not known.
  std::uint64_t expected_bytes = 0;
};

// Thread-safe. Readers and writers must be gone before it is destroyed.
class BlockStore {
 public:
  struct Options {
    std::vector<std::string> directories;
    std::uint64_t reserved_bytes = 0;
  };

  // Locks the directories and reads their identities; the blocks are not there before Attach. A
  // directory that cannot be opened is a failed disk; an error if all are, or if a directory is in
  // use or belongs elsewhere.
  [[nodiscard]] static Result<std::unique_ptr<BlockStore>> Open(FileSystem& files,
                                                                const Options& options);
  // Checks that the disks belong to the cluster, makes new ones belong to it, and scans them.
  [[nodiscard]] Status Attach(const std::string& cluster_id, const std::string& block_pool_id,
                              std::uint32_t namespace_id);

  // Not thread-safe: before the first reader or writer.
  void SetListener(StoreListener* listener) { listener_ = listener; }

  [[nodiscard]] const std::string& server_uuid() const { return server_uuid_; }
  [[nodiscard]] const std::string& block_pool_id() const { return block_pool_id_; }
  [[nodiscard]] std::vector<DiskStatus> Disks() const;
  // Every replica on the disk that a block report names.
  [[nodiscard]] std::vector<ReplicaInfo> Replicas(const std::string& storage_uuid) const;
  [[nodiscard]] std::optional<ReplicaInfo> Find(std::uint64_t block_id) const;

  // What a walk over the finalized blocks of a disk has before it.
  struct Ahead {
    // The next ones, by id.
    std::vector<ReplicaInfo> blocks;
    // Of all that are ahead.
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };
  // The blocks with an id beyond `after`; at most `limit` of them are named.
  [[nodiscard]] Ahead FinalizedAfter(const std::string& storage_uuid, std::uint64_t after,
                                     std::size_t limit) const;

  // kNotFound if it is not here, or turns out not to be (the listener then hears of it).
  // `dropped` is set if it was thought to be here until now.
  [[nodiscard]] Result<std::unique_ptr<ReplicaReader>> OpenReader(
      std::uint64_t block_id, std::uint64_t min_generation_stamp, bool* dropped = nullptr);
  // The block's bytes contradicted their checksums; the listener hears of it.
  void ReportCorrupt(std::uint64_t block_id, const std::string& why);
  // Tells a disk that lost a file from one that is gone, and drops the replica or the disk. True if
  // it was the replica.
  bool ReportUnreadable(std::uint64_t block_id, const std::string& why);

  [[nodiscard]] Result<std::unique_ptr<ReplicaWriter>> Create(const WriteRequest& request);
  // For a client that rebuilds its pipeline: the previous writer ends, unacknowledged bytes go.
  [[nodiscard]] Result<std::unique_ptr<ReplicaWriter>> RecoverWriter(
      std::uint64_t block_id, std::uint64_t generation_stamp, std::uint64_t new_stamp,
      std::uint64_t min_bytes, std::uint64_t max_bytes);
  // For a client that appends to a finalized block of `length` bytes.
  [[nodiscard]] Result<std::unique_ptr<ReplicaWriter>> Append(std::uint64_t block_id,
                                                              std::uint64_t generation_stamp,
                                                              std::uint64_t new_stamp,
                                                              std::uint64_t length);
  // For a client whose pipeline broke while it closed: finalizes what has `length` bytes.
  [[nodiscard]] Result<ReplicaInfo> RecoverClose(std::uint64_t block_id,
                                                 std::uint64_t generation_stamp,
                                                 std::uint64_t new_stamp, std::uint64_t length);

  // Block recovery (HDFS's InterDatanodeProtocol). Nothing if the replica is not here.
  [[nodiscard]] Result<std::optional<ReplicaInfo>> StartRecovery(std::uint64_t block_id,
                                                                 std::uint64_t generation_stamp,
                                                                 std::uint64_t recovery_id);
  [[nodiscard]] Result<ReplicaInfo> FinishRecovery(std::uint64_t block_id,
                                                   std::uint64_t recovery_id,
                                                   std::uint64_t new_length);

  // Removes the replica unless it is newer than the stamp. False if there is none to remove.
  bool Delete(std::uint64_t block_id, std::uint64_t max_generation_stamp);
  // Looks after every disk; drops those that have failed.
  void ProbeDisks();

 private:
  friend class ReplicaWriter;

  struct Replica {
    std::uint64_t generation_stamp;
    std::uint64_t length;
    Disk* disk;
    ReplicaState state;
    // The recovery that holds it; 0 if none does.
    std::uint64_t recovery_id = 0;
    // Present unless it is finalized.
    std::shared_ptr<Building> building;
  };

  BlockStore() = default;
  [[nodiscard]] Status AgreeOnServerUuid();
  [[nodiscard]] Status ScanDisk(Disk& disk);
  [[nodiscard]] Status ScanFinalized(Disk& disk, const std::string& folder);
  void AddScanned(Disk& disk, std::uint64_t block_id, std::uint64_t stamp, std::uint64_t length);
  [[nodiscard]] Status ScanBeingWritten(Disk& disk);

  [[nodiscard]] ReplicaInfo Describe(std::uint64_t block_id, const Replica& replica) const;
  [[nodiscard]] std::optional<Replica> Get(std::uint64_t block_id) const;
  [[nodiscard]] Result<Disk*> ChooseDisk(const WriteRequest& request);
  [[nodiscard]] Status MakeRoomFor(const WriteRequest& request);
  [[nodiscard]] Result<std::unique_ptr<ReplicaReader>> OpenFinalized(std::uint64_t block_id,
                                                                     const Replica& replica);
  [[nodiscard]] Result<std::unique_ptr<ReplicaReader>> OpenBuilding(std::uint64_t block_id,
                                                                    const Replica& replica);
  // With the building's mutex held.
  [[nodiscard]] Result<ReplicaInfo> Finalize(Building& building, bool sync);
  [[nodiscard]] Result<std::shared_ptr<Building>> Reopen(std::uint64_t block_id,
                                                         const Replica& replica);
  // With the building's mutex held; false if the store no longer holds it.
  bool Update(const Building& building, const std::function<void(Replica&)>& change);
  void Discard(const std::shared_ptr<Building>& building);
  void FailDisk(Disk& disk, const std::string& why);
  // After an I/O error somewhere on the disk.
  void Suspect(Disk& disk, const std::string& why);

  std::vector<std::unique_ptr<Disk>> disks_;
  // Directories that could not even be opened.
  std::vector<DiskStatus> unopened_;
  std::string server_uuid_;
  std::string cluster_id_;
  std::string block_pool_id_;
  StoreListener* listener_ = nullptr;

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Replica> replicas_;
  std::size_t next_disk_ = 0;
};

}  // namespace ebb
