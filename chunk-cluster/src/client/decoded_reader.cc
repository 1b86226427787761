#include "client/decoded_reader.h"

#include <algorithm>
#include <utility>

#include "transfer/failover_source.h"
#include "transfer/remote_source.h"

namespace ebb::client {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
constexpr Timeout kSourceConnectTimeout = std::chrono::seconds(5);
constexpr Timeout kSlotWait = std::chrono::seconds(2);

DegradedReadOptions DecodingOptions() {
  DegradedReadOptions options;
  options.max_concurrent = 1;
  // A source that stalls keeps the slices of its plan until it ends.
  options.max_process_bytes = options.max_plans * options.max_read_bytes;
  options.source_timeout = std::chrono::seconds(5);
  return options;
}

}  // namespace

Result<ebbfs::GetReadPlanResponseProto> DecodedReader::Plans::GetReadPlan(
    const ebbfs::GetReadPlanRequestProto& request) {
  if (stopped_) return Fail(ErrorCode::kShutdown, "the read was ended");
  auto all = request;
  all.set_path(path_);
  for (const auto& uuid : excluded_) all.add_excludedserveruuids(uuid);
  return planner_.GetReadPlan(all);
}

Result<std::unique_ptr<BlockSource>> DecodedReader::Peers::OpenSource(
    const ebbfs::SourceProto& source, std::uint64_t offset, std::uint64_t end) {
  auto open = [this, block = source.block()](const auto& location, std::uint64_t from,
                                             std::uint64_t to) {
    return transfer::OpenRemoteSource(location.server(), block, from, to,
                                      {.connect = kSourceConnectTimeout, .sockets = &sockets_});
  };
  return transfer::OpenFailoverSource(source, offset, end, std::move(open), nullptr);
}

Result<std::unique_ptr<BlockSink>> DecodedReader::Peers::OpenSink(const ebbfs::TargetProto&) {
  return Fail(ErrorCode::kUnsupported, "a client combines no blocks");
}

DecodedReader::DecodedReader(ReadPlanSource& planner, BlockRange range,
                             const std::set<std::string>& excluded)
    : range_(std::move(range)),
      plans_(planner, range_.path, excluded),
      reads_(peers_, plans_, DecodingOptions()),
      position_(range_.offset) {}

DecodedReader::~DecodedReader() { Shutdown(); }

Status DecodedReader::Start() {
  slot_ = DecodingSlots::OfProcess().Take(kSlotWait, stopped_);
  if (stopped_) return Fail(ErrorCode::kShutdown, "the read was ended");
  if (!slot_) return Fail(ErrorCode::kBusy, "this process decodes too many blocks already");
  EBB_ASSIGN(auto opened, reads_.Open(range_.block.b(), range_.offset, range_.end - range_.offset));
  source_ = std::move(opened.source);
  return {};
}

Result<std::span<const std::byte>> DecodedReader::Next(std::size_t most) {
  buffer_.resize(std::min<std::uint64_t>({most, kPieceBytes, range_.end - position_}));
  if (!buffer_.empty()) EBB_TRY(source_->Read(buffer_));
  position_ += buffer_.size();
  return std::span<const std::byte>(buffer_);
}

void DecodedReader::Shutdown() {
  stopped_ = true;
  DecodingSlots::OfProcess().Wake();
  plans_.Stop();
  peers_.Stop();
}

}  // namespace ebb::client
