#include "client/lane_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "ClientNamenodeProtocol.pb.h"
#include "client/block_writer.h"

namespace ebb::client {

using ebbfs::LaneProto;
using hadoop::hdfs::DatanodeInfoProto;
using hadoop::hdfs::ExtendedBlockProto;
using hadoop::hdfs::LocatedBlockProto;
using hadoop::hdfs::XAttrProto;

namespace {

constexpr char kLaneAttribute[] = "append.lane";
constexpr char kSealedAttribute[] = "append.sealed";
// A ledger that nobody asks for any more is removed after this time.
constexpr std::int64_t kLedgerKeptMillis = 3'600'000;
// So few that the lane whose creator removes them gets its first batch soon.
constexpr std::size_t kMostLedgersRemoved = 50;
// The leader finishes a lane whose ledger has 4 MiB.
constexpr std::uint64_t kMostLedgerBytes = 16 << 20;
constexpr std::array<std::string_view, 7> kFinalExceptions = {
    "org.apache.hadoop.security.AccessControlException",
    "org.apache.hadoop.security.authorize.AuthorizationException",
    "org.apache.hadoop.hdfs.protocol.SnapshotAccessControlException",
    "org.apache.hadoop.hdfs.protocol.QuotaExceededException",
    "org.apache.hadoop.hdfs.protocol.NSQuotaExceededException",
    "org.apache.hadoop.hdfs.protocol.DSQuotaExceededException",
    "org.apache.hadoop.hdfs.protocol.QuotaByStorageTypeExceededException",
};

// Block groups take no record appends: a lane is one replicated block.
Status CheckTakesRecords(const std::string& path, const FileStatus& file) {
  if (file.IsDirectory()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} is a directory; records are appended to a file", path));
  }
  if (file.erasure) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("records cannot be appended to {}: its erasure coding policy is {}, "
                            "and record appends need a replicated file; let the append create the "
                            "file, or copy it to a directory without a policy",
                            path, file.erasure->name));
  }
  return CheckWritable(path, file);
}

std::string DirectoryOf(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

}  // namespace

bool IsFinal(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalid:
    case ErrorCode::kNotFound:
    case ErrorCode::kUnsupported:
    case ErrorCode::kShutdown:
      return true;
    case ErrorCode::kRemote:
      return std::ranges::find(kFinalExceptions, error.exception_class) != kFinalExceptions.end();
    default:
      return false;
  }
}

LaneFiles::LaneFiles(FileSystem& files, std::string path, FileStatus file)
    : files_(files),
      path_(std::move(path)),
      directory_(DirectoryOf(path_)),
      file_(std::move(file)) {}

Result<LaneFiles> LaneFiles::Open(FileSystem& files, const std::string& path) {
  EBB_ASSIGN(const auto file, files.Stat(path));
  if (!file) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("the file {} that records are appended to does not exist", path));
  }
  EBB_TRY(CheckTakesRecords(path, *file));
  return LaneFiles(files, path, *file);
}

Status LaneFiles::RequireFile() const {
  EBB_ASSIGN(const auto found, files_.Stat(path_));
  if (found && found->file_id == file_.file_id) return {};
  return Fail(
      ErrorCode::kNotFound,
      found ? fmt::format("{} is another file than the one that records are appended to; open it "
                          "anew",
                          path_)
            : fmt::format("the file {} that records are appended to does not exist any more",
                          path_));
}

std::string LaneFiles::LeaseHolder() const { return fmt::format("EBBFS_APPEND_{}", file_.file_id); }

Result<std::vector<LaneName>> LaneFiles::Ledgers(std::optional<int> slot) const {
  return Names(LaneName::Ledgers(file_.file_id), slot);
}

Result<std::vector<LaneName>> LaneFiles::Blocks(std::optional<int> slot) const {
  return Names(LaneName::Blocks(file_.file_id), slot);
}

Result<std::vector<LaneName>> LaneFiles::Names(const std::string& all,
                                               std::optional<int> slot) const {
  EBB_ASSIGN(const auto statuses, Statuses(all + (slot ? LaneName::SlotPrefix(*slot) : "")));
  std::vector<LaneName> names;
  for (const auto& status : statuses) {
    const auto name = LaneName::Of(directory_, all, file_.file_id, status.name);
    if (name) names.push_back(*name);
  }
  return names;
}

