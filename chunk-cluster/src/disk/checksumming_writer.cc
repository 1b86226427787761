#include "disk/checksumming_writer.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace ebb {

namespace {

class ChecksummingWriter final : public BlockSink {
 public:
  explicit ChecksummingWriter(std::unique_ptr<ReplicaWriter> writer) : writer_(std::move(writer)) {}

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

}  // namespace

std::unique_ptr<BlockSink> MakeChecksummingWriter(std::unique_ptr<ReplicaWriter> writer) {
  return std::make_unique<ChecksummingWriter>(std::move(writer));
}

}  // namespace ebb
