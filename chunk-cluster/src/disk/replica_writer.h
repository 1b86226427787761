// Writing one replica: the request for it, and the right to write it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "common/error.h"
#include "disk/format.h"
#include "disk/replica.h"
#include "disk/replica_in_pipeline.h"
#include "disk/storage_type.h"

namespace ebb {

class BlockStore;

struct WriteRequest {
  std::uint64_t block_id = 0;
  std::uint64_t generation_stamp = 0;
  format::Checksum checksum = {};
  // kBeingWritten or kTemporary.
  ReplicaState state = ReplicaState::kBeingWritten;
  // The wanted disk, or empty for any disk.
  std::string storage_uuid = {};
  // Fail if the wanted disk is not available, instead of taking another disk.
  bool exact_storage = false;
  // 0 if unknown.
  std::uint64_t expected_bytes = 0;
  // Also a finalized replica with an older generation stamp is replaced: this server was out of the
  // pipeline for a while and joins it again.
  bool replaces_older = false;
  // The uuid of the server whose replica this one is to replace, for ReplicaInfo. Empty if none.
  std::string replaces = {};
  // The wanted type of disk, if the wanted disk is not available or none is named. Empty for any.
  std::optional<StorageType> storage_type = {};
  // Fail if no disk of the wanted type is available, instead of taking a disk of another type.
  bool exact_type = false;
};

// The right to write one replica. One thread uses it, except where noted. If it is destroyed before
// Finish, a temporary replica is removed. A replica that a client writes stays: the client may come
// back.
class ReplicaWriter {
 public:
  ~ReplicaWriter();
  ReplicaWriter(const ReplicaWriter&) = delete;
  ReplicaWriter& operator=(const ReplicaWriter&) = delete;

  // See ReplicaInPipeline::Write. kShutdown if another writer has taken over, kIo if the disk has
  // failed, also if it did during the call.
  [[nodiscard]] Status Write(std::uint64_t offset, std::span<const std::byte> data,
                             std::span<const std::byte> sums, bool verify = true);
  [[nodiscard]] Status Sync();
  void Acknowledge(std::uint64_t length);
  // Finalizes the replica. With `sync`, its bytes are durable before that.
  [[nodiscard]] Status Finish(bool sync);
  // Turns a temporary replica into one that a client may continue.
  [[nodiscard]] Status MakeVisible();
  // `wake` is called once if another writer takes over, by the thread of that writer.
  void OnTakeOver(std::function<void()> wake);

  [[nodiscard]] format::Checksum checksum() const { return checksum_; }
  [[nodiscard]] std::uint64_t length() const;
  [[nodiscard]] const std::string& storage_uuid() const;

 private:
  friend class BlockStore;
  ReplicaWriter(BlockStore& store, std::shared_ptr<ReplicaInPipeline> in_pipeline);
  [[nodiscard]] Status CheckTicket() const;
  // An error if the disk has failed: nobody knows the replica any more, even if the disk answers
  // again.
  [[nodiscard]] Status CheckDisk() const;
  [[nodiscard]] Status Report(Status status) const;

  BlockStore& store_;
  const std::shared_ptr<ReplicaInPipeline> in_pipeline_;
  std::uint64_t ticket_;
  format::Checksum checksum_;
};

}  // namespace ebb
