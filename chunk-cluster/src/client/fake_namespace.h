// A namenode for tests of record appends: files with blocks, leases and attributes, in memory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ClientNamenodeProtocol.pb.h"
#include "common/error.h"
#include "rpc/address.h"
#include "rpc/server.h"
#include "xattr.pb.h"

namespace ebb::client::testing {

// A file of a FakeNamespace.
struct FakeFile {
  std::uint64_t id = 0;
  std::uint32_t mode = 0644;
  std::uint32_t flags = 0;
  std::uint32_t replication = 1;
  std::uint64_t block_bytes = 1 << 20;
  // Of the lease. Empty for a closed file.
  std::string holder = {};
  std::vector<hadoop::hdfs::LocatedBlockProto> blocks = {};
  // Those of the namespace USER.
  std::map<std::string, std::string> attributes = {};
  std::int64_t modified_millis = 1;
  // A client has cut the last block, and the lease is not recovered yet.
  bool cut = false;
  // The policy by which clients encode the file, if the id is not 0.
  std::uint32_t policy_id = 0;

  std::uint64_t length() const {
    std::uint64_t bytes = 0;
    for (const auto& block : blocks) bytes += block.b().numbytes();
    return bytes;
  }
};

// What a test sets is set before Start(), or under no call.
class FakeNamespace {
 public:
  explicit FakeNamespace(std::vector<hadoop::hdfs::DatanodeInfoProto> servers)
      : servers_(std::move(servers)), server_(RpcServerOptions{}) {
    ServeNames();
    ServeAttributes();
    ServeBlocks();
    ServeClosing();
  }

  RpcAddress Start() {
    server_.RegisterService("org.apache.hadoop.hdfs.protocol.ClientProtocol", 1, handlers_);
    EXPECT_TRUE(server_.Start());
    return {"127.0.0.1", server_.port()};
  }

  // Stops the writer of an open block and tells its length.
  std::function<std::uint64_t(std::uint64_t block_id)> recover = [](auto) { return 0; };
  // Directories besides "/".
  std::set<std::string> directories;
  std::set<std::string> snapshottable;
  // Entries in an answer to a listing.
  int most_listed = 1000;
  // Runs when a listing is answered that begins behind this name, and may change the files.
  std::function<void(const std::string& start_after, std::map<std::string, FakeFile>& files)>
      listed = [](const auto&, auto&) {};
  // Whether blocks name the storages of their servers.
  bool names_storages = true;

  // The next so many calls of a method end with an exception, and have no effect.
  void FailNext(const std::string& method, int count,
                const std::string& exception = "java.io.IOException") {
    const std::lock_guard lock(mutex_);
    failures_[method] = {count, exception};
  }
  // The next so many answers to complete and to recoverLease are false.
  void AnswerFalse(int completions, int recoveries) {
    const std::lock_guard lock(mutex_);
    incomplete_ = completions;
    unrecovered_ = recoveries;
  }

  // An empty file without an inode if there is no such file.
  FakeFile Get(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const auto at = files_.find(path);
    return at == files_.end() ? FakeFile() : at->second;
  }
  void Put(const std::string& path, FakeFile file) {
    const std::lock_guard lock(mutex_);
    if (file.id == 0) file.id = next_id_++;
    files_[path] = std::move(file);
  }
  // The names whose path begins with `prefix`.
  std::vector<std::string> Names(const std::string& prefix = "/") {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [path, file] : files_) {
      if (path.starts_with(prefix)) names.push_back(path);
    }
    return names;
  }
  // How many calls of a method there were, those that failed included.
  int Calls(const std::string& method) {
    const std::lock_guard lock(mutex_);
    return calls_[method];
  }
  // The holders whose leases were renewed.
  std::set<std::string> Renewed() {
    const std::lock_guard lock(mutex_);
    return renewed_;
  }
  void ForgetRenewed() {
    const std::lock_guard lock(mutex_);
    renewed_.clear();
  }
  // The requests for blocks.
  std::vector<hadoop::hdfs::AddBlockRequestProto> Additions() {
    const std::lock_guard lock(mutex_);
    return additions_;
  }

