#include "client/file_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ebb::client {

using namespace hadoop::hdfs;
using ebb::Status;

namespace {

constexpr std::uint32_t kCreate = 1;
constexpr std::uint32_t kOverwrite = 2;
constexpr std::uint32_t kAppend = 4;
// A day: a longer time says that nobody else changes anything.
constexpr std::int64_t kMostKeptMillis = 24 * 3600 * 1000;
constexpr std::uint32_t kShouldReplicate = 128;
constexpr char kUnknownEncryption[] =
    "org.apache.hadoop.hdfs.UnknownCryptoProtocolVersionException";

Result<std::uint32_t> ParseUmask(const std::string& text) {
  std::size_t used = 0;
  unsigned long value = 01000;
  if (!text.empty() && text.find_first_not_of("01234567") == std::string::npos &&
      text.size() <= 4) {
    value = std::stoul(text, &used, 8);
  }
  if (value > 0777) {
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format("fs.permissions.umask-mode is '{}'; write an octal number such as 022", text));
  }
  return static_cast<std::uint32_t>(value);
}

}  // namespace

FileSystem::FileSystem(Configuration configuration, std::string authority,
                       const std::vector<RpcAddress>& namenodes, const RetryPolicy& policy,
                       std::string user, const Authentication& authentication)
    : configuration_(std::move(configuration)),
      authority_(std::move(authority)),
      namenode_(namenodes, policy, std::move(user), authentication),
      leases_(namenode_),
      planner_(namenodes, namenode_.user(), authentication) {}

FileSystem::~FileSystem() = default;

Result<std::unique_ptr<FileSystem>> FileSystem::Open(const Configuration& configuration,
                                                     const std::string& authority,
                                                     const std::string& user,
                                                     std::shared_ptr<Authenticator> authenticator) {
  const auto security = configuration.Get("hadoop.security.authentication", "simple");
  if (security != "simple" && !authenticator) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("hadoop.security.authentication is '{}', and this program brings no "
                            "authenticator, without which the client speaks 'simple' only: use "
                            "'hdfs dfs' for this cluster",
                            security));
  }
  const Authentication authentication{
      std::move(authenticator),
      configuration.Flag("ipc.client.fallback-to-simple-auth-allowed", false)};
  EBB_ASSIGN(const auto namenodes, NamenodesOf(configuration, authority));
  EBB_ASSIGN(const auto policy, RetryPolicyOf(configuration, namenodes.size()));
  std::unique_ptr<FileSystem> opened(
      new FileSystem(configuration, authority, namenodes, policy, user, authentication));
  EBB_TRY(opened->ReadSettings());
  return opened;
}

Status FileSystem::ReadSettings() {
  EBB_ASSIGN(const auto block, configuration_.Number("dfs.blocksize", kDefaultBlockBytes, 1));
  EBB_ASSIGN(const auto copies, configuration_.Number("dfs.replication", 3, 1));
  EBB_ASSIGN(umask_, ParseUmask(configuration_.Get("fs.permissions.umask-mode", "022")));
  EBB_ASSIGN(write_options_, WriteOptionsOf(configuration_));
  EBB_ASSIGN(const auto kept, configuration_.Number("ebbfs.client.status.cache.millis", 0));
  statuses_ = std::make_unique<StatusCache>(Timeout(std::min(kept, kMostKeptMillis)));
  write_options_.changed = [this](const std::string& path) { statuses_->Forget(path); };
  block_bytes_ = static_cast<std::uint64_t>(block);
  replication_ = static_cast<std::uint32_t>(copies);
  return {};
}

Result<std::optional<FileStatus>> FileSystem::Stat(const std::string& path) {
  GetFileInfoRequestProto request;
  request.set_src(path);
  const auto question = statuses_->Ask();
  EBB_ASSIGN(const auto answer, namenode_.Ask<GetFileInfoResponseProto>("getFileInfo", request));
  if (!answer.has_fs()) {
    statuses_->Forget(path);
    return std::nullopt;
  }
  FileStatus status = ToFileStatus(answer.fs());
  statuses_->Keep(question, path, status);
  return status;
}

Result<std::optional<FileStatus>> FileSystem::CachedStat(const std::string& path) {
  if (auto kept = statuses_->Find(path)) return kept;
  return Stat(path);
}

