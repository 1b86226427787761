// What the store says about a replica, and who is told about changes.
#pragma once

#include <cstdint>
#include <string>

#include "disk/disk.h"

namespace ebb {

// The values are those of HDFS's ReplicaStateProto and of block reports.
enum class ReplicaState : std::uint8_t {
  kFinalized = 0,
  // A client writes it, or may come back to.
  kBeingWritten = 1,
  // It was being written when the process stopped.
  kWaiting = 2,
  // Block recovery holds it.
  kUnderRecovery = 3,
  // A copy or a combine output in the making: nobody may see it, and it does not survive.
  kTemporary = 4,
};

struct ReplicaInfo {
  std::uint64_t block_id = 0;
  std::uint64_t generation_stamp = 0;
  // What a reader may see.
  std::uint64_t length_bytes = 0;
  ReplicaState state = ReplicaState::kFinalized;
  std::string storage_uuid;
};

// Called by whatever thread caused the event, with no lock of the store held.
class StoreListener {
 public:
  virtual ~StoreListener() = default;
  virtual void OnStored(const ReplicaInfo& replica) = 0;
  virtual void OnDeleted(const ReplicaInfo& replica) = 0;
  virtual void OnCorrupt(const ReplicaInfo& replica, const std::string& why) = 0;
  virtual void OnDiskFailed(const DiskStatus& disk) = 0;
};

}  // namespace ebb