 private:
  struct Failures {
    int count = 0;
    std::string exception;
  };

  static std::unexpected<Error> Throw(const std::string& exception, const std::string& message) {
    return std::unexpected(Error{ErrorCode::kRemote, message, exception});
  }
  static std::unexpected<Error> ThrowIo(const std::string& message) {
    return Throw("java.io.IOException", message);
  }

  template <typename Request, typename Response>
  void On(const char* method, std::function<Status(const Request&, Response&)> run) {
    handlers_[method] = MakeRpcHandler<Request>(
        [this, run, name = std::string(method)](const RpcCaller&,
                                                const Request& request) -> Result<Response> {
          const std::lock_guard lock(mutex_);
          ++calls_[name];
          auto& failures = failures_[name];
          if (failures.count > 0) {
            --failures.count;
            return Throw(failures.exception, "as ordered");
          }
          Response response;
          EBB_TRY(run(request, response));
          return response;
        });
  }

  Result<FakeFile*> Find(const std::string& path) {
    const auto at = files_.find(path);
    if (at != files_.end()) return &at->second;
    return Throw("java.io.FileNotFoundException", path + " does not exist");
  }
  // An open file whose lease the client holds.
  Result<FakeFile*> FindOpen(const std::string& path, const std::string& client) {
    EBB_ASSIGN(auto* const file, Find(path));
    if (!file->holder.empty() && file->holder == client) return file;
    return Throw("org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException",
                 path + " has the holder '" + file->holder + "', and not " + client);
  }
  bool IsDirectory(const std::string& path) const {
    return path == "/" || directories.contains(path);
  }

  hadoop::hdfs::HdfsFileStatusProto StatusOf(const std::string& name,
                                             const FakeFile& file) const {
    hadoop::hdfs::HdfsFileStatusProto status;
    status.set_filetype(hadoop::hdfs::HdfsFileStatusProto::IS_FILE);
    status.set_path(name);
    status.set_length(file.length());
    status.mutable_permission()->set_perm(file.mode);
    status.set_owner("o");
    status.set_group("g");
    status.set_modification_time(static_cast<std::uint64_t>(file.modified_millis));
    status.set_access_time(1);
    status.set_blocksize(file.block_bytes);
    status.set_block_replication(file.replication);
    status.set_fileid(file.id);
    if (file.policy_id != 0) {
      auto& policy = *status.mutable_ecpolicy();
      policy.set_id(file.policy_id);
      policy.set_name("");
      policy.set_cellsize(1);
      policy.mutable_schema()->set_codecname("rs");
      policy.mutable_schema()->set_dataunits(6);
      policy.mutable_schema()->set_parityunits(3);
    }
    return status;
  }
  hadoop::hdfs::HdfsFileStatusProto StatusOfDirectory(const std::string& path) const {
    auto status = StatusOf("", FakeFile());
    status.set_filetype(hadoop::hdfs::HdfsFileStatusProto::IS_DIR);
    if (snapshottable.contains(path)) {
      status.set_flags(hadoop::hdfs::HdfsFileStatusProto::SNAPSHOT_ENABLED);
    }
    return status;
  }