Result<std::vector<FileStatus>> LaneFiles::Statuses(const std::string& prefix) const {
  const std::string directory =
      directory_.size() > 1 ? directory_.substr(0, directory_.size() - 1) : directory_;
  std::vector<FileStatus> found;
  for (std::string after = prefix;;) {
    EBB_ASSIGN(auto page, files_.ListAfter(directory, after));
    for (auto& status : page.entries) {
      if (!status.name.starts_with(prefix)) return found;
      after = status.name;
      found.push_back(std::move(status));
    }
    if (!page.more) return found;
  }
}

LaneName LaneFiles::First(int slot) const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {directory_, file_.file_id, slot,
          std::chrono::duration_cast<std::chrono::milliseconds>(now).count()};
}

Result<std::optional<LaneProto>> LaneFiles::Lane(const LaneName& name) const {
  EBB_ASSIGN(const auto value, Attribute(name, kLaneAttribute));
  if (!value) return std::nullopt;
  LaneProto lane;
  if (lane.ParsePartialFromString(*value)) return lane;
  return Fail(ErrorCode::kCorrupt,
              fmt::format("the attribute user.{} of {} is no lane", kLaneAttribute, name.Ledger()));
}

Result<bool> LaneFiles::Tell(const LaneName& name, const LaneProto& lane) const {
  return SetOnce(name, kLaneAttribute, lane.SerializeAsString());
}

Result<bool> LaneFiles::Abandon(const LaneName& name) const {
  return SetOnce(name, kLaneAttribute, "");
}

Result<std::optional<std::uint64_t>> LaneFiles::SealedBytes(const LaneName& name) const {
  EBB_ASSIGN(const auto value, Attribute(name, kSealedAttribute));
  if (!value) return std::nullopt;
  std::uint64_t bytes = 0;
  const auto* const end = value->data() + value->size();
  const auto [rest, error] = std::from_chars(value->data(), end, bytes);
  if (error == std::errc() && rest == end) return bytes;
  return Fail(ErrorCode::kCorrupt, fmt::format("the attribute user.{} of {} is '{}' and no length",
                                               kSealedAttribute, name.Ledger(), *value));
}

Status LaneFiles::SetSealedBytes(const LaneName& name, std::uint64_t bytes) const {
  EBB_TRY(SetOnce(name, kSealedAttribute, std::to_string(bytes)));
  return {};
}

Result<std::optional<std::string>> LaneFiles::Attribute(const LaneName& name,
                                                        const std::string& attribute) const {
  EBB_ASSIGN(const auto present, files_.XAttrs(name.Ledger(), {}));
  for (const auto& one : present) {
    if (one.namespace_() == XAttrProto::USER && one.name() == attribute) return one.value();
  }
  return std::nullopt;
}

Result<bool> LaneFiles::SetOnce(const LaneName& name, const std::string& attribute,
                                const std::string& value) const {
  XAttrProto wanted;
  wanted.set_namespace_(XAttrProto::USER);
  wanted.set_name(attribute);
  wanted.set_value(value);
  const auto set = files_.SetXAttr(name.Ledger(), wanted, FileSystem::XAttrChange::kCreate);
  if (set) return true;
  EBB_ASSIGN(const auto present, Attribute(name, attribute));
  if (!present) return std::unexpected(set.error());
  return *present == value;
}

Result<bool> LaneFiles::Exists(const std::string& path) const {
  EBB_ASSIGN(const auto status, files_.Stat(path));
  return status.has_value();
}

Result<std::uint64_t> LaneFiles::FileIdOf(const std::string& path) const {
  EBB_ASSIGN(const auto status, files_.Stat(path));
  if (status) return status->file_id;
  return Fail(ErrorCode::kIo, fmt::format("{} was removed while it was created", path));
}

Result<bool> LaneFiles::CreateFile(const std::string& path) const {
  hadoop::hdfs::CreateRequestProto request;
  request.set_src(path);
  request.mutable_masked()->set_perm(file_.mode);
  request.set_clientname(LeaseHolder());
  request.set_createflag(hadoop::hdfs::CREATE | hadoop::hdfs::SHOULD_REPLICATE);
  request.set_createparent(false);
  request.set_replication(file_.replication);
  request.set_blocksize(file_.block_bytes);
  hadoop::hdfs::CreateResponseProto response;
  const auto created = files_.namenode().Call("create", request, response);
  if (created) return true;
  EBB_ASSIGN(const bool exists, Exists(path));
  if (!exists) return std::unexpected(created.error());
  return false;
}

