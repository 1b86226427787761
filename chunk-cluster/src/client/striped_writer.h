// Writes a file that its client encodes: cuts the bytes into cells, and computes the parities of
// each row of cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client/group_writer.h"

namespace ebb::client {

// One thread at a time. Memory: the data cells of a row until its parities are sent, and for each
// block at most a cell that its server has not acknowledged: together at most as many cells as a
// group has blocks, twice. After an error the file can be written no more.
class StripedWriter {
 public:
  // kInvalid if the checksums do not divide cells. `packet_bytes` is the data of a packet at most.
  // All that is passed by reference outlives the writer.
  [[nodiscard]] static Result<std::unique_ptr<StripedWriter>> Start(
      NamenodeConnection& namenode, const WrittenFile& file, const ErasurePolicy& policy,
      const format::Checksum& checksum, std::size_t packet_bytes);

  [[nodiscard]] Status Write(std::span<const std::byte> data);
  // Sends the rest and ends the last group.
  [[nodiscard]] Status Finish();

  // Of the file so far.
  [[nodiscard]] std::uint64_t length() const { return finished_bytes_ + group_bytes_; }
  // The last group that has ended.
  [[nodiscard]] const std::optional<hadoop::hdfs::ExtendedBlockProto>& previous() const {
    return previous_;
  }

 private:
  using Packets = std::vector<std::shared_ptr<WritePacket>>;

  StripedWriter(NamenodeConnection& namenode, const WrittenFile& file, const ErasurePolicy& policy,
                const format::Checksum& checksum, std::size_t packet_bytes);
  [[nodiscard]] Status EnsureGroup();
  // Where the present row begins in each block.
  [[nodiscard]] std::uint64_t RowBegin() const;
  [[nodiscard]] Status EndRow();
  void SendParities();
  void EncodePackets(std::size_t position, std::span<const std::shared_ptr<WritePacket>> parities);
  [[nodiscard]] Status EndGroup();

  NamenodeConnection& namenode_;
  const WrittenFile& file_;
  const GroupCode code_;
  const format::Checksum checksum_;
  const std::size_t packet_bytes_;
  // The data of a full group.
  const std::uint64_t most_group_bytes_;
  std::vector<hadoop::hdfs::DatanodeInfoProto> excluded_;
  std::unique_ptr<GroupWriter> group_;
  std::optional<hadoop::hdfs::ExtendedBlockProto> previous_;
  std::uint64_t finished_bytes_ = 0;
  // Bytes of data in the present group, and in its present row.
  std::uint64_t group_bytes_ = 0;
  std::uint64_t row_bytes_ = 0;
  // The packets of the row, by data unit. A packet at a position covers the same bytes of each
  // cell.
  std::vector<Packets> row_;
};

}  // namespace ebb::client
