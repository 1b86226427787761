#include "disk/replica_in_pipeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/bytes.h"

namespace ebb {

namespace {

std::unexpected<Error> BadChunk(std::uint64_t block_id, std::uint64_t offset) {
  return Fail(ErrorCode::kCorrupt,
              fmt::format("the bytes of block {} at {} contradict their checksum; they were "
                          "damaged on the network",
                          block_id, offset));
}

}  // namespace

Status ReplicaInPipeline::Create(const format::Checksum& with, std::uint64_t expected_bytes) {
  checksum = with;
  EBB_ASSIGN(data, disk.files().Create(DataPath()));
  if (expected_bytes > 0) {
    EBB_TRY(data->Reserve(expected_bytes));
    reserved = expected_bytes;
  }
  EBB_ASSIGN(meta, disk.files().Create(MetaPath()));
  std::array<std::byte, format::kMetaHeaderBytes> header;
  format::EncodeMetaHeader(checksum, header);
  return meta->Write(0, header);
}

Status ReplicaInPipeline::OpenExisting(std::uint64_t length) {
  EBB_ASSIGN(data, disk.files().OpenForWriting(DataPath()));
  EBB_ASSIGN(meta, disk.files().OpenForWriting(MetaPath()));
  std::array<std::byte, format::kMetaHeaderBytes> header;
  EBB_ASSIGN(const auto size, meta->Read(0, header));
  EBB_ASSIGN(checksum, format::DecodeMetaHeader(std::span(header).first(size)));
  on_disk = length;
  acknowledged = length;
  if (length % checksum.bytes_per_chunk != 0 && checksum.size() != 0) {
    EBB_ASSIGN(const auto got, meta->Read(checksum.MetaOffset(length), last_sum));
    if (got != last_sum.size()) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{} ends early", MetaPath()));
    }
  }
  return {};
}

Status ReplicaInPipeline::Write(std::uint64_t offset, std::span<const std::byte> bytes,
                                std::span<const std::byte> sums, bool verify) {
  const std::uint64_t end = offset + bytes.size();
  if (offset > on_disk) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("block {} has {} bytes and the next packet begins at {}; packets must "
                            "follow each other",
                            block_id, on_disk.load(), offset));
  }
  if (sums.size() != checksum.BytesFor(bytes.size())) {
    return Fail(ErrorCode::kInvalid, fmt::format("{} bytes of checksums came with {} bytes of data",
                                                 sums.size(), bytes.size()));
  }
  if (offset % checksum.bytes_per_chunk != 0) return WriteInsideChunk(offset, bytes, sums, verify);
  if (verify) {
    if (const auto bad = checksum.FirstMismatch(bytes, sums)) {
      return BadChunk(block_id, offset + *bad * checksum.bytes_per_chunk);
    }
  }
  if (end <= on_disk) return {};
  EBB_TRY(data->Write(offset, bytes));
  if (!sums.empty()) {
    EBB_TRY(meta->Write(checksum.MetaOffset(offset), sums));
    std::memcpy(last_sum.data(), sums.data() + sums.size() - 4, 4);
  }
  on_disk = end;
  return {};
}

Status ReplicaInPipeline::WriteInsideChunk(std::uint64_t offset, std::span<const std::byte> bytes,
                                           std::span<const std::byte> sums, bool verify) {
  const std::uint64_t end = offset + bytes.size();
  const std::uint64_t chunk_end =
      (offset / checksum.bytes_per_chunk + 1) * checksum.bytes_per_chunk;
  if (end > chunk_end) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("a packet of block {} from {} to {} begins inside a chunk and ends in "
                            "another; it must end at {} or before",
                            block_id, offset, end, chunk_end));
  }
  if (verify && checksum.FirstMismatch(bytes, sums)) return BadChunk(block_id, offset);
  if (end <= on_disk) return {};
  if (offset != on_disk) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("a packet of block {} begins at {}, inside a chunk, and the block has {} "
                    "bytes; such a packet must begin at the end of the block",
                    block_id, offset, on_disk.load()));
  }
  EBB_TRY(data->Write(offset, bytes));
  if (checksum.size() != 0) {
    std::array<std::byte, 4> sum;
    StoreBig32(sum.data(), checksum.Compute(LoadBig32(last_sum.data()), bytes));
    EBB_TRY(meta->Write(checksum.MetaOffset(offset), sum));
    last_sum = sum;
  }
  on_disk = end;
  return {};
}

Status ReplicaInPipeline::Truncate(std::uint64_t length) {
  if (unfinished_cut && *unfinished_cut < length) EBB_TRY(Cut(*unfinished_cut));
  if (length > on_disk) {
    return Fail(ErrorCode::kInvalid, fmt::format("block {} has {} bytes and cannot be cut to {}",
                                                 block_id, on_disk.load(), length));
  }
  return Cut(length);
}

