#include "combine/comparing_sink.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace ebb {

namespace {

constexpr std::size_t kStepBytes = std::size_t{64} << 10;

class ComparingSink final : public BlockSink {
 public:
  explicit ComparingSink(std::unique_ptr<BlockSource> block)
      : block_(std::move(block)), buffer_(kStepBytes) {}

  Status Write(std::span<const std::byte> data) override {
    while (!data.empty()) {
      const std::span there(buffer_.data(), std::min(data.size(), buffer_.size()));
      EBB_TRY(block_->Read(there));
      if (std::memcmp(there.data(), data.data(), there.size()) != 0) {
        return Fail(ErrorCode::kInvalid,
                    "the block exists already, with other bytes; use a new block id");
      }
      data = data.subspan(there.size());
    }
    return {};
  }
  Status Finish() override { return {}; }
  bool local() const override { return block_->local(); }

 private:
  std::unique_ptr<BlockSource> block_;
  std::vector<std::byte> buffer_;
};

}  // namespace

std::unique_ptr<BlockSink> MakeComparingSink(std::unique_ptr<BlockSource> block) {
  return std::make_unique<ComparingSink>(std::move(block));
}

}  // namespace ebb
