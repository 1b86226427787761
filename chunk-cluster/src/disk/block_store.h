// All blocks of this server, over all its disks.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "common/error.h"
#include "disk/disk.h"
#include "disk/file_system.h"
#include "disk/format.h"
#include "disk/replica.h"
#include "disk/replica_in_pipeline.h"
#include "disk/replica_reader.h"
#include "disk/replica_writer.h"

namespace ebb {

// Thread-safe. Outlives its readers and writers.
class BlockStore {
 public:
  struct Options {
    std::vector<std::string> directories;
    // Bytes of each disk that are never written.
    std::uint64_t reserved_bytes = 0;
    // How many disks, of all servers on this machine, share a file system with each of these
    // directories. Directories of this store on one file system are counted without being told.
    std::uint32_t disks_per_file_system = 1;
    // A disk whose probe takes longer is avoided for new replicas.
    std::chrono::milliseconds slow_disk_after = std::chrono::seconds(10);
    // A disk whose probe takes longer has failed.
    std::chrono::milliseconds hung_disk_after = std::chrono::minutes(5);
    // Of each directory, in the order of the directories. Those that are missing are kDisk.
    std::vector<StorageType> types = {};
    // The limits of the calls of each disk.
    DiskQueue::Options calls = {};
  };

  // Locks the directories and reads their identities. Blocks are known only after Attach. A
  // directory that cannot be opened is a failed disk. It is an error if every disk has failed, or
  // if a directory is in use or belongs to another server.
  [[nodiscard]] static Result<std::unique_ptr<BlockStore>> Open(FileSystem& files,
                                                                const Options& options);
  // Checks that the disks belong to the cluster, claims new disks for it, and scans all disks for
  // blocks at the same time (disk_scan.cc). Until this has ended, the store is not ready: every
  // call that opens, creates, changes or looks up a replica by its id fails with kNotReady. A disk
  // that hangs is not waited for, if another one was scanned: its scan goes on, until it ends and
  // the listener hears of it, or until the disk has failed. Meanwhile the disk gets no new
  // replicas, and a block that is on no other disk may be there.
  [[nodiscard]] Status Attach(const std::string& cluster_id, const std::string& block_pool_id,
                              std::uint32_t namespace_id);

  // Waits for the scans that have not ended yet. To be called before the listener is destroyed.
  void AwaitScans();

  // kNotReady, with a message for the caller of this server, until Attach has ended.
  [[nodiscard]] Status CheckReady() const;
  // As CheckReady, but waits so long at most, or until `stop` is requested.
  [[nodiscard]] Status AwaitReady(std::chrono::milliseconds patience,
                                  const std::stop_token& stop) const;

  // Not thread-safe: to be called before the first reader or writer.
  void SetListener(StoreListener* listener) { listener_ = listener; }
  // The same. The watcher outlives the store.
  void SetWatcher(ReplicaWatcher* watcher) { watcher_ = watcher; }

  [[nodiscard]] const std::string& server_uuid() const { return server_uuid_; }
  [[nodiscard]] const std::string& block_pool_id() const { return block_pool_id_; }
  [[nodiscard]] std::vector<DiskStatus> Disks() const;
  // kDisk for a storage that is not of this server.
  [[nodiscard]] StorageType TypeOf(const std::string& storage_uuid) const;
  // The replicas on the disk that belong in a block report: all but temporary ones. What changes during
  // the call may be told as it was before or after its change.
  [[nodiscard]] std::vector<ReplicaInfo> Replicas(const std::string& storage_uuid) const;
  // Knows nothing until the store is ready. For callers that are told of a block by the store.
  [[nodiscard]] std::optional<ReplicaInfo> Find(std::uint64_t block_id) const;
  // The replica, or why there is none. kNotFound is this server's word that it has no such replica.
  // kCannotTell: the replica may lie on a disk that has failed.
  [[nodiscard]] Result<ReplicaInfo> Locate(std::uint64_t block_id) const;

  // The next finalized blocks of the disk after block id `after`, in the order of their ids: as many
  // as `limit`, unless there are fewer.
  [[nodiscard]] std::vector<ReplicaInfo> FinalizedAfter(const std::string& storage_uuid,
                                                        std::uint64_t after,
                                                        std::size_t limit) const;
  struct Amount {
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
  };
  // How much all finalized blocks of the disk after block id `after` are. Visits them all.
  [[nodiscard]] Amount CountFinalizedAfter(const std::string& storage_uuid,
                                           std::uint64_t after) const;

