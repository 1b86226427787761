// A request of the kernel, and its one answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "mount/active_calls.h"
#include "mount/fuse.h"
#include "mount/log.h"

namespace ebb::mount {

// Thread-safe. An answer returns false if the kernel does not get it, because the deadline has
// passed or because nobody waits any more: the caller then takes back what the kernel would own.
class Call : public ActiveCall {
 public:
  Call(ActiveCalls& calls, Log& log, fuse_req_t request, std::string what)
      : ActiveCall(calls), log_(log), request_(request), what_(std::move(what)) {}

  // 0 is success.
  bool Error(int number) {
    return Answer([&] { return fuse_reply_err(request_, number); });
  }
  bool Entry(const fuse_entry_param& entry) {
    return Answer([&] { return fuse_reply_entry(request_, &entry); });
  }
  bool Created(const fuse_entry_param& entry, const fuse_file_info& info) {
    return Answer([&] { return fuse_reply_create(request_, &entry, &info); });
  }
  bool Attributes(const struct stat& attributes, double seconds) {
    return Answer([&] { return fuse_reply_attr(request_, &attributes, seconds); });
  }
  bool Opened(const fuse_file_info& info) {
    return Answer([&] { return fuse_reply_open(request_, &info); });
  }
  bool Data(std::span<const std::byte> data) {
    return Answer([&] {
      return fuse_reply_buf(request_, reinterpret_cast<const char*>(data.data()), data.size());
    });
  }
  bool Written(std::size_t bytes) {
    return Answer([&] { return fuse_reply_write(request_, bytes); });
  }
  bool Statistics(const struct statvfs& statistics) {
    return Answer([&] { return fuse_reply_statfs(request_, &statistics); });
  }
  bool AttributeBytes(std::size_t bytes) {
    return Answer([&] { return fuse_reply_xattr(request_, bytes); });
  }
  // Only for the functions that add entries of directories to a buffer.
  [[nodiscard]] fuse_req_t request() const { return request_; }

 private:
  template <typename Reply>
  bool Answer(const Reply& reply) {
    return Claim() && reply() == 0;
  }
  void AnswerLate() override {
    fuse_reply_err(request_, ETIMEDOUT);
    log_.Write(what_ + " had no answer within the deadline, and got ETIMEDOUT");
  }

  Log& log_;
  const fuse_req_t request_;
  const std::string what_;
};

using CallPointer = std::shared_ptr<Call>;

}  // namespace ebb::mount
