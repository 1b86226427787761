#include "common/domain_socket.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace ebb {

namespace {

// Data and checksums of a block, or a shared memory segment.
constexpr std::size_t kMaxDescriptors = 4;

Status CheckDirectory(const std::string& directory, const std::string& path) {
  struct stat status = {};
  const auto refuse = [&](const std::string& why) {
    return Fail(ErrorCode::kInvalid, fmt::format("the socket {} would not be safe: {} {}", path,
                                                 directory, why));
  };
  if (lstat(directory.c_str(), &status) != 0) {
    return refuse(fmt::format("cannot be examined: {}; make the directory, or choose another path",
                              std::generic_category().message(errno)));
  }
  const unsigned permissions = status.st_mode & 07777;
  // A link belongs to whoever may write to the directory that it is in.
  if (S_ISLNK(status.st_mode)) return refuse("is a link; name the directory itself");
  if ((permissions & 0002) != 0) {
    return refuse(fmt::format("may be written by everybody (mode {:o}); chmod o-w, or choose "
                              "another path",
                              permissions));
  }
  if ((permissions & 0020) != 0 && status.st_gid != 0) {
    return refuse(fmt::format("may be written by its group {} (mode {:o}); chmod g-w, or choose "
                              "another path",
                              status.st_gid, permissions));
  }
  if (status.st_uid != 0 && status.st_uid != geteuid()) {
    return refuse(fmt::format("belongs to user {}, and not to root or user {}, who runs this "
                              "server; chown it, or choose another path",
                              status.st_uid, geteuid()));
  }
  return {};
}

}  // namespace

Status CheckSocketPath(const std::string& path) {
  if (!path.starts_with('/') || path.ends_with('/')) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("the path of a socket '{}' is not absolute, or names a directory; give "
                            "one such as /var/lib/ebbfs/dn_socket",
                            path));
  }
  EBB_TRY(CheckDirectory("/", path));
  for (auto end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    EBB_TRY(CheckDirectory(path.substr(0, end), path));
  }
  return {};
}

Status SendDescriptors(Socket& socket, std::span<const int> descriptors, std::byte byte,
                       Timeout timeout) {
  if (descriptors.size() > kMaxDescriptors) {
    return Fail(ErrorCode::kInvalid, fmt::format("{} files are too many", descriptors.size()));
  }
  iovec part = {&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control = {};
  const std::size_t bytes = descriptors.size() * sizeof(int);
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(bytes);
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(bytes);
  std::memcpy(CMSG_DATA(header), descriptors.data(), bytes);
  return socket.SendMessage(message, timeout);
}

}  // namespace ebb
