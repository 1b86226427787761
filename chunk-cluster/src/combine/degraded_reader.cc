#include "combine/degraded_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "common/page_buffer.h"
#include "gf/linear_map.h"

namespace ebb {

namespace {

// True if other blocks of the same server would fail, too.
bool IsFailureOfServer(const Error& error) {
  return error.code == ErrorCode::kNetwork || error.code == ErrorCode::kTimeout ||
         error.code == ErrorCode::kNotReady;
}

Status CheckPlan(const ebbfs::GetReadPlanResponseProto& plan, std::uint64_t block_id,
                 std::size_t max_sources) {
  const auto sources = static_cast<std::size_t>(plan.sources_size());
  if (plan.coefficients().size() == sources && sources <= max_sources) return {};
  return Fail(
      ErrorCode::kInvalid,
      fmt::format("the namenode's read plan of block {} has {} sources and {} coefficients; "
                  "at most {} sources with one coefficient each are accepted",
                  block_id, sources, plan.coefficients().size(), max_sources));
}

}  // namespace

// Decodes [position_, end_) of one block, slice by slice.
class DegradedReader::DecodingSource final : public BlockSource {
 public:
  DecodingSource(DegradedReader& owner, const hadoop::hdfs::ExtendedBlockProto& block,
                 std::uint64_t offset, std::uint64_t length)
      : owner_(owner), offset_(offset), wanted_(length) {
    *request_.mutable_block() = block;
    request_.set_requesteruuid(owner.options_.server_uuid);
    ++owner_.open_;
  }
  ~DecodingSource() override { --owner_.open_; }
  DecodingSource(const DecodingSource&) = delete;
  DecodingSource& operator=(const DecodingSource&) = delete;

  // Finds a plan that works and decodes the first slice.
  Status Start() {
    EBB_TRY(NextPlan());
    return position_ < end_ ? Decode() : Status();
  }
  [[nodiscard]] std::uint64_t length_bytes() const { return *length_; }

  Status ReadReady(std::span<std::byte> out) {
    while (!out.empty()) {
      if (ready_.empty()) {
        if (position_ == end_) {
          return Fail(ErrorCode::kInvalid,
                      fmt::format("block {} was opened up to byte {}, but more bytes are requested",
                                  request_.block().blockid(), end_));
        }
        EBB_TRY(Decode());
      }
      const std::size_t count = std::min(out.size(), ready_.size());
      std::memcpy(out.data(), ready_.data(), count);
      ready_ = ready_.subspan(count);
      out = out.subspan(count);
      owner_.bytes_ += count;
    }
    return {};
  }
  Status Read(std::span<std::byte> out) override {
    try {
      return ReadReady(out);
    } catch (const std::exception& failure) {  // out of memory or threads
      return Fail(ErrorCode::kBusy, fmt::format("{}; try again later", failure.what()));
    }
  }
  bool local() const override { return false; }

 private:
  // Decodes the next slice. Asks for new plans as long as sources fail.
  Status Decode() {
    for (;;) {
      const auto inputs = reader_->Next();
      if (inputs) {
        const std::size_t length = std::min<std::uint64_t>(slice_bytes_, end_ - position_);
        const std::array<std::byte*, 1> output = {output_.data()};
        map_->Apply(*inputs, output, length);
        ready_ = {output_.data(), length};
        position_ += length;
        return {};
      }
      Exclude(inputs.error());
      EBB_TRY(NextPlan());
    }
  }

  void Exclude(const SourceFailures& failures) {
    std::set<std::string> servers(request_.excludedserveruuids().begin(),
                                  request_.excludedserveruuids().end());
    for (const SourceFailure& failure : failures) {
      const ebbfs::SourceProto& source = sources_[failure.index];
      last_failure_ = fmt::format("block {}: {}", source.block().blockid(), failure.error.message);
      if (owner_.options_.log_failure) {
        owner_.options_.log_failure(fmt::format("degraded read of block {}: {}",
                                                request_.block().blockid(), last_failure_));
      }
      if (!IsFailureOfServer(failure.error)) {
        request_.add_excludedblockids(source.block().blockid());
        continue;
      }
      for (const auto& location : source.locations()) {
        const std::string& uuid = location.server().datanodeuuid();
        if (servers.insert(uuid).second) request_.add_excludedserveruuids(uuid);
      }
    }
  }