Status FileSystem::List(const std::string& path,
                        const std::function<bool(std::vector<FileStatus>&)>& visit) {
  for (std::string after;;) {
    EBB_ASSIGN(auto listing, ListAfter(path, after));
    if (listing.more) after = listing.entries.back().name;
    if (!visit(listing.entries) || !listing.more) return {};
  }
}

Result<Listing> FileSystem::ListAfter(const std::string& path, const std::string& after) {
  GetListingRequestProto request;
  request.set_src(path);
  request.set_needlocation(false);
  request.set_startafter(after);
  EBB_ASSIGN(const auto answer, namenode_.Ask<GetListingResponseProto>("getListing", request));
  if (!answer.has_dirlist()) {
    return Fail(ErrorCode::kNotFound, fmt::format("{} does not exist", path));
  }
  Listing listing;
  for (const auto& entry : answer.dirlist().partiallisting()) {
    listing.entries.push_back(ToFileStatus(entry));
  }
  listing.more = answer.dirlist().remainingentries() > 0 && !listing.entries.empty();
  return listing;
}

Status FileSystem::MakeDirectory(const std::string& path, bool parents, std::uint32_t mode) {
  MkdirsRequestProto request;
  request.set_src(path);
  request.set_createparent(parents);
  request.mutable_masked()->set_perm(mode & ~umask_);
  request.mutable_unmasked()->set_perm(mode);
  EBB_ASSIGN(const auto answer,
             ChangedName(path, namenode_.Ask<MkdirsResponseProto>("mkdirs", request)));
  if (answer.result()) return {};
  return Fail(ErrorCode::kInvalid, fmt::format("{} was not created", path));
}

Result<bool> FileSystem::Remove(const std::string& path, bool recursive) {
  DeleteRequestProto request;
  request.set_src(path);
  request.set_recursive(recursive);
  EBB_ASSIGN(const auto answer,
             ChangedName(path, namenode_.Ask<DeleteResponseProto>("delete", request)));
  return answer.result();
}

Result<bool> FileSystem::RenameOld(const std::string& from, const std::string& to) {
  RenameRequestProto request;
  request.set_src(from);
  request.set_dst(to);
  auto renamed = namenode_.Ask<RenameResponseProto>("rename", request);
  EBB_ASSIGN(const auto answer, ChangedName(from, ChangedName(to, std::move(renamed))));
  return answer.result();
}

Status FileSystem::Rename(const std::string& from, const std::string& to, bool overwrite,
                          bool to_trash) {
  Rename2RequestProto request;
  request.set_src(from);
  request.set_dst(to);
  request.set_overwritedest(overwrite);
  if (to_trash) request.set_movetotrash(true);
  Rename2ResponseProto response;
  return ChangedName(from, ChangedName(to, namenode_.Call("rename2", request, response)));
}

Result<ContentSummaryProto> FileSystem::ContentSummary(const std::string& path) {
  GetContentSummaryRequestProto request;
  request.set_path(path);
  EBB_ASSIGN(auto answer,
             namenode_.Ask<GetContentSummaryResponseProto>("getContentSummary", request));
  return std::move(*answer.mutable_summary());
}

Result<QuotaUsageProto> FileSystem::QuotaUsage(const std::string& path) {
  GetQuotaUsageRequestProto request;
  request.set_path(path);
  EBB_ASSIGN(auto answer, namenode_.Ask<GetQuotaUsageResponseProto>("getQuotaUsage", request));
  return std::move(*answer.mutable_usage());
}

Result<GetFsStatsResponseProto> FileSystem::Capacity() {
  return namenode_.Ask<GetFsStatsResponseProto>("getFsStats", GetFsStatusRequestProto());
}

Result<FsServerDefaultsProto> FileSystem::ServerDefaults() {
  EBB_ASSIGN(auto answer, namenode_.Ask<GetServerDefaultsResponseProto>(
                              "getServerDefaults", GetServerDefaultsRequestProto()));
  return std::move(*answer.mutable_serverdefaults());
}

