// How the C API reports errors: errno, and a text for each thread.
#pragma once

#include <exception>
#include <expected>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "common/error.h"

namespace ebb::capi {

// The errno of an error: for an exception of a namenode that of libhdfs, or a better one where
// libhdfs has none; EINTERNAL for other exceptions.
[[nodiscard]] int ErrnoOf(const Error& error);

// An error with its errno. An Error becomes one by itself.
struct Failure {
  Failure(const Error& cause);  // NOLINT(google-explicit-constructor)
  Failure(int errno_value, const std::string& message)
      : number(errno_value), root_cause(message), trace(message) {}

  int number;
  std::string root_cause;
  std::string trace;
};

template <typename T>
using Answer = std::expected<T, Failure>;

[[nodiscard]] inline std::unexpected<Failure> FailWith(int number, const std::string& message) {
  return std::unexpected(Failure(number, message));
}

// Sets errno and the texts of this thread.
void Report(const Failure& failure) noexcept;
void ReportException(const std::exception& exception) noexcept;
// The texts of the last failure of this thread; null if there was none.
[[nodiscard]] char* LastRootCause();
[[nodiscard]] char* LastTrace();

// Runs a call of the C API. No exception leaves it: what `run` throws becomes an errno as well.
// Returns `failed` after an error.
template <typename T, typename Run>
[[nodiscard]] T Guarded(std::type_identity_t<T> failed, const Run& run) noexcept {
  try {
    Answer<T> answer = run();
    if (answer) return *std::move(answer);
    Report(answer.error());
  } catch (const std::exception& exception) {
    ReportException(exception);
  }
  return failed;
}

// The same for calls without a result: 0 or -1.
template <typename Run>
[[nodiscard]] int Guarded(const Run& run) noexcept {
  return Guarded<int>(-1, [&]() -> Answer<int> {
    EBB_TRY(run());
    return 0;
  });
}

}  // namespace ebb::capi
