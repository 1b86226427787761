#include "transfer/remote_source.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "transfer/peer.h"
#include "transfer/wire.h"

namespace ebb::transfer {

namespace {

using namespace hadoop::hdfs;

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

class RemoteSource final : public BlockSource {
 public:
  explicit RemoteSource(std::unique_ptr<BlockReader> reader) : reader_(std::move(reader)) {}

  ebb::Status Read(std::span<std::byte> out) override {
    while (!out.empty()) {
      EBB_ASSIGN(const auto bytes, reader_->Next(out.size()));
      if (bytes.empty()) return Fail(ErrorCode::kInvalid, "a read beyond the end of a block");
      std::ranges::copy(bytes, out.begin());
      out = out.subspan(bytes.size());
    }
    // Ends the operation at the peer.
    if (reader_->position() == reader_->end()) EBB_TRY(reader_->Next(1));
    return {};
  }

  bool local() const override { return false; }

 private:
  std::unique_ptr<BlockReader> reader_;
};

}  // namespace

Result<std::unique_ptr<BlockSource>> OpenRemoteSource(const DatanodeIDProto& peer,
                                                      const ExtendedBlockProto& block,
                                                      std::uint64_t offset, std::uint64_t end,
                                                      const ReadHooks& hooks) {
  OpReadBlockProto op;
  FillHeader(*op.mutable_header(), block, std::string(kSourceReaderName));
  op.set_offset(offset);
  op.set_len(end - offset);
  EBB_ASSIGN(auto reader, BlockReader::Open(peer, op, kBufferBytes, hooks));
  return std::make_unique<RemoteSource>(std::move(reader));
}

}  // namespace ebb::transfer
