#include "disk/verified_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ebb {

Status ReadVerified(const ReplicaReader& replica, std::uint64_t offset, std::span<std::byte> out,
                    std::vector<std::byte>& sums) {
  const auto& checksum = replica.checksum();
  EBB_TRY(replica.ReadData(offset, out));
  sums.resize(checksum.BytesFor(out.size()));
  EBB_TRY(replica.ReadChecksums(offset, offset + out.size(), sums));
  const auto bad = checksum.FirstMismatch(out, sums);
  if (!bad) return {};
  return Fail(ErrorCode::kCorrupt,
              fmt::format("block {} on {} contradicts its checksum at {}", replica.info().block_id,
                          replica.info().storage_uuid, offset + *bad * checksum.bytes_per_chunk));
}

void ReportBad(BlockStore& store, const ReplicaReader& replica, Error& error) {
  bool known = true;
  if (error.code == ErrorCode::kCorrupt) {
    known = store.ReportCorrupt(replica.info(), error.message);
  } else if (error.code == ErrorCode::kIo) {
    known = store.ReportUnreadable(replica.info(), error.message);
  }
  if (!known) error.code = ErrorCode::kCannotTell;
}

namespace {

class VerifiedReader final : public BlockSource {
 public:
  VerifiedReader(BlockStore& store, std::unique_ptr<ReplicaReader> replica, std::uint64_t offset)
      : store_(store), replica_(std::move(replica)), position_(offset) {}

  Status Read(std::span<std::byte> out) override {
    auto status = ReadPieces(out);
    if (!status) ReportBad(store_, *replica_, status.error());
    return status;
  }

  bool local() const override { return true; }

 private:
  Status ReadPieces(std::span<std::byte> out) {
    const std::uint64_t chunk = replica_->checksum().bytes_per_chunk;
    while (!out.empty()) {
      const std::uint64_t rest = replica_->length() - position_;
      if (out.size() > rest) {
        return Fail(ErrorCode::kInvalid,
                    fmt::format("{} bytes at {} of block {} were asked for and {} are left",
                                out.size(), position_, replica_->info().block_id, rest));
      }
      const std::uint64_t inside = position_ % chunk;
      // Whole chunks, and a short last chunk, are read directly into the memory of the caller.
      const std::uint64_t direct = out.size() == rest ? rest : out.size() / chunk * chunk;
      if (inside == 0 && direct > 0) {
        const std::size_t n = std::min<std::uint64_t>(direct, kVerifyChunks * chunk);
        EBB_TRY(ReadVerified(*replica_, position_, out.first(n), sums_));
        position_ += n;
        out = out.subspan(n);
        continue;
      }
      const std::uint64_t start = position_ - inside;
      const std::size_t size = std::min(chunk, replica_->length() - start);
      if (kept_.size() != size || kept_start_ != start) {
        kept_.resize(size);
        kept_start_ = start;
        if (auto read = ReadVerified(*replica_, start, kept_, sums_); !read) {
          kept_.clear();
          return read;
        }
      }
      const std::size_t n = std::min<std::uint64_t>(out.size(), size - inside);
      std::memcpy(out.data(), kept_.data() + inside, n);
      position_ += n;
      out = out.subspan(n);
    }
    return {};
  }

  // Chunks that are read in one step. They are still in the cache when they are verified.
  static constexpr std::uint64_t kVerifyChunks = 256;

  BlockStore& store_;
  const std::unique_ptr<ReplicaReader> replica_;
  std::uint64_t position_;
  std::vector<std::byte> sums_;
  // One verified chunk, for reads that begin or end inside it.
  std::vector<std::byte> kept_;
  std::uint64_t kept_start_ = 0;
};

}  // namespace

Result<std::unique_ptr<BlockSource>> OpenVerifiedReader(BlockStore& store, std::uint64_t block_id,
                                                        std::uint64_t generation_stamp,
                                                        std::uint64_t length,
                                                        std::uint64_t offset) {
  EBB_ASSIGN(auto replica, store.OpenReader(block_id, generation_stamp));
  if (replica->length() != length || replica->info().state != ReplicaState::kFinalized) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("block {} on {} has {} bytes and should have {}", block_id,
                            replica->info().storage_uuid, replica->length(), length));
  }
  if (offset > length) {
    return Fail(ErrorCode::kInvalid, fmt::format("offset {} lies beyond the {} bytes of block {}",
                                                 offset, length, block_id));
  }
  return std::make_unique<VerifiedReader>(store, std::move(replica), offset);
}

}  // namespace ebb
