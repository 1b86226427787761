// A file system of HDFS's protocols: names, attributes, and the streams of files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ClientNamenodeProtocol.pb.h"
#include "acl.pb.h"
#include "client/configuration.h"
#include "client/file_status.h"
#include "client/input_stream.h"
#include "client/lease_renewer.h"
#include "client/namenode_connection.h"
#include "client/output_stream.h"
#include "client/read_planner.h"
#include "client/status_cache.h"
#include "rpc/authenticator.h"
#include "transfer/idle_sockets.h"
#include "xattr.pb.h"

namespace ebb::client {

// Some entries of a directory, in the order of names.
struct Listing {
  std::vector<FileStatus> entries;
  // Others follow.
  bool more = false;
};

struct CreateOptions {
  bool overwrite = false;
  bool make_parents = true;
  // 0: as the configuration says.
  std::uint32_t replication = 0;
  std::uint64_t block_bytes = 0;
  std::uint32_t mode = 0666;
  // The file has replicas also below a directory with an erasure coding policy.
  bool replicated = false;
};

// Thread-safe. All paths are absolute. No answer of a namenode is cached, except for CachedStat().
// Errors: kRemote with the class of the exception, or that of NamenodeConnection.
class FileSystem {
 public:
  // Connects with the first call. kInvalid for a configuration that cannot work, and kUnsupported
  // for one that asks for Kerberos, unless the program brings an authenticator. With it, namenodes
  // know the user whom they have authenticated, and `user` names the home directory only.
  [[nodiscard]] static Result<std::unique_ptr<FileSystem>> Open(
      const Configuration& configuration, const std::string& authority,
      const std::string& user = CurrentUser(),
      std::shared_ptr<Authenticator> authenticator = nullptr);
  // Stops renewing leases. Streams must be gone.
  ~FileSystem();

  // Nothing if the path does not exist.
  [[nodiscard]] Result<std::optional<FileStatus>> Stat(const std::string& path);
  // The same, or a status that was asked for at most ebbfs.client.status.cache.millis ago; without
  // this setting the namenode is asked. What this file system changes, and what its streams write,
  // is seen at once; what others change may be missing for that long. docs/client.md tells more.
  [[nodiscard]] Result<std::optional<FileStatus>> CachedStat(const std::string& path);
  // Calls `visit` with each batch of entries of a directory, or with the file itself, in the order
  // of names. A false from `visit` ends the listing. kNotFound if the path does not exist.
  [[nodiscard]] Status List(const std::string& path,
                            const std::function<bool(std::vector<FileStatus>&)>& visit);
  // One batch of the same, from the first name behind `after` on. The namenode bounds its size.
  [[nodiscard]] Result<Listing> ListAfter(const std::string& path, const std::string& after);

  // `mode` without the bits of the configured umask. False if the namenode made nothing.
  [[nodiscard]] Status MakeDirectory(const std::string& path, bool parents,
                                     std::uint32_t mode = 0777);
  // False if the path does not exist.
  [[nodiscard]] Result<bool> Remove(const std::string& path, bool recursive);
  // False if the namenode refuses without an exception, as it does for most mistakes.
  [[nodiscard]] Result<bool> RenameOld(const std::string& from, const std::string& to);
  [[nodiscard]] Status Rename(const std::string& from, const std::string& to, bool overwrite,
                              bool to_trash = false);
  [[nodiscard]] Status SetMode(const std::string& path, std::uint32_t mode);
  // An empty name keeps what is there.
  [[nodiscard]] Status SetOwner(const std::string& path, const std::string& owner,
                                const std::string& group);
  // -1 keeps a time.
  [[nodiscard]] Status SetTimes(const std::string& path, std::int64_t modified_millis,
                                std::int64_t accessed_millis);
  [[nodiscard]] Result<bool> SetReplication(const std::string& path, std::uint32_t replication);

  [[nodiscard]] Result<hadoop::hdfs::ContentSummaryProto> ContentSummary(const std::string& path);
  [[nodiscard]] Result<hadoop::hdfs::QuotaUsageProto> QuotaUsage(const std::string& path);
  [[nodiscard]] Result<hadoop::hdfs::GetFsStatsResponseProto> Capacity();
  [[nodiscard]] Result<hadoop::hdfs::FsServerDefaultsProto> ServerDefaults();
  [[nodiscard]] Result<hadoop::hdfs::LocatedBlocksProto> Blocks(const std::string& path,
                                                                std::uint64_t offset,
                                                                std::uint64_t length);