  // kNotFound if the replica is not here. That includes a replica whose files turn out to be gone
  // or damaged: then the listener hears of it, and `*dropped` is set to true. Other errors as of
  // Locate.
  [[nodiscard]] Result<std::unique_ptr<ReplicaReader>> OpenReader(
      std::uint64_t block_id, std::uint64_t min_generation_stamp, bool* dropped = nullptr);
  // Makes the bytes of a finalized replica, its checksums and its name durable. A writer does that
  // only if its client asks. Errors as of OpenReader; after an I/O error the replica is dropped.
  [[nodiscard]] Status Sync(std::uint64_t block_id, std::uint64_t generation_stamp);
  // To be called if the bytes of the finalized replica `seen` contradict their checksums. The
  // listener hears of it. False if the store does not hold that replica any more: somebody has
  // changed it since it was looked up or opened, so the bytes that were read are not those of today.
  bool ReportCorrupt(const ReplicaInfo& seen, const std::string& why);
  // To be called after an I/O error. Probes the disk, and drops the whole disk if it has failed, or
  // else the finalized replica `seen`. True if the replica was dropped; false also if somebody has
  // changed it meanwhile.
  bool ReportUnreadable(const ReplicaInfo& seen, const std::string& why);

  [[nodiscard]] Result<std::unique_ptr<ReplicaWriter>> Create(const WriteRequest& request);
  // For a client that rebuilds its pipeline. The previous writer loses its right to write, and
  // bytes that were not acknowledged are cut off.
  [[nodiscard]] Result<std::unique_ptr<ReplicaWriter>> RecoverWriter(std::uint64_t block_id,
                                                                     std::uint64_t generation_stamp,
                                                                     std::uint64_t new_stamp,
                                                                     std::uint64_t min_bytes,
                                                                     std::uint64_t max_bytes);
  // For a client that appends to a finalized block of `length` bytes. `new_stamp` may be the stamp
  // that the replica has.
  [[nodiscard]] Result<std::unique_ptr<ReplicaWriter>> Append(std::uint64_t block_id,
                                                              std::uint64_t generation_stamp,
                                                              std::uint64_t new_stamp,
                                                              std::uint64_t length);
  // For a client whose pipeline broke while it began to append: the replica may be finalized still,
  // or be open already, and it may have a newer stamp, up to `new_stamp`.
  [[nodiscard]] Result<std::unique_ptr<ReplicaWriter>> RecoverAppend(std::uint64_t block_id,
                                                                     std::uint64_t generation_stamp,
                                                                     std::uint64_t new_stamp,
                                                                     std::uint64_t length);
  // For a client whose pipeline broke while it closed the block. Finalizes the replica, which must
  // have `length` bytes.
  [[nodiscard]] Result<ReplicaInfo> RecoverClose(std::uint64_t block_id,
                                                 std::uint64_t generation_stamp,
                                                 std::uint64_t new_stamp, std::uint64_t length);

  // Block recovery (HDFS's InterDatanodeProtocol), first step: stops the writer and describes the
  // replica. Empty if the replica is not here; an error as of Locate if nobody can tell.
  [[nodiscard]] Result<std::optional<ReplicaInfo>> StartRecovery(std::uint64_t block_id,
                                                                 std::uint64_t generation_stamp,
                                                                 std::uint64_t recovery_id);
  // Second step: cuts the replica to `new_length` and finalizes it with the recovery id as its
  // generation stamp. A finalized replica whose bytes at the new end contradict their checksum stays
  // as it was, and the listener hears of it (kCorrupt).
  [[nodiscard]] Result<ReplicaInfo> FinishRecovery(std::uint64_t block_id,
                                                   std::uint64_t recovery_id,
                                                   std::uint64_t new_length);

  // Where a replica goes within this server: to that storage, or to any storage of the type.
  struct RelocationTarget {
    std::string storage_uuid = {};
    std::optional<StorageType> type = {};
  };
  // Called after so many bytes; an error ends the move.
  using RelocationPace = std::function<Status(std::uint64_t bytes)>;
  // Moves a finalized replica to another disk of this server: a verified and synced copy takes the
  // place of the replica in one step. The listener hears first of the new replica, then of the
  // deletion of the old one. After a crash one of the two is there, or both are, of which
  // disk_scan.cc removes one. kBusy if somebody has changed the replica meanwhile. An error leaves the replica.
  [[nodiscard]] Status Relocate(std::uint64_t block_id, std::uint64_t generation_stamp,
                                const RelocationTarget& target, const RelocationPace& pace = {});

