#include "client/striped_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ebb::client {

using namespace hadoop::hdfs;
using ebb::Status;

Result<std::unique_ptr<StripedWriter>> StripedWriter::Start(NamenodeConnection& namenode,
                                                            const WrittenFile& file,
                                                            const ErasurePolicy& policy,
                                                            const format::Checksum& checksum,
                                                            std::size_t packet_bytes) {
  if (policy.cell_bytes % checksum.bytes_per_chunk != 0) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("dfs.bytes-per-checksum is {}, which does not divide the cells of {} bytes "
                    "of {} (policy {}); choose a divisor",
                    checksum.bytes_per_chunk, policy.cell_bytes, file.path, policy.name));
  }
  return std::unique_ptr<StripedWriter>(
      new StripedWriter(namenode, file, policy, checksum, packet_bytes));
}

StripedWriter::StripedWriter(NamenodeConnection& namenode, const WrittenFile& file,
                             const ErasurePolicy& policy, const format::Checksum& checksum,
                             std::size_t packet_bytes)
    : namenode_(namenode),
      file_(file),
      code_(policy),
      checksum_(checksum),
      packet_bytes_(std::min<std::uint64_t>(packet_bytes, policy.cell_bytes)),
      most_group_bytes_(std::max<std::uint64_t>(file.block_bytes / policy.cell_bytes, 1) *
                        policy.row_bytes()),
      row_(policy.data_units) {}

std::uint64_t StripedWriter::RowBegin() const {
  return (group_bytes_ - row_bytes_) / code_.data_units();
}

Status StripedWriter::EnsureGroup() {
  if (group_) return {};
  const std::size_t window = (code_.cell_bytes() + packet_bytes_ - 1) / packet_bytes_;
  group_ = std::make_unique<GroupWriter>(namenode_, file_, code_, checksum_, window, excluded_);
  return group_->Allocate(previous_ ? &*previous_ : nullptr);
}

Status StripedWriter::Write(std::span<const std::byte> data) {
  while (!data.empty()) {
    EBB_TRY(EnsureGroup());
    const std::size_t unit = row_bytes_ / code_.cell_bytes();
    const std::uint64_t in_cell = row_bytes_ % code_.cell_bytes();
    Packets& packets = row_[unit];
    if (packets.empty() || packets.back()->full()) {
      const auto room = std::min<std::uint64_t>(packet_bytes_, code_.cell_bytes() - in_cell);
      packets.push_back(std::make_shared<WritePacket>(RowBegin() + in_cell, room));
    }
    const std::size_t n = packets.back()->Append(data);
    data = data.subspan(n);
    group_bytes_ += n;
    row_bytes_ += n;
    if (packets.back()->full()) group_->Send(unit, packets.back());
    if (row_bytes_ == code_.policy().row_bytes()) EBB_TRY(EndRow());
  }
  return {};
}

Status StripedWriter::EndRow() {
  SendParities();
  for (auto& packets : row_) packets.clear();
  row_bytes_ = 0;
  EBB_TRY(group_->Settle(group_bytes_));
  return group_bytes_ == most_group_bytes_ ? EndGroup() : Status();
}

void StripedWriter::SendParities() {
  if (!group_->WritesParities()) return;
  // The first cell of a row is the longest, and so are its packets.
  for (std::size_t position = 0; position < row_[0].size(); ++position) {
    const WritePacket& longest = *row_[0][position];
    Packets parities;
    for (std::size_t i = code_.data_units(); i < code_.units(); ++i) {
      parities.push_back(std::make_shared<WritePacket>(longest.begin(), longest.data().size()));
    }
    EncodePackets(position, parities);
    for (std::size_t i = 0; i < parities.size(); ++i) {
      group_->Send(code_.data_units() + i, parities[i]);
    }
  }
}

void StripedWriter::EncodePackets(std::size_t position,
                                  std::span<const std::shared_ptr<WritePacket>> parities) {
  const std::size_t length = row_[0][position]->data().size();
  std::vector<const std::byte*> sources;
  // Cells that end before the first one are followed by zeros.
  std::vector<std::vector<std::byte>> padded;
  for (const Packets& packets : row_) {
    const auto data =
        position < packets.size() ? packets[position]->data() : std::span<const std::byte>();
    if (data.size() == length) {
      sources.push_back(data.data());
      continue;
    }
    auto& zeros = padded.emplace_back(length);
    if (!data.empty()) std::memcpy(zeros.data(), data.data(), data.size());
    sources.push_back(zeros.data());
  }
  std::vector<std::byte*> targets;
  for (const auto& packet : parities) targets.push_back(packet->Extend(length));
  code_.encoder().Apply(sources, targets, length);
}

Status StripedWriter::EndGroup() {
  EBB_TRY(group_->Finish());
  previous_ = group_->block();
  group_ = nullptr;
  finished_bytes_ += std::exchange(group_bytes_, 0);
  return {};
}

Status StripedWriter::Finish() {
  if (row_bytes_ > 0) {
    const std::size_t unit = (row_bytes_ - 1) / code_.cell_bytes();
    const auto& last = row_[unit].back();
    if (!last->full()) group_->Send(unit, last);
    EBB_TRY(EndRow());
  }
  return group_ ? EndGroup() : Status();
}

}  // namespace ebb::client
