#include "transfer/cluster_block_io.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "disk/checksumming_writer.h"
#include "disk/verified_reader.h"
#include "transfer/remote_sink.h"
#include "transfer/remote_source.h"

namespace ebb::transfer {

namespace {

Result<std::unique_ptr<BlockSource>> OpenAt(BlockStore& store, const ebbfs::SourceProto& source,
                                            const ebbfs::BlockLocationProto& location,
                                            std::uint64_t offset, std::uint64_t end) {
  const auto& block = source.block();
  if (location.server().datanodeuuid() == store.server_uuid()) {
    return OpenVerifiedReader(store, block.blockid(), block.generationstamp(), block.numbytes(),
                              offset);
  }
  return OpenRemoteSource(location.server(), block, offset, end);
}

// Reads from one location until it fails, then continues at the next location.
class FailoverSource final : public BlockSource {
 public:
  FailoverSource(BlockStore& store, PeerListener* listener, ebbfs::SourceProto source,
                 std::uint64_t offset, std::uint64_t end)
      : store_(store),
        listener_(listener),
        source_(LocalFirst(std::move(source), store)),
        position_(offset),
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
      // A read that failed half-way is repeated as a whole: `position_` moves after a success only.
      auto status = current_->Read(out);
      if (status) {
        position_ += out.size();
        return status;
      }
      Note(status.error());
      if (status.error().code == ErrorCode::kCorrupt) TellOfCorruption();
      EBB_TRY(OpenNext());
    }
  }

  bool local() const override { return current_->local(); }

 private:
  // Moves the location on this server to the front: reading it costs no network.
  static ebbfs::SourceProto LocalFirst(ebbfs::SourceProto source, const BlockStore& store) {
    auto& locations = *source.mutable_locations();
    std::stable_partition(locations.begin(), locations.end(), [&](const auto& location) {
      return location.server().datanodeuuid() == store.server_uuid();
    });
    return source;
  }

  // A replica of this server is reported by the store.
  void TellOfCorruption() {
    if (listener_ == nullptr || current_->local()) return;
    listener_->OnCorruptAtPeer(source_.locations(next_ - 1).server(), source_.block());
  }

  void Note(const Error& error) {
    if (!failures_.empty()) failures_ += "; ";
    failures_ += error.message;
    if (code_ != ErrorCode::kCorrupt) code_ = error.code;
  }

  BlockStore& store_;
  PeerListener* const listener_;
  const ebbfs::SourceProto source_;
  std::uint64_t position_;
  const std::uint64_t end_;
  int next_ = 0;
  std::unique_ptr<BlockSource> current_;
  std::string failures_;
  ErrorCode code_ = ErrorCode::kNotFound;
};

}  // namespace

Result<std::unique_ptr<BlockSource>> ClusterBlockIo::OpenSource(const ebbfs::SourceProto& source,
                                                                std::uint64_t offset,
                                                                std::uint64_t end) {
  auto opened = std::make_unique<FailoverSource>(store_, listener_, source, offset, end);
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
  return MakeChecksummingWriter(std::move(writer));
}

}  // namespace ebb::transfer
