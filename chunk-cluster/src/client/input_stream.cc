#include "client/input_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "ClientNamenodeProtocol.pb.h"
#include "client/decoded_reader.h"
#include "client/holder_reader.h"
#include "client/local_address.h"

namespace ebb::client {

using namespace hadoop::hdfs;
using ebb::Status;

namespace {

constexpr std::int64_t kPrefetchedBlocks = 10;

// EbbFS's namenodes name proxies, which hold no replica, without a storage.
bool IsProxy(const LocatedBlockProto& block, int location) {
  return location < block.storageids_size() && block.storageids(location).empty();
}

bool IsInStripe(const LocatedBlockProto& block) {
  return std::ranges::any_of(block.storageids(), &std::string::empty);
}

}  // namespace

Result<ReadOptions> ReadOptionsOf(const Configuration& configuration) {
  ReadOptions options;
  EBB_ASSIGN(const auto block, configuration.Number("dfs.blocksize", kDefaultBlockBytes, 1));
  EBB_ASSIGN(const auto prefetch,
             configuration.Number("dfs.client.read.prefetch.size", kPrefetchedBlocks * block, 1));
  EBB_ASSIGN(const auto failures, configuration.Number("dfs.client.max.block.acquire.failures", 3));
  EBB_ASSIGN(const auto straggler, configuration.Number("ebbfs.client.straggler.millis", 2000));
  options.straggler = Timeout(straggler);
  options.prefetch_bytes = static_cast<std::uint64_t>(prefetch);
  options.most_failures = static_cast<int>(std::min<std::int64_t>(failures, 1000));
  return options;
}

InputStream::InputStream(NamenodeConnection& namenode, std::string path, const ReadOptions& options,
                         BlockLocations locations)
    : namenode_(namenode),
      path_(std::move(path)),
      options_(options),
      locations_(std::move(locations)) {}

InputStream::~InputStream() = default;

Result<std::unique_ptr<InputStream>> InputStream::Open(NamenodeConnection& namenode,
                                                       const std::string& path,
                                                       const ReadOptions& options) {
  std::unique_ptr<InputStream> opened(new InputStream(
      namenode, path, options, BlockLocations(namenode, path, options.prefetch_bytes)));
  EBB_TRY(opened->locations_.Open());
  return opened;
}

std::unique_ptr<InputStream> InputStream::Another() const {
  return std::unique_ptr<InputStream>(new InputStream(namenode_, path_, options_, locations_));
}

Result<std::span<const std::byte>> InputStream::Next(std::size_t most) {
  while (position_ < length()) {
    EBB_TRY(Cancelled());
    if (locations_.code()) {
      EBB_ASSIGN(const auto bytes, FromGroup(position_, length(), most));
      position_ += bytes.size();
      return bytes;
    }
    if (!reader_ || reader_at_ != position_) EBB_TRY(Connect(position_, length()));
    auto bytes = reader_->Next(most);
    if (!bytes) {
      EBB_TRY(GoOn(bytes.error()));
      continue;
    }
    if (bytes->empty() && most > 0) {
      Replace(nullptr);
      continue;
    }
    position_ += bytes->size();
    reader_at_ = position_;
    failures_ = 0;
    Count(bytes->size());
    return *bytes;
  }
  // The reader takes its leave of the server.
  if (reader_) (void)reader_->Next(1);
  Unbuffer();
  return std::span<const std::byte>();
}

Result<std::span<const std::byte>> InputStream::FromGroup(std::uint64_t offset, std::uint64_t end,
                                                          std::size_t most) {
  for (;;) {
    EBB_TRY(Cancelled());
    if (!group_ || !group_->Covers(offset)) {
      ReplaceGroup(nullptr);
      EBB_ASSIGN(const auto* group, locations_.At(offset));
      GroupRead read{path_, *group, end, options_.straggler, failures_ > 0};
      ReplaceGroup(std::make_unique<GroupReader>(
          locations_.code(), std::move(read), failed_holders_,
          [this](const LocatedBlockProto& replica) { Report(replica); }));
      EBB_TRY(Cancelled());
    }
    const auto bytes = group_->At(offset, most);
    if (bytes) {
      failures_ = 0;
      local_ = group_->local();
      Count(bytes->size());
      return *bytes;
    }
    EBB_TRY(AskAgain(bytes.error()));
  }
}

Result<std::size_t> InputStream::ReadGroupsAt(std::uint64_t offset, std::span<std::byte> out) {
  ReplaceGroup(nullptr);
  for (std::size_t done = 0; done < out.size();) {
    EBB_ASSIGN(const auto bytes, FromGroup(offset + done, offset + out.size(), out.size() - done));
    std::memcpy(out.data() + done, bytes.data(), bytes.size());
    done += bytes.size();
  }
  ReplaceGroup(nullptr);
  return out.size();
}

void InputStream::ReplaceGroup(std::unique_ptr<GroupReader> group) {
  {
    const std::lock_guard lock(mutex_);
    group_.swap(group);
  }
  // A reader may wait for its threads when it ends.
  group.reset();
}

Result<std::size_t> InputStream::Read(std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    EBB_ASSIGN(const auto bytes, Next(out.size() - done));
    if (bytes.empty()) break;
    std::memcpy(out.data() + done, bytes.data(), bytes.size());
    done += bytes.size();
  }
  return done;
}

