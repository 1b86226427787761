#include "combine/slice_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "common/page_buffer.h"
#include "transfer/group_layout.h"

namespace ebb {

namespace {
using Clock = std::chrono::steady_clock;
}  // namespace

// The reader and its threads ("lanes") own this together. Lane l opens the sources l, l + lanes,
// ... and fills their slices, one after the other, at most kDepth slices ahead of the user.
class SliceReader::Shared {
 public:
  Shared(BlockIo& io, std::vector<ebbfs::SourceProto> sources, std::uint64_t offset,
         std::uint64_t end, const Options& options, MemoryBudget::Lease lease)
      : io_(io),
        options_(options),
        offset_(offset),
        slices_((end - offset + options.slice_bytes - 1) / options.slice_bytes),
        lease_(std::move(lease)),
        memory_(MemoryBytes(sources.size(), options.slice_bytes)),
        zeros_(options.slice_bytes) {
    for (auto& proto : sources) inputs_.push_back(MakeInput(std::move(proto), offset, end));
    lanes_ = std::min(std::max<std::size_t>(1, options.threads), inputs_.size());
    current_.resize(lanes_);
    for (auto& pointers : pointers_) pointers.resize(inputs_.size(), zeros_.data());
  }

  [[nodiscard]] std::size_t lanes() const { return lanes_; }

  void Stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

  void RunLane(std::size_t lane) {
    try {
      Open(lane);
      for (std::uint64_t slice = 0; slice < slices_; ++slice) {
        if (!AwaitRoom(slice) || !FillSlice(lane, slice)) return;
        const std::lock_guard lock(mutex_);
        ++filled_[slice % kDepth];
        changed_.notify_all();
      }
    } catch (const std::exception& failure) {  // out of memory
      AddFailure(lane, lane, Error{ErrorCode::kBusy, failure.what()});
      const std::lock_guard lock(mutex_);
      opened_ = lanes_;
      changed_.notify_all();
    }
    // Closes connections as soon as nothing remains to be read.
    for (std::size_t i = lane; i < inputs_.size(); i += lanes_) inputs_[i].source.reset();
  }

  std::expected<std::span<const std::byte* const>, SourceFailures> Await(std::uint64_t slice) {
    std::unique_lock lock(mutex_);
    if (slice > 0) {
      filled_[(slice - 1) % kDepth] = 0;
      released_ = slice;
      changed_.notify_all();
    }
    auto called = Clock::now();
    while (failures_.empty() || opened_ < lanes_) {
      if (failures_.empty() && filled_[slice % kDepth] == lanes_) {
        return std::span<const std::byte* const>(pointers_[slice % kDepth]);
      }
      const auto deadline = std::max(called, progress_) + options_.source_timeout;
      if (changed_.wait_until(lock, deadline) == std::cv_status::timeout &&
          Clock::now() >= std::max(called, progress_) + options_.source_timeout) {
        if (BlameTheStalled()) break;
        // The lanes wait for a processor, not for a source: no other plan would be faster.
        called = Clock::now();
      }
    }
    stopped_ = true;
    changed_.notify_all();
    std::sort(failures_.begin(), failures_.end(),
              [](const auto& a, const auto& b) { return a.index < b.index; });
    return std::unexpected(failures_);
  }

  [[nodiscard]] ReadCounts counts() {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  struct Input {
    ebbfs::SourceProto proto;
    std::unique_ptr<BlockSource> source;
    // The first byte of the block that is read.
    std::uint64_t begin;
    // Bytes that remain to be read; zeros follow them. Only the lane of the source uses this.
    std::uint64_t left;
  };

  static Input MakeInput(ebbfs::SourceProto proto, std::uint64_t offset, std::uint64_t end) {
    if (proto.has_cells()) {
      const auto& cells = proto.cells();
      const transfer::GroupLayout layout{cells.units(), cells.cellbytes()};
      offset = layout.BlockBytes(cells.startbytes() + offset, cells.unit());
      end = layout.BlockBytes(cells.startbytes() + end, cells.unit());
    }
    end = std::min<std::uint64_t>(proto.block().numbytes(), end);
    return {std::move(proto), nullptr, offset, end > offset ? end - offset : 0};
  }

  // Tries all sources of the lane, so that the caller's next plan avoids every one that fails.
  void Open(std::size_t lane) {
    for (std::size_t i = lane; i < inputs_.size(); i += lanes_) {
      if (inputs_[i].left == 0) continue;
      if (!Begin(lane, i)) break;
      auto source = io_.OpenSource(inputs_[i].proto, inputs_[i].begin,
                                   inputs_[i].begin + inputs_[i].left);
      if (source) {
        inputs_[i].source = std::move(*source);
        Progress(lane);
      } else {
        AddFailure(lane, i, std::move(source).error());
      }
    }
    const std::lock_guard lock(mutex_);
    ++opened_;
    changed_.notify_all();
  }

  bool AwaitRoom(std::uint64_t slice) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock,
                  [&] { return stopped_ || !failures_.empty() || slice < released_ + kDepth; });
    return !stopped_ && failures_.empty();
  }

