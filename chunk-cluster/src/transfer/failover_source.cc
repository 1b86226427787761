#include "transfer/failover_source.h"

#include <fmt/core.h>

#include <string>
#include <utility>

namespace ebb::transfer {

namespace {

// Reads from one location until it fails, then continues at the next location.
class FailoverSource final : public BlockSource {
 public:
  FailoverSource(ebbfs::SourceProto source, std::uint64_t offset, std::uint64_t end,
                 OpenAtLocation open, PeerListener* listener)
      : open_(std::move(open)),
        listener_(listener),
        source_(std::move(source)),
        position_(offset),
        end_(end) {}

  Status OpenNext() {
    while (next_ < source_.locations_size()) {
      auto opened = open_(source_.locations(next_++), position_, end_);
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

  const OpenAtLocation open_;
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

Result<std::unique_ptr<BlockSource>> OpenFailoverSource(ebbfs::SourceProto source,
                                                        std::uint64_t offset, std::uint64_t end,
                                                        OpenAtLocation open,
                                                        PeerListener* listener) {
  auto opened =
      std::make_unique<FailoverSource>(std::move(source), offset, end, std::move(open), listener);
  EBB_TRY(opened->OpenNext());
  return opened;
}

}  // namespace ebb::transfer