Result<LocatedBlockProto> LaneFiles::AddOnlyBlock(
    const std::string& path, const std::vector<DatanodeInfoProto>& excluded) const {
  EBB_ASSIGN(const auto file_id, FileIdOf(path));
  const WrittenFile file = {.path = path,
                            .file_id = file_id,
                            .client_name = LeaseHolder(),
                            .block_bytes = file_.block_bytes,
                            .replication = static_cast<int>(file_.replication)};
  EBB_ASSIGN(auto block, AddBlock(files_.namenode(), file, nullptr, excluded));
  if (!block.blockindices().empty()) {
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format("{} got a block group; record appends need replicated blocks", path));
  }
  if (block.locs().empty()) {
    return Fail(ErrorCode::kNoSpace,
                fmt::format("the namenode names no server for a block of {}", path));
  }
  return block;
}

Status LaneFiles::AbandonBlock(const std::string& path, const LocatedBlockProto& block) const {
  EBB_ASSIGN(const auto file_id, FileIdOf(path));
  hadoop::hdfs::AbandonBlockRequestProto request;
  *request.mutable_b() = block.b();
  request.set_src(path);
  request.set_holder(LeaseHolder());
  request.set_fileid(file_id);
  hadoop::hdfs::AbandonBlockResponseProto response;
  return files_.namenode().Call("abandonBlock", request, response);
}

Result<bool> LaneFiles::Complete(const std::string& path, std::uint64_t file_id,
                                 const ExtendedBlockProto& block) const {
  hadoop::hdfs::CompleteRequestProto request;
  request.set_src(path);
  request.set_clientname(LeaseHolder());
  request.set_fileid(file_id);
  *request.mutable_last() = block;
  EBB_ASSIGN(const auto answer, files_.namenode().Ask<hadoop::hdfs::CompleteResponseProto>(
                                    "complete", request));
  return answer.result();
}

Status LaneFiles::RemoveOldLedgers(const LaneName& newest) const {
  EBB_ASSIGN(const auto old, OldLedgers(newest));
  std::vector<LaneName> settled_lanes;
  for (const auto& name : old) {
    EBB_ASSIGN(const bool settled, IsSettled(name));
    if (settled) settled_lanes.push_back(name);
  }
  if (settled_lanes.empty()) return {};
  // The writers are listed again after the lanes were sealed: who tells a lane later, stores
  // nothing there.
  EBB_ASSIGN(const auto needed, ToldLanes());
  for (const auto& name : settled_lanes) {
    if (std::ranges::find(needed, name) != needed.end()) continue;
    EBB_TRY(files_.Remove(name.Ledger(), false));
  }
  return {};
}

Result<std::vector<LaneName>> LaneFiles::OldLedgers(const LaneName& newest) const {
  const std::string all = LaneName::Ledgers(file_.file_id);
  EBB_ASSIGN(const auto statuses, Statuses(all + LaneName::SlotPrefix(newest.slot)));
  std::int64_t now = 0;
  for (const auto& status : statuses) now = std::max(now, status.modified_millis);
  std::vector<LaneName> found;
  for (const auto& status : statuses) {
    const auto old = LaneName::Of(directory_, all, file_.file_id, status.name);
    if (!old || old->generation >= newest.generation ||
        status.modified_millis >= now - kLedgerKeptMillis) {
      continue;
    }
    found.push_back(*old);
  }
  if (found.empty()) return found;
  EBB_ASSIGN(const auto told, ToldLanes());
  std::set<std::int64_t> needed;
  for (const auto& lane : told) {
    if (lane.slot == newest.slot) needed.insert(lane.generation);
  }
  std::erase_if(found, [&](const LaneName& name) { return needed.contains(name.generation); });
  if (found.size() > kMostLedgersRemoved) found.resize(kMostLedgersRemoved);
  return found;
}

Result<std::vector<LaneName>> LaneFiles::ToldLanes() const {
  EBB_ASSIGN(const auto writers, Statuses(LaneName::Writers(file_.file_id)));
  std::vector<LaneName> lanes;
  for (const auto& status : writers) {
    const auto lane = LaneName::OfWriter(directory_, file_.file_id, status.name);
    if (lane) lanes.push_back(*lane);
  }
  return lanes;
}