Result<std::size_t> InputStream::ReadAt(std::uint64_t offset, std::span<std::byte> out) {
  if (offset >= length()) return 0;
  const std::size_t wanted = std::min<std::uint64_t>(out.size(), length() - offset);
  if (locations_.code()) return ReadGroupsAt(offset, out.first(wanted));
  std::size_t done = 0;
  Replace(nullptr);
  while (done < wanted) {
    EBB_TRY(Cancelled());
    if (!reader_) EBB_TRY(Connect(offset + done, offset + wanted));
    const auto bytes = reader_->Next(wanted - done);
    if (!bytes) {
      EBB_TRY(GoOn(bytes.error()));
      continue;
    }
    std::memcpy(out.data() + done, bytes->data(), bytes->size());
    done += bytes->size();
    Count(bytes->size());
    if (bytes->empty()) {
      Replace(nullptr);
    } else {
      failures_ = 0;
    }
  }
  Replace(nullptr);
  return done;
}

Status InputStream::Seek(std::uint64_t offset) {
  if (offset > length()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} has {} bytes; {} is beyond its end", path_, length(), offset));
  }
  position_ = offset;
  return {};
}

Status InputStream::Connect(std::uint64_t offset, std::uint64_t end) {
  for (;;) {
    EBB_TRY(Cancelled());
    EBB_ASSIGN(const auto* block, locations_.At(offset));
    block_ = *block;
    const int location = NextLocation();
    const bool named = location < block_.locs_size();
    decodes_ = MayDecode() && (!named || IsProxy(block_, location));
    server_.Clear();
    if (named && !decodes_) server_ = block_.locs(location);
    Error error{ErrorCode::kNotFound,
                fmt::format("block {} of {} is at no server that can be read{}; 'hdfs fsck' tells "
                            "which servers are missing",
                            block_.b().blockid(), path_, last_failure_)};
    if (decodes_ || server_.has_id()) {
      const std::uint64_t block_end = std::min(end, block_.offset() + block_.b().numbytes());
      Replace(ReaderAt(
          location, {path_, block_, offset - block_.offset(), block_end - block_.offset()}));
      EBB_TRY(Cancelled());
      auto started = reader_->Start();
      if (started) {
        local_ = server_.has_id() && IsLocalAddress(server_.id().ipaddr());
        reader_at_ = offset;
        return {};
      }
      error = std::move(started).error();
    }
    EBB_TRY(GoOn(error));
  }
}

int InputStream::NextLocation() const {
  const auto free = [&](const DatanodeInfoProto& server) {
    return !shunned_.contains(server.id().datanodeuuid());
  };
  return static_cast<int>(std::ranges::find_if(block_.locs(), free) - block_.locs().begin());
}

bool InputStream::MayDecode() const {
  return options_.planner != nullptr && !options_.planner->refused() && IsInStripe(block_) &&
         undecodable_ != block_.b().blockid();
}

