// Writes one block of a file: allocates it, sends it through a pipeline, and goes on after a server
// has failed, with the remaining servers or with another one in its place.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "client/namenode_connection.h"
#include "client/server_replacement.h"
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
  // How many replicas its blocks should have.
  int replication = 0;
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
              const format::Checksum& checksum, int most_retries,
              const ReplacementPolicy& replacement);

  // Allocates a block behind `previous`, which is null for the first one, and opens its pipeline.
  [[nodiscard]] Status Allocate(const hadoop::hdfs::ExtendedBlockProto* previous);
  // Opens the last block of a file for appending.
  [[nodiscard]] Status Reopen(const hadoop::hdfs::LocatedBlockProto& last);

  // After an error the block can be written no more, and its file not either.
  [[nodiscard]] Status Send(PacketPointer packet);
  // Waits until all servers have everything.
  [[nodiscard]] Status AwaitAll();
  // The same, and readers may know the bytes from now on.
  [[nodiscard]] Status Flush();
  // Ends the block with `end`, its last and empty packet.
  [[nodiscard]] Status Finish(PacketPointer end);

  // With the bytes that were sent, and its current stamp.
  [[nodiscard]] hadoop::hdfs::ExtendedBlockProto block() const;

 private:
  void Abandon();
  // Takes a server out that has failed.
  void Lose(int server);
  // Replaces a broken pipeline by one of the other servers, and sends again what was not
  // acknowledged. `error` is what broke the pipeline.
  [[nodiscard]] Status Recover(Error error);
  // Opens a pipeline of the present servers with a new stamp, dropping servers that fail, and
  // adding others as the policy wants, unless the block is complete.
  [[nodiscard]] Status OpenAgain(hadoop::hdfs::OpWriteBlockProto::BlockConstructionStage stage,
                                 Error error);
  [[nodiscard]] Status Replenish();
  [[nodiscard]] Status AddServer();
  // The servers of the block, and another one, which is none of `excluded`.
  [[nodiscard]] Result<hadoop::hdfs::LocatedBlockProto> OneMoreServer(
      const std::vector<hadoop::hdfs::DatanodeInfoProto>& excluded);
  [[nodiscard]] Status PublishServers(std::uint64_t new_stamp);

  NamenodeConnection& namenode_;
  const WrittenFile& file_;
  const int most_retries_;
  const ReplacementPolicy replacement_;
  PipelineTarget target_;
  // Those of the block's pipelines that have failed. A server that did not get a copy is none of
  // them: the source may have been at fault.
  std::vector<hadoop::hdfs::DatanodeInfoProto> excluded_;
  // Readers may know bytes of the block.
  bool visible_ = false;
  // Servers that were added since so many bytes were acknowledged.
  int additions_ = 0;
  std::uint64_t additions_from_ = 0;
  std::unique_ptr<WritePipeline> pipeline_;
};

}  // namespace ebb::client