  void ServeNames() {
    using namespace hadoop::hdfs;
    On<CreateRequestProto, CreateResponseProto>(
        "create", [this](const auto& request, auto& answer) -> ebb::Status {
          if (files_.contains(request.src())) {
            return Throw("org.apache.hadoop.fs.FileAlreadyExistsException", request.src());
          }
          auto& file = files_[request.src()];
          file.id = next_id_++;
          file.mode = request.masked().perm();
          file.flags = request.createflag();
          file.replication = request.replication();
          file.block_bytes = request.blocksize();
          file.holder = request.clientname();
          *answer.mutable_fs() = StatusOf("", file);
          return {};
        });
    On<GetFileInfoRequestProto, GetFileInfoResponseProto>(
        "getFileInfo", [this](const auto& request, auto& answer) -> ebb::Status {
          if (IsDirectory(request.src())) *answer.mutable_fs() = StatusOfDirectory(request.src());
          const auto at = files_.find(request.src());
          if (at != files_.end()) *answer.mutable_fs() = StatusOf("", at->second);
          return {};
        });
    On<GetListingRequestProto, GetListingResponseProto>(
        "getListing", [this](const auto& request, auto& answer) -> ebb::Status {
          if (!IsDirectory(request.src())) return {};
          const std::string directory = request.src() == "/" ? "/" : request.src() + "/";
          auto& list = *answer.mutable_dirlist();
          list.set_remainingentries(0);
          for (const auto& [path, file] : files_) {
            if (!path.starts_with(directory)) continue;
            const auto name = path.substr(directory.size());
            if (name.contains('/') || name <= request.startafter()) continue;
            if (list.partiallisting_size() < most_listed) {
              *list.add_partiallisting() = StatusOf(name, file);
            } else {
              list.set_remainingentries(list.remainingentries() + 1);
            }
          }
          listed(request.startafter(), files_);
          return {};
        });
    On<DeleteRequestProto, DeleteResponseProto>(
        "delete", [this](const auto& request, auto& answer) -> ebb::Status {
          answer.set_result(files_.erase(request.src()) > 0);
          return {};
        });
    On<RenewLeaseRequestProto, RenewLeaseResponseProto>(
        "renewLease", [this](const auto& request, auto&) -> ebb::Status {
          renewed_.insert(request.clientname());
          return {};
        });
  }

  void ServeAttributes() {
    using namespace hadoop::hdfs;
    On<GetXAttrsRequestProto, GetXAttrsResponseProto>(
        "getXAttrs", [this](const auto& request, auto& answer) -> ebb::Status {
          EBB_ASSIGN(const auto* const file, Find(request.src()));
          for (const auto& [name, value] : file->attributes) {
            auto& attribute = *answer.add_xattrs();
            attribute.set_namespace_(XAttrProto::USER);
            attribute.set_name(name);
            attribute.set_value(value);
          }
          return {};
        });
    On<SetXAttrRequestProto, SetXAttrResponseProto>(
        "setXAttr", [this](const auto& request, auto&) -> ebb::Status {
          EBB_ASSIGN(auto* const file, Find(request.src()));
          if (request.flag() == XATTR_CREATE &&
              file->attributes.contains(request.xattr().name())) {
            return ThrowIo("the attribute is there already");
          }
          file->attributes[request.xattr().name()] = request.xattr().value();
          return {};
        });
  }

  void ServeBlocks() {
    using namespace hadoop::hdfs;
    On<AddBlockRequestProto, AddBlockResponseProto>(
        "addBlock", [this](const auto& request, auto& answer) -> ebb::Status {
          additions_.push_back(request);
          EBB_ASSIGN(auto* const file, FindOpen(request.src(), request.clientname()));
          auto block = NewBlock(*file, request);
          if (block.locs().empty()) return ThrowIo("no server is left for " + request.src());
          file->blocks.push_back(block);
          *answer.mutable_block() = std::move(block);
          return {};
        });
    On<AbandonBlockRequestProto, AbandonBlockResponseProto>(
        "abandonBlock", [this](const auto& request, auto&) -> ebb::Status {
          EBB_ASSIGN(auto* const file, FindOpen(request.src(), request.holder()));
          std::erase_if(file->blocks, [&](const auto& block) {
            return block.b().blockid() == request.b().blockid();
          });
          return {};
        });
    On<GetBlockLocationsRequestProto, GetBlockLocationsResponseProto>(
        "getBlockLocations", [this](const auto& request, auto& answer) -> ebb::Status {
          EBB_ASSIGN(const auto* const file, Find(request.src()));
          auto& located = *answer.mutable_locations();
          std::uint64_t offset = 0;
          for (const auto& block : file->blocks) {
            auto& added = *located.add_blocks();
            added = block;
            added.set_offset(offset);
            offset += block.b().numbytes();
          }
          located.set_filelength(offset);
          located.set_underconstruction(!file->holder.empty());
          located.set_islastblockcomplete(file->holder.empty());
          return {};
        });
  }

