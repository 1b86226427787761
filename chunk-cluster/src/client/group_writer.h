// Writes one block group of a file that this client encodes: one server for each block, and goes on
// without the servers that fail, as long as the group can be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/block_writer.h"
#include "client/group_code.h"
#include "client/namenode_connection.h"
#include "client/write_pipeline.h"
#include "common/error.h"
#include "hdfs.pb.h"

namespace ebb::client {

// One thread at a time. A unit is a block of the group: data, then parities. A block begins at its
// server with its first packet, so that a short group has no empty blocks.
class GroupWriter {
 public:
  // `window` is the most packets of a block without acknowledgement. Servers that fail are added
  // to `excluded`. All that is passed by reference outlives the writer.
  GroupWriter(NamenodeConnection& namenode, const WrittenFile& file, const GroupCode& code,
              const format::Checksum& checksum, std::size_t window,
              std::vector<hadoop::hdfs::DatanodeInfoProto>& excluded);

  // Allocates a group behind `previous`, which is null for the first one. If the namenode finds too
  // few servers without those that have failed, it is asked once more for any servers: some may be
  // back.
  [[nodiscard]] Status Allocate(const hadoop::hdfs::ExtendedBlockProto* previous);

  // Sends a packet to the server of a unit, or drops the packet if the server has failed.
  void Send(std::size_t unit, const std::shared_ptr<WritePacket>& packet);
  // Whether any server takes parities.
  [[nodiscard]] bool WritesParities() const;
  // To be called when each unit has what it gets of a row; `group_bytes` is the data so far. If
  // servers have failed, the others get a new generation stamp, so that blocks that miss bytes are
  // told from those that do not. kNetwork names the servers if too many have failed: then the group
  // can be written no more, and its file not either.
  [[nodiscard]] Status Settle(std::uint64_t group_bytes);
  // Ends all blocks. Settle() has been called after the last packet.
  [[nodiscard]] Status Finish();

  // With the bytes of data of the last Settle(), and its current stamp.
  [[nodiscard]] const hadoop::hdfs::ExtendedBlockProto& block() const { return group_; }

 private:
  struct Unit {
    // Its one server, the block, and how far the block is.
    PipelineTarget target;
    std::unique_ptr<WritePipeline> pipeline;
    std::int64_t sequence = 0;
    std::optional<Error> failure;
    // The namenode knows that the server has failed.
    bool settled = false;
  };

  [[nodiscard]] Result<hadoop::hdfs::LocatedBlockProto> AskForGroup(
      const hadoop::hdfs::ExtendedBlockProto* previous);
  void TakeTargets(const hadoop::hdfs::LocatedBlockProto& group);
  [[nodiscard]] bool Open(Unit& unit);
  void FailUnit(Unit& unit, Error error);
  void AwaitAll();
  [[nodiscard]] Status CheckEnough() const;
  [[nodiscard]] bool HasUnsettled() const;
  // Opens all blocks again with a new stamp. If one of them fails, the stamp is of no use.
  [[nodiscard]] Status Renew(std::uint64_t group_bytes);
  [[nodiscard]] Status Publish(std::uint64_t new_stamp, std::uint64_t group_bytes);

  NamenodeConnection& namenode_;
  const WrittenFile& file_;
  const GroupCode& code_;
  const format::Checksum checksum_;
  const std::size_t window_;
  std::vector<hadoop::hdfs::DatanodeInfoProto>& excluded_;
  hadoop::hdfs::ExtendedBlockProto group_;
  std::vector<Unit> units_;
};

}  // namespace ebb::client
