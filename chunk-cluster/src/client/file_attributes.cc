// The calls of FileSystem that read and change attributes of a file.
#include "client/file_system.h"

namespace ebb::client {

using namespace hadoop::hdfs;
using ebb::Status;

Status FileSystem::SetMode(const std::string& path, std::uint32_t mode) {
  SetPermissionRequestProto request;
  request.set_src(path);
  request.mutable_permission()->set_perm(mode);
  SetPermissionResponseProto response;
  return Changed(path, namenode_.Call("setPermission", request, response));
}

Status FileSystem::SetOwner(const std::string& path, const std::string& owner,
                            const std::string& group) {
  SetOwnerRequestProto request;
  request.set_src(path);
  if (!owner.empty()) request.set_username(owner);
  if (!group.empty()) request.set_groupname(group);
  SetOwnerResponseProto response;
  return Changed(path, namenode_.Call("setOwner", request, response));
}

Status FileSystem::SetTimes(const std::string& path, std::int64_t modified_millis,
                            std::int64_t accessed_millis) {
  SetTimesRequestProto request;
  request.set_src(path);
  request.set_mtime(static_cast<std::uint64_t>(modified_millis));
  request.set_atime(static_cast<std::uint64_t>(accessed_millis));
  SetTimesResponseProto response;
  return Changed(path, namenode_.Call("setTimes", request, response));
}

Result<bool> FileSystem::SetReplication(const std::string& path, std::uint32_t replication) {
  SetReplicationRequestProto request;
  request.set_src(path);
  request.set_replication(replication);
  EBB_ASSIGN(const auto answer,
             Changed(path, namenode_.Ask<SetReplicationResponseProto>("setReplication", request)));
  return answer.result();
}

Result<std::vector<XAttrProto>> FileSystem::XAttrs(const std::string& path,
                                                   const std::vector<XAttrProto>& names) {
  GetXAttrsRequestProto request;
  request.set_src(path);
  for (const auto& name : names) *request.add_xattrs() = name;
  EBB_ASSIGN(const auto answer, namenode_.Ask<GetXAttrsResponseProto>("getXAttrs", request));
  return std::vector<XAttrProto>(answer.xattrs().begin(), answer.xattrs().end());
}

Status FileSystem::SetXAttr(const std::string& path, const XAttrProto& attribute,
                            XAttrChange change) {
  SetXAttrRequestProto request;
  request.set_src(path);
  *request.mutable_xattr() = attribute;
  request.set_flag(static_cast<std::uint32_t>(change));
  SetXAttrResponseProto response;
  return namenode_.Call("setXAttr", request, response);
}

Status FileSystem::RemoveXAttr(const std::string& path, const XAttrProto& attribute) {
  RemoveXAttrRequestProto request;
  request.set_src(path);
  *request.mutable_xattr() = attribute;
  RemoveXAttrResponseProto response;
  return namenode_.Call("removeXAttr", request, response);
}

Result<AclStatusProto> FileSystem::Acl(const std::string& path) {
  GetAclStatusRequestProto request;
  request.set_src(path);
  EBB_ASSIGN(auto answer, namenode_.Ask<GetAclStatusResponseProto>("getAclStatus", request));
  return std::move(*answer.mutable_result());
}

Status FileSystem::ModifyAcl(const std::string& path, const AclEntries& entries) {
  ModifyAclEntriesRequestProto request;
  request.set_src(path);
  request.mutable_aclspec()->Assign(entries.begin(), entries.end());
  ModifyAclEntriesResponseProto response;
  return Changed(path, namenode_.Call("modifyAclEntries", request, response));
}

Status FileSystem::RemoveAclEntries(const std::string& path, const AclEntries& entries) {
  RemoveAclEntriesRequestProto request;
  request.set_src(path);
  request.mutable_aclspec()->Assign(entries.begin(), entries.end());
  RemoveAclEntriesResponseProto response;
  return Changed(path, namenode_.Call("removeAclEntries", request, response));
}

Status FileSystem::SetAcl(const std::string& path, const AclEntries& entries) {
  SetAclRequestProto request;
  request.set_src(path);
  request.mutable_aclspec()->Assign(entries.begin(), entries.end());
  SetAclResponseProto response;
  return Changed(path, namenode_.Call("setAcl", request, response));
}

Status FileSystem::RemoveAcl(const std::string& path) {
  RemoveAclRequestProto request;
  request.set_src(path);
  RemoveAclResponseProto response;
  return Changed(path, namenode_.Call("removeAcl", request, response));
}

Status FileSystem::RemoveDefaultAcl(const std::string& path) {
  RemoveDefaultAclRequestProto request;
  request.set_src(path);
  RemoveDefaultAclResponseProto response;
  return Changed(path, namenode_.Call("removeDefaultAcl", request, response));
}

}  // namespace ebb::client