std::unique_ptr<RangeReader> InputStream::ReaderAt(int location, BlockRange range) const {
  if (decodes_) {
    return std::make_unique<DecodedReader>(*options_.planner, std::move(range), shunned_);
  }
  // A proxy decodes itself.
  Hedging hedging;
  if (MayDecode() && !IsProxy(block_, location)) {
    hedging = {options_.planner, options_.straggler, shunned_};
  }
  return std::make_unique<HolderReader>(server_.id(), std::move(range), std::move(hedging),
                                        options_.idle);
}

void InputStream::Replace(std::unique_ptr<RangeReader> reader) {
  {
    const std::lock_guard lock(mutex_);
    reader_.swap(reader);
  }
  // A reader may wait for its threads when it ends.
  reader.reset();
}

Status InputStream::GoOn(const Error& error) {
  EBB_TRY(Cancelled());
  Replace(nullptr);
  if (decodes_) {
    decodes_ = false;
    undecodable_ = block_.b().blockid();
    last_failure_ = " (" + error.message + ")";
    return {};
  }
  if (error.code == ErrorCode::kCorrupt) TellOfCorruption();
  if (server_.has_id()) {
    shunned_.insert(server_.id().datanodeuuid());
    last_failure_ = " (" + error.message + ")";
    return {};
  }
  return AskAgain(error);
}

Status InputStream::AskAgain(const Error& error) {
  EBB_TRY(Cancelled());
  undecodable_ = 0;
  ReplaceGroup(nullptr);
  if (failures_++ >= options_.most_failures) {
    // A later read begins anew.
    failures_ = 0;
    ForgetServers();
    return std::unexpected(error);
  }
  AwaitCancel(options_.failure_wait * failures_);
  EBB_TRY(Cancelled());
  ForgetServers();
  return {};
}

void InputStream::AwaitCancel(Timeout most) {
  std::unique_lock lock(mutex_);
  cancelling_.wait_for(lock, most, [&] { return cancelled_.load(); });
}

void InputStream::ForgetServers() {
  locations_.Forget();
  shunned_.clear();
  failed_holders_.Clear();
}

void InputStream::TellOfCorruption() {
  LocatedBlockProto replica = block_;
  replica.clear_locs();
  replica.clear_storageids();
  replica.clear_storagetypes();
  replica.clear_iscached();
  *replica.add_locs() = server_;
  for (int i = 0; i < block_.locs_size(); ++i) {
    if (block_.locs(i).id().datanodeuuid() != server_.id().datanodeuuid()) continue;
    if (i < block_.storageids_size()) replica.add_storageids(block_.storageids(i));
    if (i < block_.storagetypes_size()) replica.add_storagetypes(block_.storagetypes(i));
    if (i < block_.iscached_size()) replica.add_iscached(block_.iscached(i));
  }
  Report(replica);
}

void InputStream::Report(const LocatedBlockProto& replica) {
  if (cancelled_) return;
  ReportBadBlocksRequestProto request;
  *request.add_blocks() = replica;
  ReportBadBlocksResponseProto response;
  // The read goes on without: the scrub of the server finds the block, too.
  (void)namenode_.Call("reportBadBlocks", request, response);
}

void InputStream::Count(std::size_t bytes) {
  counts_.bytes += bytes;
  if (reader_ && reader_->decoded()) {
    counts_.decoded_bytes += bytes;
    // A hedge was faster than the server.
    if (server_.has_id()) shunned_.insert(server_.id().datanodeuuid());
  } else if (local_) {
    counts_.local_bytes += bytes;
  }
}

void InputStream::Cancel() {
  cancelled_ = true;
  const std::lock_guard lock(mutex_);
  cancelling_.notify_all();
  if (reader_) reader_->Shutdown();
  if (group_) group_->Shutdown();
}

Status InputStream::Cancelled() const {
  if (!cancelled_) return {};
  return Fail(ErrorCode::kShutdown, fmt::format("the read of {} was cancelled", path_));
}

}  // namespace ebb::client