Result<LocatedBlocksProto> FileSystem::Blocks(const std::string& path, std::uint64_t offset,
                                              std::uint64_t length) {
  GetBlockLocationsRequestProto request;
  request.set_src(path);
  request.set_offset(offset);
  request.set_length(length);
  EBB_ASSIGN(auto answer,
             namenode_.Ask<GetBlockLocationsResponseProto>("getBlockLocations", request));
  if (!answer.has_locations()) {
    return Fail(ErrorCode::kNotFound, fmt::format("{} does not exist", path));
  }
  return std::move(*answer.mutable_locations());
}

Result<std::unique_ptr<InputStream>> FileSystem::OpenFile(const std::string& path) {
  EBB_ASSIGN(auto options, ReadOptionsOf(configuration_));
  options.planner = &planner_;
  options.idle = &idle_;
  return InputStream::Open(namenode_, path, options);
}

Result<std::unique_ptr<OutputStream>> FileSystem::Create(const std::string& path,
                                                         const CreateOptions& options) {
  CreateRequestProto request;
  request.set_src(path);
  request.mutable_masked()->set_perm(options.mode & ~umask_);
  request.mutable_unmasked()->set_perm(options.mode);
  request.set_clientname(leases_.client_name());
  request.set_createflag(kCreate | (options.overwrite ? kOverwrite : 0) |
                         (options.replicated ? kShouldReplicate : 0));
  request.set_createparent(options.make_parents);
  request.set_replication(options.replication != 0 ? options.replication : replication_);
  request.set_blocksize(options.block_bytes != 0 ? options.block_bytes : block_bytes_);
  // Without a version of encryption, so that a namenode refuses a file of an encryption zone before
  // it makes one.
  const auto answer = ChangedName(path, namenode_.Ask<CreateResponseProto>("create", request));
  if (!answer && answer.error().exception_class == kUnknownEncryption) {
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format("clients encrypt {}, which this client cannot do; use 'hdfs dfs'", path));
  }
  if (!answer) return std::unexpected(answer.error());
  return OutputStream::Start(namenode_, leases_, path, ToFileStatus(answer->fs()), {},
                             write_options_);
}

Status FileSystem::CheckWritableAt(const std::string& path) {
  for (std::string at = path; at != "/";) {
    at.resize(std::max<std::size_t>(at.rfind('/'), 1));
    EBB_ASSIGN(const auto parent, Stat(at));
    if (parent) return CheckWritable(path, *parent);
  }
  return {};
}

Result<std::unique_ptr<OutputStream>> FileSystem::Append(const std::string& path) {
  EBB_ASSIGN(const auto present, Stat(path));
  // After the call the file would stay open until its lease expires.
  if (present) EBB_TRY(CheckWritable(path, *present));
  AppendRequestProto request;
  request.set_src(path);
  request.set_clientname(leases_.client_name());
  request.set_flag(kAppend);
  EBB_ASSIGN(const auto answer,
             Changed(path, namenode_.Ask<AppendResponseProto>("append", request)));
  std::optional<LocatedBlockProto> last;
  if (answer.has_block()) last = answer.block();
  auto stream = OutputStream::Start(namenode_, leases_, path, ToFileStatus(answer.stat()), last,
                                    write_options_);
  // The namenode has opened the file, and this client renews its lease for ever.
  if (!stream) (void)RecoverLease(path);
  return stream;
}

Result<bool> FileSystem::RecoverLease(const std::string& path) {
  RecoverLeaseRequestProto request;
  request.set_src(path);
  request.set_clientname(leases_.client_name());
  EBB_ASSIGN(const auto answer,
             Changed(path, namenode_.Ask<RecoverLeaseResponseProto>("recoverLease", request)));
  return answer.result();
}

Status FileSystem::Concat(const std::string& path, const std::vector<std::string>& sources) {
  ConcatRequestProto request;
  request.set_trg(path);
  for (const auto& source : sources) request.add_srcs(source);
  ConcatResponseProto response;
  auto status = ChangedName(path, namenode_.Call("concat", request, response));
  for (const auto& source : sources) statuses_->ForgetName(source);
  return status;
}

Result<bool> FileSystem::Truncate(const std::string& path, std::uint64_t length) {
  TruncateRequestProto request;
  request.set_src(path);
  request.set_newlength(length);
  request.set_clientname(leases_.client_name());
  EBB_ASSIGN(const auto answer,
             Changed(path, namenode_.Ask<TruncateResponseProto>("truncate", request)));
  return answer.result();
}

}  // namespace ebb::client
