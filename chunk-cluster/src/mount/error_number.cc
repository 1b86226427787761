#include "mount/error_number.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace ebb::mount {

namespace {

struct Row {
  std::string_view exception;
  int number;
};

constexpr char kPlain[] = "java.io.IOException";

// By the last part of the name of the class.
constexpr auto kRows = std::to_array<Row>({
    {"AccessControlException", EACCES},
    {"AlreadyBeingCreatedException", EBUSY},
    {"DSQuotaExceededException", EDQUOT},
    {"DirectoryNotEmptyException", ENOTEMPTY},
    {"FileAlreadyExistsException", EEXIST},
    {"FileNotFoundException", ENOENT},
    {"FSLimitException$MaxDirectoryItemsExceededException", ENOSPC},
    {"FSLimitException$PathComponentTooLongException", ENAMETOOLONG},
    {"HadoopIllegalArgumentException", EINVAL},
    {"IllegalArgumentException", EINVAL},
    {"InvalidPathException", EINVAL},
    {"NSQuotaExceededException", EDQUOT},
    {"NotReplicatedYetException", EAGAIN},
    {"ParentNotDirectoryException", ENOTDIR},
    {"PathIsDirectoryException", EISDIR},
    {"PathIsNotDirectoryException", ENOTDIR},
    {"PathIsNotEmptyDirectoryException", ENOTEMPTY},
    {"QuotaByStorageTypeExceededException", EDQUOT},
    {"QuotaExceededException", EDQUOT},
    {"RecoveryInProgressException", EBUSY},
    {"RetriableException", EAGAIN},
    {"RpcNoSuchMethodException", EOPNOTSUPP},
    {"SafeModeException", EROFS},
    {"SnapshotAccessControlException", EROFS},
    {"SnapshotException", EPERM},
    {"StandbyException", EAGAIN},
    {"UnknownCryptoProtocolVersionException", EOPNOTSUPP},
    {"UnresolvedPathException", ELOOP},
    {"UnsupportedOperationException", EOPNOTSUPP},
    {"XAttrNotFoundException", ENODATA},
});

std::string_view LastPart(std::string_view name) { return name.substr(name.rfind('.') + 1); }

int OfException(std::string_view name) {
  const auto last = LastPart(name);
  const auto found =
      std::ranges::find_if(kRows, [&](const Row& row) { return row.exception == last; });
  return found == kRows.end() ? EIO : found->number;
}

}  // namespace

bool IsPlain(const Error& error) {
  return error.code == ErrorCode::kRemote && error.exception_class == kPlain;
}

int ErrorNumberOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kRemote:
      return OfException(error.exception_class);
    case ErrorCode::kNotFound:
      return ENOENT;
    case ErrorCode::kTimeout:
      return ETIMEDOUT;
    case ErrorCode::kBusy:
    case ErrorCode::kNotReady:
      return EAGAIN;
    case ErrorCode::kNoSpace:
      return ENOSPC;
    case ErrorCode::kInvalid:
      return EINVAL;
    case ErrorCode::kUnsupported:
      return EOPNOTSUPP;
    case ErrorCode::kShutdown:
      return ESHUTDOWN;
    case ErrorCode::kCorrupt:
    case ErrorCode::kIo:
    case ErrorCode::kNetwork:
    case ErrorCode::kCannotTell:
      return EIO;
  }
  return EIO;
}

int ErrorNumberOfRead(const Error& error) {
  return error.code == ErrorCode::kNotFound ? EIO : ErrorNumberOf(error);
}

int ErrorNumberOfChange(const Error& error) {
  const int number = ErrorNumberOf(error);
  return number == EACCES ? EPERM : number;
}

int ErrorNumberOfXAttr(const Error& error, int plain) {
  return IsPlain(error) ? plain : ErrorNumberOf(error);
}

}  // namespace ebb::mount
