// Writes one block of a file: allocates it, sends it through a pipeline, and goes on with the
// remaining servers after one has failed.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "client/namenode_connection.h"
#include "client/write_pipeline.h"
#include "common/error.h"
#include "hdfs.pb.h"

namespace ebb::client {

// The file that a block belongs to.
struct WrittenFile {
  std::string path;
  std::uint64_t file_id = 0;
  std::string client_name;
  std::uint64_t block_bytes = 0;
};

// Asks for a block behind `previous`, which is null for the first one, and waits while the namenode
// waits for replicas of the block before.
[[nodiscard]] Result<hadoop::hdfs::LocatedBlockProto> AddBlock(
    NamenodeConnection& namenode, const WrittenFile& file,
    const hadoop::hdfs::ExtendedBlockProto* previous,
    const std::vector<hadoop::hdfs::DatanodeInfoProto>& excluded);

// One thread at a time.
class BlockWriter {
 public:
  BlockWriter(NamenodeConnection& namenode, const WrittenFile& file,
              const format::Checksum& checksum, int most_retries);

  // Allocates a block behind `previous`, which is null for the first one, and opens its pipeline.
  [[nodiscard]] Status Allocate(const hadoop::hdfs::ExtendedBlockProto* previous);
  // Opens the last block of a file for appending.
  [[nodiscard]] Status Reopen(const hadoop::hdfs::LocatedBlockProto& last);

  // After an error the block can be written no more, and its file not either.
  [[nodiscard]] Status Send(PacketPointer packet);
  [[nodiscard]] Status AwaitAll();
  // Ends the block with `end`, its last and empty packet.
  [[nodiscard]] Status Finish(PacketPointer end);

  // With the bytes that were sent, and its current stamp.
  [[nodiscard]] hadoop::hdfs::ExtendedBlockProto block() const;

 private:
  void Abandon();
  // Replaces a broken pipeline by one of the other servers, and sends again what was not
  // acknowledged. `error` is what broke the pipeline.
  [[nodiscard]] Status Recover(Error error);
  // Opens a pipeline of the present servers with a new stamp, dropping servers that fail.
  [[nodiscard]] Status OpenAgain(hadoop::hdfs::OpWriteBlockProto::BlockConstructionStage stage,
                                 Error error);
  [[nodiscard]] Status PublishServers(std::uint64_t new_stamp);

  NamenodeConnection& namenode_;
  const WrittenFile& file_;
  const int most_retries_;
  PipelineTarget target_;
  std::vector<hadoop::hdfs::DatanodeInfoProto> excluded_;
  std::unique_ptr<WritePipeline> pipeline_;
};

}  // namespace ebb::client
