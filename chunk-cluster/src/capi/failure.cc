#include "capi/failure.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "capi/hdfs.h"

namespace ebb::capi {

namespace {

struct KnownException {
  std::string_view name;
  int number;
};

// First those that libhdfs knows. For the others libhdfs has EINTERNAL only.
constexpr std::array kKnownExceptions = {
    KnownException{"java.io.FileNotFoundException", ENOENT},
    KnownException{"org.apache.hadoop.security.AccessControlException", EACCES},
    KnownException{"org.apache.hadoop.fs.UnresolvedLinkException", ENOLINK},
    KnownException{"org.apache.hadoop.fs.ParentNotDirectoryException", ENOTDIR},
    KnownException{"java.lang.IllegalArgumentException", EINVAL},
    KnownException{"java.lang.OutOfMemoryError", ENOMEM},
    KnownException{"org.apache.hadoop.hdfs.server.namenode.SafeModeException", EROFS},
    KnownException{"org.apache.hadoop.fs.FileAlreadyExistsException", EEXIST},
    KnownException{"org.apache.hadoop.hdfs.protocol.QuotaExceededException", EDQUOT},
    KnownException{"java.lang.UnsupportedOperationException", ENOTSUP},
    KnownException{"org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException", ESTALE},

    KnownException{"org.apache.hadoop.hdfs.protocol.NSQuotaExceededException", EDQUOT},
    KnownException{"org.apache.hadoop.hdfs.protocol.DSQuotaExceededException", EDQUOT},
    KnownException{"org.apache.hadoop.hdfs.protocol.QuotaByStorageTypeExceededException", EDQUOT},
    KnownException{"org.apache.hadoop.hdfs.protocol.SnapshotAccessControlException", EACCES},
    KnownException{"org.apache.hadoop.security.authorize.AuthorizationException", EACCES},
    KnownException{"org.apache.hadoop.HadoopIllegalArgumentException", EINVAL},
    KnownException{"org.apache.hadoop.fs.InvalidPathException", EINVAL},
    KnownException{"org.apache.hadoop.hdfs.protocol.UnresolvedPathException", ENOLINK},
    KnownException{"org.apache.hadoop.fs.PathIsNotEmptyDirectoryException", ENOTEMPTY},
    KnownException{"org.apache.hadoop.fs.PathIsNotDirectoryException", ENOTDIR},
    KnownException{"org.apache.hadoop.fs.PathIsDirectoryException", EISDIR},
    KnownException{"org.apache.hadoop.fs.PathNotFoundException", ENOENT},
    KnownException{"org.apache.hadoop.fs.PathExistsException", EEXIST},
    KnownException{"org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException", EBUSY},
    KnownException{"org.apache.hadoop.hdfs.protocol.RecoveryInProgressException", EBUSY},
    KnownException{
        "org.apache.hadoop.hdfs.protocol.FSLimitException$PathComponentTooLongException",
        ENAMETOOLONG},
};

int ErrnoOfException(std::string_view name) {
  const auto* found = std::ranges::find(kKnownExceptions, name, &KnownException::name);
  return found == kKnownExceptions.end() ? EINTERNAL : found->number;
}

struct LastTexts {
  bool present = false;
  std::string root_cause;
  std::string trace;
};

LastTexts& TextsOfThread() {
  thread_local LastTexts texts;
  return texts;
}

}  // namespace

int ErrnoOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kRemote:
      return ErrnoOfException(error.exception_class);
    case ErrorCode::kNotFound:
      return ENOENT;
    case ErrorCode::kNetwork:
      return ECONNABORTED;
    case ErrorCode::kTimeout:
      return ETIMEDOUT;
    case ErrorCode::kBusy:
      return ENFILE;
    case ErrorCode::kNoSpace:
      return ENOSPC;
    case ErrorCode::kInvalid:
      return EINVAL;
    case ErrorCode::kUnsupported:
      return ENOTSUP;
    case ErrorCode::kShutdown:
      return ESHUTDOWN;
    case ErrorCode::kNotReady:
    case ErrorCode::kCorrupt:
    case ErrorCode::kIo:
    case ErrorCode::kCannotTell:
      return EIO;
  }
  return EINTERNAL;
}

Failure::Failure(const Error& cause)
    : number(ErrnoOf(cause)), root_cause(cause.message), trace(cause.message) {
  if (cause.exception_class.empty()) return;
  const auto dot = cause.exception_class.rfind('.');
  root_cause = cause.exception_class.substr(dot == std::string::npos ? 0 : dot + 1) + ": " +
               cause.exception_message;
}

void Report(const Failure& failure) noexcept {
  try {
    TextsOfThread() = {true, failure.root_cause, failure.trace};
  } catch (const std::exception&) {
    TextsOfThread().present = false;  // no memory for a text
  }
  errno = failure.number;
}

void ReportException(const std::exception& exception) noexcept {
  const bool memory = dynamic_cast<const std::bad_alloc*>(&exception) != nullptr;
  try {
    TextsOfThread() = {true, exception.what(), exception.what()};
  } catch (const std::exception&) {
    TextsOfThread().present = false;
  }
  errno = memory ? ENOMEM : EINTERNAL;
}

char* LastRootCause() {
  auto& texts = TextsOfThread();
  return texts.present ? texts.root_cause.data() : nullptr;
}

char* LastTrace() {
  auto& texts = TextsOfThread();
  return texts.present ? texts.trace.data() : nullptr;
}

}  // namespace ebb::capi