Result<bool> LaneFiles::IsGone(const LaneName& name) const {
  EBB_ASSIGN(const bool ledger, Exists(name.Ledger()));
  EBB_ASSIGN(const bool block, Exists(name.Block()));
  return !ledger && !block;
}

Result<bool> LaneFiles::IsSettled(const LaneName& name) const {
  EBB_ASSIGN(const auto sealed, SealedBytes(name));
  if (!sealed) return false;
  EBB_ASSIGN(const bool block, Exists(name.Block()));
  return !block;
}

Status LaneFiles::RemoveAll() const {
  // The writers are listed before the lanes are looked at: a writer that tells a lane later has
  // another name by then, and so keeps its id.
  EBB_ASSIGN(const auto writers, Statuses(LaneName::Writers(file_.file_id)));
  EBB_ASSIGN(const auto ledgers, Ledgers());
  for (const auto& name : ledgers) {
    EBB_ASSIGN(const bool settled, IsSettled(name));
    if (!settled) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("a writer still appends to {}, in the lane of {}; close all writers, "
                              "and finish again",
                              path_, name.Ledger()));
    }
  }
  // First, so that no file of a writer tells a ledger that is gone.
  for (const auto& status : writers) {
    if (!LaneName::OfWriter(directory_, file_.file_id, status.name)) continue;
    EBB_TRY(files_.Remove(directory_ + status.name, false));
  }
  EBB_ASSIGN(const auto needed, ToldLanes());
  for (const auto& name : ledgers) {
    if (std::ranges::find(needed, name) != needed.end()) continue;
    EBB_TRY(files_.Remove(name.Ledger(), false));
  }
  return {};
}

Status LaneFiles::RefuseLostLedgers() const {
  EBB_ASSIGN(const auto blocks, Blocks());
  EBB_ASSIGN(const auto known, Ledgers());
  for (const auto& name : blocks) {
    if (std::ranges::find(known, name) != known.end()) continue;
    EBB_ASSIGN(const bool exists, Exists(name.Block()));
    if (!exists) continue;
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} may have records of {}, and its ledger {} is gone; restore the "
                            "ledger, or read the block and then delete it",
                            name.Block(), path_, name.Ledger()));
  }
  return {};
}

Result<LaneLedger> LaneFiles::ReadLedger(const LaneName& name) const {
  EBB_ASSIGN(const auto status, files_.Stat(name.Ledger()));
  if (!status) return Fail(ErrorCode::kIo, fmt::format("{} has no inode", name.Ledger()));
  auto bytes = ReadBytes(name.Ledger(), status->length);
  if (!bytes) {
    // Another attempt may succeed, whatever the reader of a file calls the error.
    return Fail(ErrorCode::kIo, fmt::format("the ledger {} cannot be read: {}", name.Ledger(),
                                            bytes.error().message));
  }
  return LaneLedger::Decode(*bytes);
}

Result<LaneLedger> LaneFiles::ReadSealedLedger(const LaneName& name,
                                               std::uint64_t sealed_bytes) const {
  EBB_ASSIGN(auto ledger, ReadLedger(name));
  const std::uint64_t known = ledger.WholeBytes(std::numeric_limits<std::uint64_t>::max());
  if (known >= sealed_bytes) return ledger;
  return Fail(ErrorCode::kIo,
              fmt::format("{} bytes of a lane are part of {}, and its ledger {} knows {} of them; "
                          "if that stays so, the ledger is damaged or all servers of it lost "
                          "power: look for the last records of the writer in the file",
                          sealed_bytes, path_, name.Ledger(), known));
}

Result<std::vector<std::byte>> LaneFiles::ReadBytes(const std::string& path,
                                                    std::uint64_t length) const {
  if (length > kMostLedgerBytes) {
    return Fail(ErrorCode::kCorrupt, fmt::format("it has {} bytes, and a ledger has {} at most",
                                                 length, kMostLedgerBytes));
  }
  EBB_ASSIGN(const auto in, files_.OpenFile(path));
  std::vector<std::byte> bytes(length);
  EBB_ASSIGN(const auto read, in->Read(bytes));
  if (in->length() == length && read == length) return bytes;
  return Fail(ErrorCode::kIo, fmt::format("{} of its {} bytes could be read, and its servers tell "
                                          "of {}",
                                          read, length, in->length()));
}

}  // namespace ebb::client