  // A replica that is out of the map, and whose files are still there.
  class Forgotten;
  // Takes the replica out of the map, unless its generation stamp is above `max_generation_stamp`:
  // nobody reads, writes or reports the replica any more. Does not touch the disk. Null if nothing
  // was taken. RemoveFiles must follow; until then the block cannot be created on this server.
  [[nodiscard]] std::shared_ptr<Forgotten> Forget(std::uint64_t block_id,
                                                  std::uint64_t max_generation_stamp);
  // The listener hears of the deletion after that.
  void RemoveFiles(const Forgotten& forgotten);
  // Both at once. False if nothing was removed.
  bool Delete(std::uint64_t block_id, std::uint64_t max_generation_stamp);
  // Reads, writes and syncs a little on every disk, and drops disks that have failed.
  void ProbeDisks();
  [[nodiscard]] std::size_t disk_count() const { return disks_.size(); }
  // The same for one disk. False if the disk has failed. One thread for each disk may call this: a
  // disk that hangs lets the call wait.
  bool ProbeDisk(std::size_t disk);
  // Drops disks whose probe has been running for too long. Does not touch a disk.
  void DropHungDisks();

 private:
  friend class ReplicaWriter;

  struct Replica {
    std::uint64_t generation_stamp;
    std::uint64_t length;
    Disk* disk;
    ReplicaState state;
    // The block recovery that holds the replica, or 0.
    std::uint64_t recovery_id = 0;
    // Null if the replica is finalized.
    std::shared_ptr<ReplicaInPipeline> in_pipeline;
  };

  BlockStore() = default;
  void RemoveFinalized(const Forgotten& forgotten);
  [[nodiscard]] static std::unexpected<Error> NoReplica(std::uint64_t block_id);
  [[nodiscard]] static std::unexpected<Error> JustChanged(std::uint64_t block_id);
  // A disk has failed or is not scanned yet.
  [[nodiscard]] bool AnyDiskUnknown() const;
  // The error for a replica that is not in the map.
  [[nodiscard]] std::unexpected<Error> Absent(std::uint64_t block_id) const;
  // The entry of the map, or an error as of Locate.
  [[nodiscard]] Result<Replica> Require(std::uint64_t block_id) const;
  [[nodiscard]] Status AgreeOnServerUuid();
  void CountSharers(FileSystem& files, std::uint32_t disks_per_file_system);
  // Scans the disk in a thread of its own.
  void StartScan(Disk& disk);
  // Waits until the scan of every disk has ended or stalls, and one has ended well or all have not.
  void AwaitFirstScans();
  [[nodiscard]] Status ScanDisk(Disk& disk);
  [[nodiscard]] Status ScanFinalized(Disk& disk, const std::string& folder);
  void AddScanned(Disk& disk, std::uint64_t block_id, std::uint64_t stamp, std::uint64_t length);
  [[nodiscard]] Status ScanBeingWritten(Disk& disk);

