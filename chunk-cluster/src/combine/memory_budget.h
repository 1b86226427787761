// A limit on the memory that one kind of work holds at a time, for the whole process.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <utility>

#include "common/error.h"
#include "common/socket.h"

namespace ebb {

// Thread-safe. Waiting claims are served in the order of arrival, so that small claims do not
// starve a large one. Outlives its leases.
class MemoryBudget {
 public:
  // The destructor gives the bytes back.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Lease() {
      if (budget_ != nullptr) budget_->Release(bytes_);
    }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

   private:
    friend class MemoryBudget;
    Lease(MemoryBudget* budget, std::size_t bytes) : budget_(budget), bytes_(bytes) {}
    MemoryBudget* budget_ = nullptr;
    std::size_t bytes_ = 0;
  };

  explicit MemoryBudget(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Waits until the bytes are free. kBusy after the time-out, kInvalid if `bytes` is above the
  // limit, kShutdown after Close().
  [[nodiscard]] Result<Lease> Acquire(std::size_t bytes, Timeout timeout);
  // Waiting and later claims fail.
  void Close();

  [[nodiscard]] std::size_t held() const;
  [[nodiscard]] std::size_t limit() const { return limit_bytes_; }

 private:
  void Release(std::size_t bytes);

  const std::size_t limit_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t held_ = 0;
  bool closed_ = false;
  // Sizes of the waiting claims, in the order of arrival.
  std::list<std::size_t> waiting_;
};

}  // namespace ebb
