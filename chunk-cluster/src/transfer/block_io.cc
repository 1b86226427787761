#include "transfer/block_io.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "transfer/client.h"

namespace ebb::transfer {

namespace {

class LocalSource final : public BlockSource {
 public:
  LocalSource(BlockStore& store, std::unique_ptr<ReplicaReader> replica, std::uint64_t offset)
      : store_(store), replica_(std::move(replica)), position_(offset) {}

  Status Read(std::span<std::byte> out) override {
    auto status = ReadVerified(out);
    if (!status && status.error().code == ErrorCode::kCorrupt) {
      store_.ReportCorrupt(replica_->info().block_id, status.error().message);
    } else if (!status && status.error().code == ErrorCode::kIo) {
      store_.ReportUnreadable(replica_->info().block_id, status.error().message);
    }
    return status;
  }

  bool local() const override { return true; }

 private:
  Status ReadVerified(std::span<std::byte> out) {
    const std::uint64_t chunk = replica_->checksum().bytes_per_chunk;
    while (!out.empty()) {
      const std::uint64_t rest = replica_->length() - position_;
      if (out.size() > rest) {
        return Fail(ErrorCode::kInvalid,
                    fmt::format("{} bytes at {} of block {} were asked for and {} are left",
                                out.size(), position_, replica_->info().block_id, rest));
      }
      const std::uint64_t inside = position_ % chunk;
      // Whole chunks, and the last one whatever its length, go straight to the caller.
      const std::uint64_t direct = out.size() == rest ? rest : out.size() / chunk * chunk;
      if (inside == 0 && direct > 0) {
        const std::size_t n = std::min<std::uint64_t>(direct, kVerifyChunks * chunk);
        EBB_TRY(ReadChunks(position_, out.first(n)));
        position_ += n;
        out = out.subspan(n);
        continue;
      }
      const std::uint64_t start = position_ - inside;
      const std::size_t size = std::min(chunk, replica_->length() - start);
      if (kept_.size() != size || kept_start_ != start) {
        kept_.resize(size);
        kept_start_ = start;
        if (auto read = ReadChunks(start, kept_); !read) {
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

  Status ReadChunks(std::uint64_t offset, std::span<std::byte> out) {
    const auto& checksum = replica_->checksum();
    EBB_TRY(replica_->ReadData(offset, out));
    sums_.resize(checksum.BytesFor(out.size()));
    EBB_TRY(replica_->ReadChecksums(offset, offset + out.size(), sums_));
    if (const auto bad = checksum.FirstBad(out, sums_)) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("block {} on {} contradicts its checksum at {}",
                              replica_->info().block_id, replica_->info().storage_uuid,
                              offset + *bad * checksum.bytes_per_chunk));
    }
    return {};
  }

  // So many chunks are still in the cache when they are verified.
  static constexpr std::uint64_t kVerifyChunks = 256;

  BlockStore& store_;
  const std::unique_ptr<ReplicaReader> replica_;
  std::uint64_t position_;
  std::vector<std::byte> sums_;
  // One chunk, for reads that begin or end inside it.
  std::vector<std::byte> kept_;
  std::uint64_t kept_start_ = 0;
};

class LocalSink final : public BlockSink {
 public:
  explicit LocalSink(std::unique_ptr<ReplicaWriter> writer) : writer_(std::move(writer)) {}

  Status Write(std::span<const std::byte> data) override {
    const auto checksum = writer_->checksum();
    while (!data.empty()) {
      const std::uint64_t inside = position_ % checksum.bytes_per_chunk;
      std::size_t n = data.size();
      if (inside != 0) n = std::min<std::uint64_t>(n, checksum.bytes_per_chunk - inside);
      sums_.resize(checksum.BytesFor(n));
      checksum.ComputeAll(data.first(n), sums_.data());
      EBB_TRY(writer_->Write(position_, data.first(n), sums_, false));
      position_ += n;
      data = data.subspan(n);
    }
    return {};
  }

  Status Finish() override { return writer_->Finish(true); }
  bool local() const override { return true; }

 private:
  const std::unique_ptr<ReplicaWriter> writer_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> sums_;
};

Result<std::unique_ptr<BlockSource>> OpenAt(BlockStore& store, const ebbfs::SourceProto& source,
                                            const ebbfs::BlockLocationProto& location,
                                            std::uint64_t offset, std::uint64_t end) {
  const auto& block = source.block();
  if (location.server().datanodeuuid() == store.server_uuid()) {
    return OpenLocalSource(store, block.blockid(), block.generationstamp(), block.numbytes(),
                           offset);
  }
  return OpenRemoteSource(location.server(), block, offset, end);
}

// Goes through the locations, each until it fails.
class FailoverSource final : public BlockSource {
 public:
  FailoverSource(BlockStore& store, ebbfs::SourceProto source, std::uint64_t offset,
                 std::uint64_t end)
      : store_(store), source_(LocalFirst(std::move(source), store)), position_(offset),
        end_(end) {}

  Status OpenNext() {
    while (next_ < source_.locations_size()) {
      auto opened = OpenAt(store_, source_, source_.locations(next_++), position_, end_);
      if (opened) {
        current_ = std::move(opened).value();
        return {};
      }
      Note(opened.error());
    }
    return Fail(code_, fmt::format("block {} cannot be read at any of its {} locations: {}",
                                   source_.block().blockid(), source_.locations_size(),
                                   failures_.empty() ? "none was given" : failures_));
  }

  Status Read(std::span<std::byte> out) override {
    for (;;) {
      // A read that failed half-way is done anew as a whole: the position moves with success only.
      auto status = current_->Read(out);
      if (status) {
        position_ += out.size();
        return status;
      }
      Note(status.error());
      EBB_TRY(OpenNext());
    }
  }

  bool local() const override { return current_->local(); }

 private:
  // What is on a disk of this process need not come over a link.
  static ebbfs::SourceProto LocalFirst(ebbfs::SourceProto source, const BlockStore& store) {
    auto& locations = *source.mutable_locations();
    std::stable_partition(locations.begin(), locations.end(), [&](const auto& location) {
      return location.server().datanodeuuid() == store.server_uuid();
    });
    return source;
  }

  void Note(const Error& error) {
    if (!failures_.empty()) failures_ += "; ";
    failures_ += error.message;
    if (code_ != ErrorCode::kCorrupt) code_ = error.code;
  }

  BlockStore& store_;
  const ebbfs::SourceProto source_;
  std::uint64_t position_;
  const std::uint64_t end_;
  int next_ = 0;
  std::unique_ptr<BlockSource> current_;
  std::string failures_;
  ErrorCode code_ = ErrorCode::kNotFound;
};

}  // namespace

Result<std::unique_ptr<BlockSource>> OpenLocalSource(BlockStore& store, std::uint64_t block_id,
                                                     std::uint64_t generation_stamp,
                                                     std::uint64_t length, std::uint64_t offset) {
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
  return std::make_unique<LocalSource>(store, std::move(replica), offset);
}

Result<std::unique_ptr<BlockSource>> ClusterBlockIo::OpenSource(const ebbfs::SourceProto& source,
                                                                std::uint64_t offset,
                                                                std::uint64_t end) {
  auto opened = std::make_unique<FailoverSource>(store_, source, offset, end);
  EBB_TRY(opened->OpenNext());
  return opened;
}

Result<std::unique_ptr<BlockSink>> ClusterBlockIo::OpenSink(const ebbfs::TargetProto& target) {
  const auto& block = target.block();
  if (target.location().server().datanodeuuid() != store_.server_uuid()) {
    return OpenRemoteSink(target.location().server(), block, target.location().storageuuid());
  }
  EBB_ASSIGN(auto writer, store_.Create({.block_id = block.blockid(),
                                         .generation_stamp = block.generationstamp(),
                                         .checksum = {},
                                         .state = ReplicaState::kTemporary,
                                         .storage_uuid = target.location().storageuuid(),
                                         .exact_storage = true,
                                         .expected_bytes = block.numbytes()}));
  return std::make_unique<LocalSink>(std::move(writer));
}

}  // namespace ebb::transfer