  bool FillSlice(std::size_t lane, std::uint64_t slice) {
    for (std::size_t i = lane; i < inputs_.size(); i += lanes_) {
      Input& input = inputs_[i];
      if (input.left == 0) {
        pointers_[slice % kDepth][i] = zeros_.data();
        continue;
      }
      if (!Begin(lane, i)) return false;
      const std::size_t slot = (slice % kDepth) * inputs_.size() + i;
      std::byte* const buffer = memory_.data() + slot * options_.slice_bytes;
      const std::uint64_t before = input.left;
      auto status = input.proto.has_cells() ? ReadCells(input, slice, buffer)
                                            : ReadOn(input, buffer, options_.slice_bytes);
      if (!status) {
        AddFailure(lane, i, std::move(status).error());
        return false;
      }
      pointers_[slice % kDepth][i] = buffer;
      Count(lane, i, before - input.left);
    }
    return true;
  }

  // The next bytes of a source, and zeros after its end.
  static Status ReadOn(Input& input, std::byte* out, std::size_t bytes) {
    const std::size_t length = std::min<std::uint64_t>(input.left, bytes);
    EBB_TRY(input.source->Read({out, length}));
    std::memset(out + length, 0, bytes - length);
    input.left -= length;
    return {};
  }

  // The cells of a source in a slice, where they are in the data of the group, and zeros elsewhere.
  Status ReadCells(Input& input, std::uint64_t slice, std::byte* out) const {
    const auto& cells = input.proto.cells();
    const std::uint64_t first = cells.startbytes() + offset_ + slice * options_.slice_bytes;
    for (std::uint64_t done = 0; done < options_.slice_bytes;) {
      const std::uint64_t at = first + done;
      const std::size_t bytes = std::min<std::uint64_t>(cells.cellbytes() - at % cells.cellbytes(),
                                                        options_.slice_bytes - done);
      if (at / cells.cellbytes() % cells.units() == cells.unit() && input.left > 0) {
        EBB_TRY(ReadOn(input, out + done, bytes));
      } else {
        std::memset(out + done, 0, bytes);
      }
      done += bytes;
    }
    return {};
  }

  // False if the reader has stopped.
  bool Begin(std::size_t lane, std::size_t index) {
    const std::lock_guard lock(mutex_);
    current_[lane] = index;
    return !stopped_;
  }

  void Progress(std::size_t lane) {
    const std::lock_guard lock(mutex_);
    current_[lane].reset();
    progress_ = Clock::now();
    ++counts_.blocks;
  }

  void Count(std::size_t lane, std::size_t index, std::uint64_t bytes) {
    const bool local = inputs_[index].source->local();
    const std::lock_guard lock(mutex_);
    current_[lane].reset();
    progress_ = Clock::now();
    (local ? counts_.bytes_local : counts_.bytes_remote) += bytes;
  }

  void AddFailure(std::size_t lane, std::size_t index, Error error) {
    const std::lock_guard lock(mutex_);
    current_[lane].reset();
    if (!stopped_) failures_.push_back({index, std::move(error)});
    changed_.notify_all();
  }

  // Whether there is a source that a lane waits for. The caller holds the mutex.
  bool BlameTheStalled() {
    for (const auto& index : current_) {
      if (!index) continue;
      failures_.push_back(
          {*index,
           Error{ErrorCode::kTimeout,
                 fmt::format("block {} delivered no bytes for {} ms; is its server overloaded?",
                             inputs_[*index].proto.block().blockid(),
                             options_.source_timeout.count())}});
    }
    return !failures_.empty();
  }

  BlockIo& io_;
  const Options options_;
  const std::uint64_t offset_;
  const std::uint64_t slices_;
  const MemoryBudget::Lease lease_;
  const PageBuffer memory_;
  // Never written.
  const PageBuffer zeros_;
  std::vector<Input> inputs_;
  std::size_t lanes_ = 0;
  // By slot (slice modulo kDepth). A lane writes the entries of its sources before the slot counts
  // as filled.
  std::vector<const std::byte*> pointers_[kDepth];

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::size_t opened_ = 0;
  std::size_t filled_[kDepth] = {};
  std::uint64_t released_ = 0;
  // By lane: the source that the lane reads at the moment.
  std::vector<std::optional<std::size_t>> current_;
  Clock::time_point progress_ = Clock::now();
  SourceFailures failures_;
  ReadCounts counts_;
};

SliceReader::SliceReader(BlockIo& io, ThreadGroup& group, std::vector<ebbfs::SourceProto> sources,
                         std::uint64_t offset, std::uint64_t end, const Options& options,
                         MemoryBudget::Lease lease)
    : shared_(std::make_shared<Shared>(io, std::move(sources), offset, end, options,
                                       std::move(lease))) {
  try {
    for (std::size_t lane = 0; lane < shared_->lanes(); ++lane) {
      group.Start([shared = shared_, lane] { shared->RunLane(lane); });
    }
  } catch (...) {
    shared_->Stop();
    throw;
  }
}

SliceReader::~SliceReader() { shared_->Stop(); }

std::expected<std::span<const std::byte* const>, SourceFailures> SliceReader::Next() {
  return shared_->Await(next_slice_++);
}

ReadCounts SliceReader::counts() const { return shared_->counts(); }

}  // namespace ebb
