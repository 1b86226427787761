// Where the blocks of an open file are: a cache of the namenode's answers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "client/group_code.h"
#include "client/namenode_connection.h"
#include "common/error.h"
#include "hdfs.pb.h"

namespace ebb::client {

// One thread at a time. An answer is used until Forget(), because blocks move seldom, and a reader
// that meets a wrong location forgets the answer. The namenode is asked by the name of the file;
// the ids of blocks tell whether the name still stands for the file that was opened.
class BlockLocations {
 public:
  BlockLocations(NamenodeConnection& namenode, std::string path, std::uint64_t prefetch_bytes)
      : namenode_(namenode), path_(std::move(path)), prefetch_bytes_(prefetch_bytes) {}

  // Asks for the length and the first blocks. kNotFound if there is no such file; kUnsupported if
  // this client cannot read it.
  [[nodiscard]] Status Open();
  // The block that holds this byte of the file, which is below length(). kNotFound if another file
  // has the name now, or if the file was cut.
  [[nodiscard]] Result<const hadoop::hdfs::LocatedBlockProto*> At(std::uint64_t offset);
  // Block ids stay known.
  void Forget() { blocks_.clear(); }

  // Of the file. A file that is being written has what its last block showed at Open().
  [[nodiscard]] std::uint64_t length() const { return length_; }
  // The code of the block groups, if clients encode the file. Nothing of a group that is being
  // written can be read.
  [[nodiscard]] const std::shared_ptr<const GroupCode>& code() const { return code_; }

 private:
  [[nodiscard]] Result<hadoop::hdfs::LocatedBlocksProto> Ask(std::uint64_t offset,
                                                             std::uint64_t length);
  [[nodiscard]] Status AddUnfinished(hadoop::hdfs::LocatedBlockProto last);
  // Whether the answer has a block that was known before; an error if another block is in its
  // place.
  [[nodiscard]] Result<bool> Continues(const hadoop::hdfs::LocatedBlocksProto& answer) const;
  // An error unless the answer is of the file that was opened.
  [[nodiscard]] Status CheckSameFile(const hadoop::hdfs::LocatedBlocksProto& answer);
  [[nodiscard]] std::unexpected<Error> Replaced() const;
  void Remember(const hadoop::hdfs::LocatedBlockProto& block);
  void Keep(const hadoop::hdfs::LocatedBlocksProto& answer);

  NamenodeConnection& namenode_;
  const std::string path_;
  const std::uint64_t prefetch_bytes_;
  std::uint64_t length_ = 0;
  std::shared_ptr<const GroupCode> code_;
  // By the offset of their first byte.
  std::map<std::uint64_t, hadoop::hdfs::LocatedBlockProto> blocks_;
  // The ids of all blocks with bytes that the namenode has ever named, by offset.
  std::map<std::uint64_t, std::uint64_t> ids_;
  // The last block of a file that is being written, with its length at Open().
  hadoop::hdfs::LocatedBlockProto unfinished_;
};

}  // namespace ebb::client