  [[nodiscard]] ReplicaInfo Describe(std::uint64_t block_id, const Replica& replica) const;
  // Visits the replicas after block id `after` in the order of their ids, until `visit` returns
  // false. Releases the mutex every now and then, so that nobody waits for a walk over millions.
  void VisitAfter(
      std::uint64_t after,
      const std::function<bool(std::uint64_t block_id, const Replica& replica)>& visit) const;
  void VisitFinalizedAfter(
      const std::string& storage_uuid, std::uint64_t after,
      const std::function<bool(std::uint64_t block_id, const Replica& replica)>& visit) const;
  [[nodiscard]] std::optional<Replica> Get(std::uint64_t block_id) const;
  [[nodiscard]] Result<Disk*> ChooseDisk(const WriteRequest& request);
  // The next disk of the type, or of any, that takes replicas; null if there is none.
  [[nodiscard]] Disk* NextDisk(std::optional<StorageType> type);
  // The steps of Relocate.
  [[nodiscard]] Status RelocateAlone(std::uint64_t block_id, std::uint64_t generation_stamp,
                                     const RelocationTarget& target, const RelocationPace& pace);
  [[nodiscard]] Result<Disk*> DiskForRelocation(const ReplicaInfo& replica,
                                                const RelocationTarget& target);
  [[nodiscard]] static Status CopyForRelocation(const ReplicaReader& from, ReplicaInPipeline& to,
                                                const RelocationPace& pace);
  // The disk that had the replica; null if the replica is not as it was seen any more.
  [[nodiscard]] Disk* TakeRelocated(const ReplicaInfo& seen, Disk& disk);
  void RemoveRelocated(Disk& disk, const ReplicaInfo& seen);
  [[nodiscard]] Status MakeRoomFor(const WriteRequest& request);
  [[nodiscard]] Result<std::unique_ptr<ReplicaReader>> OpenFinalized(std::uint64_t block_id,
                                                                     const Replica& replica);
  // False if a writer has opened or changed the finalized replica since it was looked up.
  [[nodiscard]] bool IsUnchanged(std::uint64_t block_id, const Replica& replica) const;
  // The entry of the finalized replica `seen`, or the end if a writer, a cut or a deletion has
  // changed it. The caller holds mutex_.
  [[nodiscard]] std::map<std::uint64_t, Replica>::iterator FindSeen(const ReplicaInfo& seen);
  [[nodiscard]] Result<std::unique_ptr<ReplicaReader>> OpenInPipeline(std::uint64_t block_id,
                                                                      const Replica& replica);
  // The caller holds the mutex of `in_pipeline`.
  [[nodiscard]] Result<ReplicaInfo> Finalize(ReplicaInPipeline& in_pipeline, bool sync);
  // A replica that is open for writing, and the lock of its mutex.
  struct LockedReplica {
    std::shared_ptr<ReplicaInPipeline> in_pipeline;
    std::unique_lock<std::timed_mutex> lock;
  };
  // Opens the finalized replica for writing, also if it has moved to another disk of this server
  // since it was looked up. Nobody can have had the lock before the caller has it.
  [[nodiscard]] Result<LockedReplica> Reopen(std::uint64_t block_id, Replica replica);
  [[nodiscard]] Result<LockedReplica> ReopenAsSeen(std::uint64_t block_id, const Replica& replica);
  // Locks the replica; opens it again if it is finalized.
  [[nodiscard]] Result<LockedReplica> LockOrReopen(std::uint64_t block_id, const Replica& replica);
  // The caller holds the mutex of `in_pipeline`. False if the store no longer holds the replica.
  bool Update(const ReplicaInPipeline& in_pipeline, const std::function<void(Replica&)>& change);
  // The caller holds the mutex of the replica, and the replica itself.
  void Discard(ReplicaInPipeline& in_pipeline);
  // Takes the replica out of the map, unless another one of the block is there.
  void EraseEntry(const ReplicaInPipeline& in_pipeline);
  void FailDisk(Disk& disk, const std::string& why);
  void Withdraw(std::uint64_t block_id) const {
    if (watcher_ != nullptr) watcher_->OnWithdrawn(block_id);
  }
  // To be called after an I/O error on the disk: probes it, and drops it if the probe fails.
  void Suspect(Disk& disk, const std::string& why);

  std::vector<std::unique_ptr<Disk>> disks_;
  // Directories that could not be opened.
  std::vector<DiskStatus> unopened_;
  std::string server_uuid_;
  std::string cluster_id_;
  std::string block_pool_id_;
  StoreListener* listener_ = nullptr;
  ReplicaWatcher* watcher_ = nullptr;
  std::chrono::milliseconds hung_disk_after_{};

  mutable std::mutex mutex_;
  // The scan of every disk has ended or stalls.
  bool ready_ = false;
  std::condition_variable scan_ended_;
  mutable std::condition_variable_any became_ready_;
  // In the order of the block ids, so that a walk can go on where it paused.
  std::map<std::uint64_t, Replica> replicas_;
  // Forgotten replicas whose files are not removed yet.
  std::unordered_set<std::uint64_t> removing_;
  // Blocks that move between disks of this server.
  std::unordered_set<std::uint64_t> relocating_;
  std::size_t next_disk_ = 0;
  // The last member, so that it is destroyed first: the threads use the other members.
  std::vector<std::jthread> scans_;
};

class BlockStore::Forgotten {
 public:
  // The disk that its files are on.
  [[nodiscard]] const std::string& storage_uuid() const { return info_.storage_uuid; }

 private:
  friend class BlockStore;
  Forgotten(ReplicaInfo info, Replica replica)
      : info_(std::move(info)), replica_(std::move(replica)) {}

  const ReplicaInfo info_;
  const Replica replica_;
};

}  // namespace ebb
