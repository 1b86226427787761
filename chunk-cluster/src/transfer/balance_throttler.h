// Limits what the moves of HDFS's balancer and mover take from this server: the bytes in a second
// over all moves, and the number of moves at a time. HDFS calls it BlockBalanceThrottler.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>

#include "common/error.h"

namespace ebb::transfer {

// Thread-safe.
class BalanceThrottler {
 public:
  struct Options {
    std::uint64_t bytes_per_second = std::uint64_t{100} << 20;
    // A copy that this server sends and one that it receives count alike.
    std::size_t max_moves = 100;
  };

  // The right to make one move; it ends with the object. The throttler outlives it.
  class Move {
   public:
    explicit Move(BalanceThrottler& throttler) : throttler_(&throttler) {}
    ~Move();
    Move(Move&& other) noexcept;
    Move& operator=(Move&&) = delete;
    Move(const Move&) = delete;
    Move& operator=(const Move&) = delete;

   private:
    BalanceThrottler* throttler_;
  };

  explicit BalanceThrottler(const Options& options);

  // Empty if as many moves as allowed are under way, or as many as the limit of bytes serves in
  // time: each of them is to send or receive a packet twice a minute.
  [[nodiscard]] std::optional<Move> Begin();
  // Notes bytes that a move has sent or received. Returns when the bytes of all moves before them
  // are within the limit. kShutdown if `stop` is requested.
  [[nodiscard]] Status Take(std::uint64_t bytes, const std::stop_token& stop);

  // 0 is ignored, as HDFS ignores it.
  void SetBytesPerSecond(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t bytes_per_second() const;
  // How many moves may be under way now.
  [[nodiscard]] std::size_t max_moves() const;
  [[nodiscard]] std::size_t moves() const;

 private:
  using Clock = std::chrono::steady_clock;

  const std::size_t max_moves_;
  mutable std::mutex mutex_;
  std::condition_variable_any limit_changed_;
  std::uint64_t bytes_per_second_;
  std::size_t moves_ = 0;
  // Bytes that were taken and are not within the limit yet, as of `counted_`.
  double debt_ = 0;
  Clock::time_point counted_ = Clock::now();

  // The caller holds the mutex for both.
  void PayDebt();
  [[nodiscard]] std::size_t MovesInTime() const;
};

}  // namespace ebb::transfer