// The first step may be refused. The others belong together.
Status ReplicaInPipeline::Cut(std::uint64_t length) {
  const std::uint64_t chunk_start = length / checksum.bytes_per_chunk * checksum.bytes_per_chunk;
  const bool within_chunk = length != chunk_start && checksum.size() != 0;
  const bool shorter = length < on_disk;
  auto& sums = meta->Unrefused();
  if (shorter) {
    // The checksum of all bytes on the disk is in memory, that of fewer bytes is computed.
    auto sum = last_sum;
    if (within_chunk) {
      EBB_ASSIGN(sum, SumOf(chunk_start, length));
    }
    unfinished_cut = length;
    last_sum = sum;
  }
  if (within_chunk) {
    if (shorter) {
      // After a crash between these steps, disk_scan.cc finds at least `length` valid bytes: those
      // that the old checksum of the chunk covers, or those that the new one does.
      EBB_TRY(sums.Truncate(format::kMetaHeaderBytes + checksum.BytesFor(length)));
      EBB_TRY(sums.Sync());
    }
    EBB_TRY(StoreLastSum(chunk_start));
    if (shorter) EBB_TRY(sums.Sync());
  }
  // Also if the replica has this length already: a write that failed midway may have left bytes
  // behind the end of either file.
  EBB_TRY(data->Unrefused().Truncate(length));
  EBB_TRY(sums.Truncate(format::kMetaHeaderBytes + checksum.BytesFor(length)));
  on_disk = length;
  acknowledged = std::min<std::uint64_t>(acknowledged, length);
  unfinished_cut.reset();
  return {};
}

Status ReplicaInPipeline::VerifyChunkOf(std::uint64_t length) {
  const std::uint64_t chunk_start = length / checksum.bytes_per_chunk * checksum.bytes_per_chunk;
  if (length == chunk_start || length == on_disk || checksum.size() == 0) return {};
  std::vector<std::byte> chunk(
      std::min<std::uint64_t>(checksum.bytes_per_chunk, on_disk - chunk_start));
  std::array<std::byte, 4> stored = {};
  EBB_ASSIGN(const auto got, data->Read(chunk_start, chunk));
  EBB_ASSIGN(const auto got_sum, meta->Read(checksum.MetaOffset(chunk_start), stored));
  if (got != chunk.size() || got_sum != stored.size()) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{} or its checksums end early", DataPath()));
  }
  if (LoadBig32(stored.data()) == checksum.Compute(0, chunk)) return {};
  return Fail(ErrorCode::kCorrupt,
              fmt::format("the bytes of block {} at {} contradict their checksum, so the block is "
                          "not cut to {} bytes there",
                          block_id, chunk_start, length));
}

Result<std::array<std::byte, 4>> ReplicaInPipeline::SumOf(std::uint64_t chunk_start,
                                                          std::uint64_t end) {
  std::vector<std::byte> chunk(end - chunk_start);
  EBB_ASSIGN(const auto got, data->Read(chunk_start, chunk));
  if (got != chunk.size()) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{} ends early", DataPath()));
  }
  std::array<std::byte, 4> sum;
  StoreBig32(sum.data(), checksum.Compute(0, chunk));
  return sum;
}

Status ReplicaInPipeline::StoreLastSum(std::uint64_t chunk_start) {
  const std::uint64_t at = checksum.MetaOffset(chunk_start);
  auto& sums = meta->Unrefused();
  // A full disk may refuse even to write the same bytes again.
  std::array<std::byte, 4> stored = {};
  EBB_ASSIGN(const auto got, sums.Read(at, stored));
  if (got == stored.size() && stored == last_sum) return {};
  return sums.Write(at, last_sum);
}

Status ReplicaInPipeline::ReleaseRoom() {
  if (on_disk >= reserved) return {};
  reserved = 0;
  return data->Truncate(on_disk);
}

Status ReplicaInPipeline::Sync() {
  EBB_TRY(data->Sync());
  return meta->Sync();
}

Status ReplicaInPipeline::SetGenerationStamp(std::uint64_t stamp) {
  if (stamp == generation_stamp) return {};
  EBB_TRY(disk.files().Rename(MetaPath(), disk.MetaPath(folder, block_id, stamp)));
  generation_stamp = stamp;
  return {};
}

Status ReplicaInPipeline::MoveTo(std::string_view to) {
  const auto move_meta = [&] {
    return disk.files().Rename(MetaPath(), disk.MetaPath(to, block_id, generation_stamp));
  };
  if (to == format::kFinalized) EBB_TRY(move_meta());
  EBB_TRY(disk.files().Rename(DataPath(), disk.BlockPath(to, block_id)));
  if (to != format::kFinalized) EBB_TRY(move_meta());
  folder = to;
  return {};
}

void ReplicaInPipeline::RemoveFiles() {
  data.reset();
  meta.reset();
  // A file that cannot be removed now is removed at the next start.
  (void)disk.files().Remove(DataPath());
  (void)disk.files().Remove(MetaPath());
}

Result<std::unique_lock<std::timed_mutex>> ReplicaInPipeline::Lock() {
  EBB_TRY(disk.CheckAnswers());
  std::unique_lock lock(mutex, disk.patience());
  if (lock) return lock;
  return Fail(ErrorCode::kBusy,
              fmt::format("block {} is being written to disk {}, which does not keep up; use "
                          "another replica, or try again",
                          block_id, disk.directory()));
}

void ReplicaInPipeline::TakeOver() {
  ++ticket;
  if (wake_writer) wake_writer();
  wake_writer = nullptr;
}

}  // namespace ebb
