#include "metadata_load/calls.h"

#include <google/protobuf/message_lite.h>

#include "ClientNamenodeProtocol.pb.h"
#include "ProtobufRpcEngine2.pb.h"
#include "metadata_load/protocol.h"
#include "rpc/wire.h"

namespace ebb::metadata_load {

namespace {

namespace hdfs = hadoop::hdfs;

constexpr std::uint64_t kOpenedBytes = 10 * kDefaultBlockBytes;
constexpr std::uint32_t kFileMode = 0644;
constexpr std::uint32_t kDirectoryMode = 0755;

Call Encode(const std::string& method, const google::protobuf::MessageLite& request) {
  hadoop::common::RequestHeaderProto header;
  header.set_methodname(method);
  header.set_declaringclassprotocolname(std::string(kClientProtocol));
  header.set_clientprotocolversion(1);
  Call call;
  rpc_wire::AppendDelimited(call.bytes, header);
  rpc_wire::AppendDelimited(call.bytes, request);
  return call;
}

Call EncodeCreate(const std::string& path, const std::string& client, std::uint32_t replication,
                  std::uint64_t block_bytes) {
  hdfs::CreateRequestProto request;
  request.set_src(path);
  request.mutable_masked()->set_perm(kFileMode);
  request.set_clientname(client);
  request.set_createflag(hdfs::CREATE | hdfs::OVERWRITE);
  request.set_createparent(true);
  request.set_replication(replication);
  request.set_blocksize(block_bytes);
  request.add_cryptoprotocolversion(hdfs::ENCRYPTION_ZONES);
  return Encode("create", request);
}

}  // namespace

Call GetFileInfo(const std::string& path) {
  hdfs::GetFileInfoRequestProto request;
  request.set_src(path);
  return Encode("getFileInfo", request);
}

Call GetBlockLocations(const std::string& path) {
  hdfs::GetBlockLocationsRequestProto request;
  request.set_src(path);
  request.set_offset(0);
  request.set_length(kOpenedBytes);
  return Encode("getBlockLocations", request);
}

Call GetListing(const std::string& path) {
  hdfs::GetListingRequestProto request;
  request.set_src(path);
  request.set_startafter("");
  request.set_needlocation(false);
  return Encode("getListing", request);
}

Call Mkdirs(const std::string& path) {
  hdfs::MkdirsRequestProto request;
  request.set_src(path);
  request.mutable_masked()->set_perm(kDirectoryMode);
  request.set_createparent(true);
  return Encode("mkdirs", request);
}

Call Create(const std::string& path, const std::string& client) {
  return EncodeCreate(path, client, kDefaultReplication, kDefaultBlockBytes);
}

Call CreateSmall(const std::string& path, const std::string& client, std::uint32_t replication) {
  return EncodeCreate(path, client, replication, kLeastBlockBytes);
}

Call Complete(const std::string& path, const std::string& client, std::uint64_t file_id) {
  hdfs::CompleteRequestProto request;
  request.set_src(path);
  request.set_clientname(client);
  request.set_fileid(file_id);
  return Encode("complete", request);
}

Call AddBlock(const std::string& path, const std::string& client, std::uint64_t file_id) {
  hdfs::AddBlockRequestProto request;
  request.set_src(path);
  request.set_clientname(client);
  request.set_fileid(file_id);
  return Encode("addBlock", request);
}

Call CompleteWithBlock(const std::string& path, const std::string& client, std::uint64_t file_id,
                       const hdfs::ExtendedBlockProto& last) {
  hdfs::CompleteRequestProto request;
  request.set_src(path);
  request.set_clientname(client);
  request.set_fileid(file_id);
  *request.mutable_last() = last;
  return Encode("complete", request);
}

Call Rename2(const std::string& from, const std::string& to) {
  hdfs::Rename2RequestProto request;
  request.set_src(from);
  request.set_dst(to);
  request.set_overwritedest(false);
  return Encode("rename2", request);
}

Call Delete(const std::string& path, bool recursive) {
  hdfs::DeleteRequestProto request;
  request.set_src(path);
  request.set_recursive(recursive);
  return Encode("delete", request);
}

Call SetPermission(const std::string& path, std::uint32_t mode) {
  hdfs::SetPermissionRequestProto request;
  request.set_src(path);
  request.mutable_permission()->set_perm(mode);
  return Encode("setPermission", request);
}

Call SetReplication(const std::string& path, std::uint32_t replication) {
  hdfs::SetReplicationRequestProto request;
  request.set_src(path);
  request.set_replication(replication);
  return Encode("setReplication", request);
}

Call SetOwner(const std::string& path, const std::string& owner) {
  hdfs::SetOwnerRequestProto request;
  request.set_src(path);
  request.set_username(owner);
  request.set_groupname(owner);
  return Encode("setOwner", request);
}

Call SetSafeMode(bool enter) {
  hdfs::SetSafeModeRequestProto request;
  request.set_action(enter ? hdfs::SAFEMODE_ENTER : hdfs::SAFEMODE_LEAVE);
  return Encode("setSafeMode", request);
}

Call SaveNamespace() { return Encode("saveNamespace", hdfs::SaveNamespaceRequestProto()); }

std::uint64_t CreatedFileId(std::string_view answer) {
  hdfs::CreateResponseProto response;
  if (!response.ParseFromArray(answer.data(), static_cast<int>(answer.size()))) return 0;
  return response.fs().fileid();
}

Result<hdfs::LocatedBlockProto> AddedBlock(std::string_view answer) {
  hdfs::AddBlockResponseProto response;
  EBB_TRY(rpc_wire::Parse(response, answer, "the answer of addBlock"));
  return response.block();
}

bool IsTrue(std::string_view answer) {
  // All four answers have one field, `required bool result = 1`.
  hdfs::CompleteResponseProto response;
  return response.ParseFromArray(answer.data(), static_cast<int>(answer.size())) &&
         response.result();
}

}  // namespace ebb::metadata_load
