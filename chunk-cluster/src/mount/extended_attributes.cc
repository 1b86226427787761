// Extended attributes: "user.NAME" is the attribute NAME of HDFS's namespace USER.
#include <fmt/format.h>
#include <sys/xattr.h>

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mount/error_number.h"
#include "mount/mounted_files.h"

namespace ebb::mount {

namespace {

constexpr std::string_view kUser = "user.";

std::optional<hadoop::hdfs::XAttrProto> Named(std::string_view name) {
  if (!name.starts_with(kUser) || name.size() == kUser.size()) return std::nullopt;
  hadoop::hdfs::XAttrProto attribute;
  attribute.set_namespace_(hadoop::hdfs::XAttrProto::USER);
  attribute.set_name(std::string(name.substr(kUser.size())));
  return attribute;
}

// As getxattr and listxattr do: without room, the size is asked for.
int AnswerText(const CallPointer& call, const std::string& text, std::size_t room) {
  if (room == 0) {
    call->AttributeBytes(text.size());
  } else if (text.size() > room) {
    return ERANGE;
  } else {
    call->Data(std::as_bytes(std::span(text)));
  }
  return 0;
}

}  // namespace

void MountedFiles::GetXAttr(fuse_req_t request, NodeId node, const char* name, std::size_t room) {
  const auto attribute = Named(name);
  // The kernel asks for security.capability with every write: no thread is needed for that.
  if (!attribute) {
    fuse_reply_err(request, ENODATA);
    return;
  }
  Do(Begin(request, "getxattr"), [this, node, room, attribute](const CallPointer& call) {
    const auto path = PathOf(node);
    if (!path) return ESTALE;
    const auto found = files_.XAttrs(*path, {*attribute});
    if (!found) {
      return Tell(ErrorNumberOfXAttr(found.error(), ENODATA), "getxattr of " + *path,
                  found.error());
    }
    if (found->empty()) return ENODATA;
    return AnswerText(call, found->front().value(), room);
  });
}

void MountedFiles::ListXAttrs(fuse_req_t request, NodeId node, std::size_t room) {
  Do(Begin(request, "listxattr"), [this, node, room](const CallPointer& call) {
    const auto path = PathOf(node);
    if (!path) return ESTALE;
    const auto found = files_.XAttrs(*path, {});
    if (!found) return Tell(ErrorNumberOf(found.error()), "listxattr of " + *path, found.error());
    std::string names;
    for (const auto& attribute : *found) {
      if (attribute.namespace_() != hadoop::hdfs::XAttrProto::USER) continue;
      names += kUser;
      names += attribute.name();
      names += '\0';
    }
    return AnswerText(call, names, room);
  });
}

void MountedFiles::SetXAttr(fuse_req_t request, NodeId node, const char* name, std::string value,
                            int flags) {
  auto attribute = Named(name);
  if (!attribute) {
    fuse_reply_err(request, EOPNOTSUPP);
    return;
  }
  attribute->set_value(std::move(value));
  Do(Begin(request, "setxattr"), [this, node, flags, attribute](const CallPointer& call) {
    using Change = client::FileSystem::XAttrChange;
    const auto path = PathOf(node);
    if (!path) return ESTALE;
    const auto change = flags == XATTR_CREATE    ? Change::kCreate
                        : flags == XATTR_REPLACE ? Change::kReplace
                                                 : Change::kBoth;
    const auto set = files_.SetXAttr(*path, *attribute, change);
    if (!set) {
      const int plain = flags == XATTR_CREATE    ? EEXIST
                        : flags == XATTR_REPLACE ? ENODATA
                                                 : EIO;
      return Tell(ErrorNumberOfXAttr(set.error(), plain), "setxattr of " + *path, set.error());
    }
    call->Error(0);
    return 0;
  });
}

void MountedFiles::RemoveXAttr(fuse_req_t request, NodeId node, const char* name) {
  const auto attribute = Named(name);
  if (!attribute) {
    fuse_reply_err(request, ENODATA);
    return;
  }
  Do(Begin(request, "removexattr"), [this, node, attribute](const CallPointer& call) {
    const auto path = PathOf(node);
    if (!path) return ESTALE;
    const auto removed = files_.RemoveXAttr(*path, *attribute);
    if (!removed) {
      return Tell(ErrorNumberOfXAttr(removed.error(), ENODATA), "removexattr of " + *path,
                  removed.error());
    }
    call->Error(0);
    return 0;
  });
}

}  // namespace ebb::mount
