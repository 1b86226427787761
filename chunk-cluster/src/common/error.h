// The one error type of the chunk cluster. A Result is never dropped: it is [[nodiscard]].
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace ebb {

enum class ErrorCode : std::uint8_t {
  kNotFound,     // no such block, file or name
  kCorrupt,      // bytes that contradict their checksum or their format
  kIo,           // the disk or the operating system refused
  kNetwork,      // a peer refused, closed the connection or sent an invalid answer
  kTimeout,      // a peer did not answer in time
  kBusy,         // a limit is reached; the same call may succeed later
  kNoSpace,      // the disk is full, but works
  kInvalid,      // the caller's request contradicts itself
  kUnsupported,  // a call or option that this server does not support
  kRemote,       // a peer executed the call and answered with an exception
  kShutdown,     // this process is stopping
  kNotReady,     // a server cannot serve or ask yet, as before its scan; a later call succeeds
  kCannotTell,   // a disk has failed, so that nobody knows whether the block lies on it
};

// The message tells an operator what failed, with which value, and what to do.
struct Error {
  ErrorCode code;
  std::string message;
  // For kRemote: the Java class name of the exception.
  std::string exception_class = {};
  // For kRemote: the first line of the exception's own message.
  std::string exception_message = {};
};

// True if a resource is used up for now, such as memory or space. Nothing is broken.
[[nodiscard]] inline bool IsShortage(ErrorCode code) {
  return code == ErrorCode::kBusy || code == ErrorCode::kNoSpace;
}

template <typename T>
using Result = std::expected<T, Error>;
using Status = std::expected<void, Error>;

[[nodiscard]] inline std::unexpected<Error> Fail(ErrorCode code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

}  // namespace ebb

// Returns the error of `expression` from the enclosing function, if it has one.
#define EBB_TRY(expression)                                                           \
  do {                                                                                \
    auto ebb_try_status_ = (expression);                                              \
    if (!ebb_try_status_) return std::unexpected(std::move(ebb_try_status_).error()); \
  } while (false)

#define EBB_CONCAT_(a, b) a##b
#define EBB_CONCAT(a, b) EBB_CONCAT_(a, b)
#define EBB_ASSIGN_IMPL_(result, declaration, expression)         \
  auto result = (expression);                                     \
  if (!result) return std::unexpected(std::move(result).error()); \
  declaration = std::move(result).value()
// Declares or assigns `declaration` from a Result, or returns its error.
#define EBB_ASSIGN(declaration, expression) \
  EBB_ASSIGN_IMPL_(EBB_CONCAT(ebb_result_, __LINE__), declaration, expression)