  Status NextPlan() {
    reader_.reset();
    if (++plans_ > owner_.options_.max_plans) {
      return Fail(
          ErrorCode::kNetwork,
          fmt::format("block {} could not be decoded with {} plans; the last failure: {}",
                      request_.block().blockid(), owner_.options_.max_plans, last_failure_));
    }
    EBB_ASSIGN(const auto plan, owner_.plan_source_.GetReadPlan(request_));
    EBB_TRY(CheckPlan(plan, request_.block().blockid(), owner_.options_.max_sources));
    if (length_ && *length_ != plan.lengthbytes()) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("block {} changed from {} to {} bytes during the read; read it again",
                              request_.block().blockid(), *length_, plan.lengthbytes()));
    }
    length_ = plan.lengthbytes();
    if (plans_ == 1) {
      position_ = std::min(offset_, *length_);
      end_ = position_ + std::min(wanted_, *length_ - position_);
    }
    return OpenPlan(plan);
  }

  Status OpenPlan(const ebbfs::GetReadPlanResponseProto& plan) {
    sources_.clear();
    std::vector<std::uint8_t> row;
    for (int s = 0; s < plan.sources_size(); ++s) {
      const auto coefficient =
          static_cast<std::uint8_t>(plan.coefficients()[static_cast<std::size_t>(s)]);
      if (coefficient == 0) continue;
      sources_.push_back(plan.sources(s));
      row.push_back(coefficient);
    }
    map_.emplace(row, sources_.size(), 1, owner_.options_.backend);
    ChooseSlice();
    const std::size_t bytes =
        SliceReader::MemoryBytes(sources_.size(), slice_bytes_) + slice_bytes_;
    EBB_ASSIGN(auto lease, owner_.budget_.Acquire(bytes, owner_.options_.busy_timeout));
    output_ = PageBuffer(slice_bytes_);
    for (const auto& source : sources_) {
      if (source.block().numbytes() > position_) ++owner_.sources_;
    }
    reader_.emplace(
        owner_.io_, owner_.group_, sources_, position_, end_,
        SliceReaderOptions{slice_bytes_, owner_.options_.threads, owner_.options_.source_timeout},
        std::move(lease));
    return {};
  }

  void ChooseSlice() {
    const Options& options = owner_.options_;
    const std::size_t share = std::min(options.max_read_bytes, options.max_process_bytes) /
                              (SliceReader::kDepth * sources_.size() + 1);
    const std::uint64_t left = std::max<std::uint64_t>(1, end_ - position_);
    const std::size_t page = options.min_slice_bytes;
    const std::uint64_t slice =
        std::min<std::uint64_t>({options.slice_bytes, share, (left + page - 1) / page * page});
    slice_bytes_ = std::max<std::size_t>(page, slice / page * page);
  }

  DegradedReader& owner_;
  const std::uint64_t offset_;
  const std::uint64_t wanted_;
  // The excluded servers and blocks in it grow with every plan.
  ebbfs::GetReadPlanRequestProto request_;
  std::size_t plans_ = 0;
  std::string last_failure_ = "no source failed";
  std::optional<std::uint64_t> length_;
  // The end of the decoded bytes, and the end of the read.
  std::uint64_t position_ = 0;
  std::uint64_t end_ = 0;
  std::size_t slice_bytes_ = 0;
  // Decoded bytes that were not read yet, inside output_.
  std::span<const std::byte> ready_;
  PageBuffer output_;
  std::vector<ebbfs::SourceProto> sources_;
  std::optional<gf::LinearMap> map_;
  std::optional<SliceReader> reader_;
};

DegradedReader::DegradedReader(BlockIo& io, ReadPlanSource& plan_source, Options options)
    : options_(std::move(options)),
      io_(io),
      plan_source_(plan_source),
      budget_(options_.max_process_bytes) {}

DegradedReader::~DegradedReader() { budget_.Close(); }

Result<MissingBlock> DegradedReader::Open(const hadoop::hdfs::ExtendedBlockProto& block,
                                          std::uint64_t offset, std::uint64_t length) {
  auto read = std::make_unique<DecodingSource>(*this, block, offset, length);
  if (open_ > options_.max_concurrent) {
    return Fail(
        ErrorCode::kBusy,
        fmt::format("{} degraded reads are under way, which is the limit of this server; try "
                    "another location of block {}",
                    options_.max_concurrent, block.blockid()));
  }
  try {
    EBB_TRY(read->Start());
  } catch (const std::exception& failure) {  // out of memory or threads
    return Fail(ErrorCode::kBusy, fmt::format("{}; try again later", failure.what()));
  }
  ++reads_;
  if (options_.log_read) {
    options_.log_read(fmt::format("degraded read of block {} from {}", block.blockid(), offset));
  }
  const std::uint64_t whole = read->length_bytes();
  return MissingBlock{std::move(read), whole};
}

DegradedReader::Counters DegradedReader::counters() const { return {reads_, bytes_, sources_}; }

}  // namespace ebb