  // Names without a prefix: the namespace is apart. All attributes, if `names` is empty.
  [[nodiscard]] Result<std::vector<hadoop::hdfs::XAttrProto>> XAttrs(
      const std::string& path, const std::vector<hadoop::hdfs::XAttrProto>& names);
  // Creates or replaces, unless only one of the two is allowed.
  enum class XAttrChange : std::uint32_t { kCreate = 1, kReplace = 2, kBoth = 3 };
  [[nodiscard]] Status SetXAttr(const std::string& path, const hadoop::hdfs::XAttrProto& attribute,
                                XAttrChange change = XAttrChange::kBoth);
  [[nodiscard]] Status RemoveXAttr(const std::string& path,
                                   const hadoop::hdfs::XAttrProto& attribute);
  [[nodiscard]] Result<hadoop::hdfs::AclStatusProto> Acl(const std::string& path);
  using AclEntries = std::vector<hadoop::hdfs::AclEntryProto>;
  // Adds entries, or gives those that are there new rights.
  [[nodiscard]] Status ModifyAcl(const std::string& path, const AclEntries& entries);
  [[nodiscard]] Status RemoveAclEntries(const std::string& path, const AclEntries& entries);
  // Replaces all entries.
  [[nodiscard]] Status SetAcl(const std::string& path, const AclEntries& entries);
  // Keeps the entries that the mode of the file stands for.
  [[nodiscard]] Status RemoveAcl(const std::string& path);
  [[nodiscard]] Status RemoveDefaultAcl(const std::string& path);

  [[nodiscard]] Result<std::unique_ptr<InputStream>> OpenFile(const std::string& path);
  // A file that CheckWritableAt refuses can be made, but not written.
  [[nodiscard]] Result<std::unique_ptr<OutputStream>> Create(const std::string& path,
                                                             const CreateOptions& options);
  // kUnsupported if clients encrypt a file that is made at this path, or encode it by an unknown
  // codec.
  [[nodiscard]] Status CheckWritableAt(const std::string& path);
  // Namenodes refuse it for files that clients encode.
  [[nodiscard]] Result<std::unique_ptr<OutputStream>> Append(const std::string& path);

  // Takes the lease of an open file away from whoever holds it, so that the namenode closes the
  // file. True if it is closed already.
  [[nodiscard]] Result<bool> RecoverLease(const std::string& path);

  // Moves the blocks of the sources to the end of a file; the sources are gone then.
  [[nodiscard]] Status Concat(const std::string& path, const std::vector<std::string>& sources);
  // False if a block must be cut first: the file has its new length as soon as that is done.
  [[nodiscard]] Result<bool> Truncate(const std::string& path, std::uint64_t length);

  [[nodiscard]] NamenodeConnection& namenode() { return namenode_; }
  [[nodiscard]] LeaseRenewer& leases() { return leases_; }
  // The holder of the leases of this client's files. No other client has this name.
  [[nodiscard]] const std::string& client_name() const { return leases_.client_name(); }
  [[nodiscard]] const Configuration& configuration() const { return configuration_; }
  // "hdfs://AUTHORITY".
  [[nodiscard]] std::string uri() const { return "hdfs://" + authority_; }
  [[nodiscard]] std::uint64_t block_bytes() const { return block_bytes_; }

 private:
  FileSystem(Configuration configuration, std::string authority,
             const std::vector<RpcAddress>& namenodes, const RetryPolicy& policy, std::string user,
             const Authentication& authentication);
  [[nodiscard]] Status ReadSettings();
  // Passes on the outcome of a call that changes what is at the path. Also a call that failed may
  // have taken effect.
  template <typename Outcome>
  [[nodiscard]] Outcome Changed(const std::string& path, Outcome outcome) {
    statuses_->Forget(path);
    return outcome;
  }
  // The same for a call that makes or takes away names at the path.
  template <typename Outcome>
  [[nodiscard]] Outcome ChangedName(const std::string& path, Outcome outcome) {
    statuses_->ForgetName(path);
    return outcome;
  }

  const Configuration configuration_;
  const std::string authority_;
  std::uint64_t block_bytes_ = 0;
  std::uint32_t replication_ = 0;
  std::uint32_t umask_ = 0;
  std::unique_ptr<StatusCache> statuses_;
  WriteOptions write_options_;
  NamenodeConnection namenode_;
  LeaseRenewer leases_;
  ReadPlanner planner_;
  transfer::IdleSockets idle_;
};

}  // namespace ebb::client
