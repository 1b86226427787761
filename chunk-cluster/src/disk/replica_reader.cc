#include "disk/replica_reader.h"

#include <fmt/core.h>

#include <algorithm>

namespace ebb {

Status ReplicaReader::ReadChecksums(std::uint64_t offset, std::uint64_t end,
                                    std::span<std::byte> out) const {
  if (checksum_.size() == 0 || end <= offset) return {};
  const auto wanted = out.first(checksum_.BytesFor(end - offset));
  EBB_ASSIGN(const auto got, meta_->Read(checksum_.MetaOffset(offset), wanted));
  if (got != wanted.size()) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("the checksum file of block {} ends early: {} of {} bytes at {}",
                            info_.block_id, got, wanted.size(), checksum_.MetaOffset(offset)));
  }
  if (last_sum_ && end == length_) {
    std::copy(last_sum_->begin(), last_sum_->end(), wanted.end() - 4);
  }
  return {};
}

Status ReplicaReader::KeepLastSum() {
  if (checksum_.size() == 0 || length_ % checksum_.bytes_per_chunk == 0) return {};
  std::array<std::byte, 4> sum;
  EBB_ASSIGN(const auto got, meta_->Read(checksum_.MetaOffset(length_), sum));
  // A checksum file that ends early is found, and called corrupt, by whoever reads the last chunk.
  if (got == sum.size()) last_sum_ = sum;
  return {};
}

Status ReplicaReader::Sync() const {
  EBB_TRY(data_->Sync());
  return meta_->Sync();
}

Status ReplicaReader::ReadData(std::uint64_t offset, std::span<std::byte> out) const {
  EBB_ASSIGN(const auto got, data_->Read(offset, out));
  if (got == out.size()) return {};
  return Fail(ErrorCode::kCorrupt,
              fmt::format("the file of block {} ends early: {} of {} bytes at {}", info_.block_id,
                          got, out.size(), offset));
}

}  // namespace ebb