  hadoop::hdfs::LocatedBlockProto NewBlock(const FakeFile& file,
                                           const hadoop::hdfs::AddBlockRequestProto& request) {
    hadoop::hdfs::LocatedBlockProto block;
    block.mutable_b()->set_poolid("BP-1");
    block.mutable_b()->set_blockid(next_block_++);
    block.mutable_b()->set_generationstamp(1001);
    block.mutable_b()->set_numbytes(0);
    for (const auto& server : servers_) {
      const auto is_server = [&](const auto& one) {
        return one.id().datanodeuuid() == server.id().datanodeuuid();
      };
      if (std::ranges::any_of(request.excludenodes(), is_server)) continue;
      if (block.locs_size() == static_cast<int>(file.replication)) continue;
      *block.add_locs() = server;
      block.add_storagetypes(hadoop::hdfs::DISK);
      if (names_storages) block.add_storageids("storage-" + server.id().datanodeuuid());
    }
    block.set_offset(0);
    block.set_corrupt(false);
    auto& token = *block.mutable_blocktoken();
    token.set_identifier("");
    token.set_password("");
    token.set_kind("");
    token.set_service("");
    return block;
  }

  void ServeClosing() {
    using namespace hadoop::hdfs;
    On<CompleteRequestProto, CompleteResponseProto>(
        "complete", [this](const auto& request, auto& answer) -> ebb::Status {
          answer.set_result(false);
          if (incomplete_ > 0) {
            --incomplete_;
            return {};
          }
          EBB_ASSIGN(const auto* const known, Find(request.src()));
          answer.set_result(true);
          // Another writer may have closed the file with the same length.
          if (known->holder.empty() && known->length() == request.last().numbytes()) return {};
          EBB_ASSIGN(auto* const file, FindOpen(request.src(), request.clientname()));
          if (request.has_last()) {
            file->blocks.back().mutable_b()->set_numbytes(request.last().numbytes());
          }
          file->holder.clear();
          return {};
        });
    On<RecoverLeaseRequestProto, RecoverLeaseResponseProto>(
        "recoverLease", [this](const auto& request, auto& answer) -> ebb::Status {
          EBB_ASSIGN(auto* const file, Find(request.src()));
          answer.set_result(false);
          if (unrecovered_ > 0) {
            --unrecovered_;
            return {};
          }
          if (!file->holder.empty() && !file->cut && !file->blocks.empty()) {
            auto& last = *file->blocks.back().mutable_b();
            last.set_numbytes(recover(last.blockid()));
          }
          file->holder.clear();
          file->cut = false;
          answer.set_result(true);
          return {};
        });
    On<TruncateRequestProto, TruncateResponseProto>(
        "truncate", [this](const auto& request, auto& answer) -> ebb::Status {
          EBB_ASSIGN(auto* const file, Find(request.src()));
          if (!file->holder.empty()) return ThrowIo(request.src() + " is open");
          file->blocks.back().mutable_b()->set_numbytes(request.newlength());
          file->holder = request.clientname();
          file->cut = true;
          answer.set_result(false);
          return {};
        });
    On<ConcatRequestProto, ConcatResponseProto>(
        "concat", [this](const auto& request, auto&) -> ebb::Status {
          EBB_ASSIGN(auto* const target, Find(request.trg()));
          for (const auto& source : request.srcs()) {
            EBB_ASSIGN(const auto* const file, Find(source));
            if (!file->holder.empty()) return ThrowIo(source + " is open");
            target->blocks.insert(target->blocks.end(), file->blocks.begin(), file->blocks.end());
            files_.erase(source);
          }
          return {};
        });
  }

  const std::vector<hadoop::hdfs::DatanodeInfoProto> servers_;
  RpcHandlers handlers_;
  std::mutex mutex_;
  std::map<std::string, FakeFile> files_;
  std::map<std::string, Failures> failures_;
  std::map<std::string, int> calls_;
  std::set<std::string> renewed_;
  std::vector<hadoop::hdfs::AddBlockRequestProto> additions_;
  int incomplete_ = 0;
  int unrecovered_ = 0;
  std::uint64_t next_id_ = 17;
  std::uint64_t next_block_ = 101;
  // The last member: its threads use the others.
  RpcServer server_;
};

}  // namespace ebb::client::testing
