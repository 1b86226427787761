// The files of the lanes of a file at the namenode: how they are found, created and read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "append.pb.h"
#include "client/file_status.h"
#include "client/file_system.h"
#include "client/lane_ledger.h"
#include "client/lane_name.h"
#include "common/error.h"
#include "hdfs.pb.h"

namespace ebb::client {

// True for an error after which another attempt does not help: kInvalid, kNotFound, kUnsupported,
// kShutdown, a missing right and a full quota.
[[nodiscard]] bool IsFinal(const Error& error);

// Thread-safe. Calls of HDFS only. docs/record-append.md tells which files there are.
class LaneFiles {
 public:
  // `path` is the file that records are appended to. kNotFound if it does not exist, kInvalid if it
  // is a directory, kUnsupported if clients encode or encrypt it. `files` outlives the result.
  [[nodiscard]] static Result<LaneFiles> Open(FileSystem& files, const std::string& path);

  // kNotFound unless the path still stands for the file that was opened.
  [[nodiscard]] Status RequireFile() const;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] FileSystem& files() const { return files_; }
  [[nodiscard]] std::uint64_t block_bytes() const { return file_.block_bytes; }
  // All writers of the file hold the leases of its lanes together, under this name.
  [[nodiscard]] std::string LeaseHolder() const;

  // ---- finding lanes

  // The ledgers of all slots, or of one slot, by their names.
  [[nodiscard]] Result<std::vector<LaneName>> Ledgers(std::optional<int> slot = {}) const;
  // The lanes of all slots, or of one slot, whose blocks are not part of the file yet.
  [[nodiscard]] Result<std::vector<LaneName>> Blocks(std::optional<int> slot = {}) const;
  // The first lane of a slot that has no ledger.
  [[nodiscard]] LaneName First(int slot) const;

  // ---- the attributes of a ledger

  // The lane; nothing if its creator has not told it yet. A lane without a block was abandoned.
  [[nodiscard]] Result<std::optional<ebbfs::LaneProto>> Lane(const LaneName& name) const;
  // True if this call has told the lane, false if it was abandoned before.
  [[nodiscard]] Result<bool> Tell(const LaneName& name, const ebbfs::LaneProto& lane) const;
  // Gives up a lane whose creator does not go on. The creator learns of it. False if the lane was
  // told before.
  [[nodiscard]] Result<bool> Abandon(const LaneName& name) const;
  // The bytes of the block that are part of the file.
  [[nodiscard]] Result<std::optional<std::uint64_t>> SealedBytes(const LaneName& name) const;
  [[nodiscard]] Status SetSealedBytes(const LaneName& name, std::uint64_t bytes) const;

  // ---- creating, closing and removing files

  // True if this call has created the file, false if it is there already.
  [[nodiscard]] Result<bool> CreateFile(const std::string& path) const;
  // Adds the only block to a file of a lane, on other servers than the excluded ones.
  [[nodiscard]] Result<hadoop::hdfs::LocatedBlockProto> AddOnlyBlock(
      const std::string& path, const std::vector<hadoop::hdfs::DatanodeInfoProto>& excluded) const;
  // Takes a block back that was never written.
  [[nodiscard]] Status AbandonBlock(const std::string& path,
                                    const hadoop::hdfs::LocatedBlockProto& block) const;
  // Closes a file whose only block is this one, which has its final length. False as long as too
  // few servers have told the namenode that the block is final.
  [[nodiscard]] Result<bool> Complete(const std::string& path, std::uint64_t file_id,
                                      const hadoop::hdfs::ExtendedBlockProto& block) const;
  // Removes old ledgers of the slot of lanes that are wholly in the file, except those that tell
  // which records of a writer with an id of its own are stored. Another call removes more if there
  // are many.
  [[nodiscard]] Status RemoveOldLedgers(const LaneName& newest) const;
  // True if nothing is left of the lane: a writer has taken it back, or has removed its ledger.
  [[nodiscard]] Result<bool> IsGone(const LaneName& name) const;
  // Removes all files beside the file: the ledgers, and what is known of the ids of writers.
  // kInvalid if a lane is not sealed.
  [[nodiscard]] Status RemoveAll() const;
  // kInvalid if a block of a lane has no ledger, so that nobody knows which records are whole.
  [[nodiscard]] Status RefuseLostLedgers() const;

  // The entries of a closed ledger. kIo if not all of its bytes can be read yet.
  [[nodiscard]] Result<LaneLedger> ReadLedger(const LaneName& name) const;
  // As ReadLedger, for a sealed lane. kIo, too, if the ledger does not know each sealed byte.
  [[nodiscard]] Result<LaneLedger> ReadSealedLedger(const LaneName& name,
                                                    std::uint64_t sealed_bytes) const;

 private:
  LaneFiles(FileSystem& files, std::string path, FileStatus file);

  [[nodiscard]] Result<std::vector<FileStatus>> Statuses(const std::string& prefix) const;
  [[nodiscard]] Result<std::vector<LaneName>> Names(const std::string& all,
                                                    std::optional<int> slot) const;
  [[nodiscard]] Result<std::optional<std::string>> Attribute(const LaneName& name,
                                                             const std::string& attribute) const;
  // True if the attribute has this value now.
  [[nodiscard]] Result<bool> SetOnce(const LaneName& name, const std::string& attribute,
                                     const std::string& value) const;
  [[nodiscard]] Result<bool> Exists(const std::string& path) const;
  // The oldest ledgers of the slot that no writer needs.
  [[nodiscard]] Result<std::vector<LaneName>> OldLedgers(const LaneName& newest) const;
  // The lanes that the files of writers with ids of their own tell.
  [[nodiscard]] Result<std::vector<LaneName>> ToldLanes() const;
  [[nodiscard]] Result<std::uint64_t> FileIdOf(const std::string& path) const;
  // True if the records of the lane are in the file.
  [[nodiscard]] Result<bool> IsSettled(const LaneName& name) const;
  [[nodiscard]] Result<std::vector<std::byte>> ReadBytes(const std::string& path,
                                                         std::uint64_t length) const;

  FileSystem& files_;
  std::string path_;
  // With a slash at its end.
  std::string directory_;
  FileStatus file_;
};

}  // namespace ebb::client
