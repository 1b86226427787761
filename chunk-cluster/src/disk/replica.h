// Facts about one replica, and the listener of the store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "disk/disk.h"

namespace ebb {

// The values are the numbers in HDFS's ReplicaStateProto and in block reports.
enum class ReplicaState : std::uint8_t {
  kFinalized = 0,
  // A client writes the replica, or may come back to do so. HDFS: RBW.
  kBeingWritten = 1,
  // A client was writing the replica when the process stopped. HDFS: RWR.
  kWaiting = 2,
  // Block recovery holds the replica. HDFS: RUR.
  kUnderRecovery = 3,
  // An unfinished copy or output of a combine. No reader sees the replica, and a restart removes
  // it.
  kTemporary = 4,
};

// For messages.
[[nodiscard]] std::string_view NameOf(ReplicaState state);

struct ReplicaInfo {
  std::uint64_t block_id = 0;
  std::uint64_t generation_stamp = 0;
  // The bytes that a reader may see.
  std::uint64_t length_bytes = 0;
  ReplicaState state = ReplicaState::kFinalized;
  std::string storage_uuid;
  // The uuid of the server whose replica this one is to replace, by the word of a balancer. Only in
  // OnStored, when the replica was moved here.
  std::string replaces = {};
};

// Hears that nobody may read a replica any more: the replica is deleted, damaged or on a failed
// disk, or a client appends to the replica. Called under the lock of the store at times, so it must
// be quick and must not call the store.
class ReplicaWatcher {
 public:
  virtual ~ReplicaWatcher() = default;
  virtual void OnWithdrawn(std::uint64_t block_id) = 0;
};

// Hears of changes in the store. The thread that caused the event calls, and holds no lock of the
// store.
class StoreListener {
 public:
  virtual ~StoreListener() = default;
  virtual void OnStored(const ReplicaInfo& replica) = 0;
  virtual void OnDeleted(const ReplicaInfo& replica) = 0;
  virtual void OnCorrupt(const ReplicaInfo& replica, const std::string& why) = 0;
  virtual void OnDiskFailed(const DiskStatus& disk) = 0;
  // The scan of a disk that hung in it has ended after the store was ready.
  virtual void OnDiskScanned(const DiskStatus&) {}
};

}  // namespace ebb
