#include "transfer/balance_throttler.h"

#include <algorithm>
#include <utility>

#include "transfer/wire.h"

namespace ebb::transfer {

namespace {

// A move waits so long for its turn at most. The balancer hears of the move as often.
constexpr int kTurnSeconds = 30;

}  // namespace

BalanceThrottler::Move::~Move() {
  if (throttler_ == nullptr) return;
  const std::lock_guard lock(throttler_->mutex_);
  --throttler_->moves_;
}

BalanceThrottler::Move::Move(Move&& other) noexcept
    : throttler_(std::exchange(other.throttler_, nullptr)) {}

BalanceThrottler::BalanceThrottler(const Options& options)
    : max_moves_(options.max_moves),
      bytes_per_second_(std::max<std::uint64_t>(options.bytes_per_second, 1)) {}

std::optional<BalanceThrottler::Move> BalanceThrottler::Begin() {
  const std::lock_guard lock(mutex_);
  if (moves_ >= MovesInTime()) return std::nullopt;
  ++moves_;
  return Move(*this);
}

std::size_t BalanceThrottler::MovesInTime() const {
  const double bytes = static_cast<double>(bytes_per_second_) * kTurnSeconds;
  const double in_time = std::max(1.0, bytes / static_cast<double>(kMovePacketBytes));
  if (in_time >= static_cast<double>(max_moves_)) return max_moves_;
  return static_cast<std::size_t>(in_time);
}

std::size_t BalanceThrottler::max_moves() const {
  const std::lock_guard lock(mutex_);
  return MovesInTime();
}

void BalanceThrottler::PayDebt() {
  const auto now = Clock::now();
  const std::chrono::duration<double> passed = now - counted_;
  debt_ = std::max(0.0, debt_ - passed.count() * static_cast<double>(bytes_per_second_));
  counted_ = now;
}

Status BalanceThrottler::Take(std::uint64_t bytes, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  PayDebt();
  // The debt of others comes before the own one: moves share the limit in the order of their calls.
  double before = debt_;
  debt_ += static_cast<double>(bytes);
  while (before > 0 && !stop.stop_requested()) {
    const double rate = static_cast<double>(bytes_per_second_);
    const auto begun = Clock::now();
    const auto due = begun + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(before / rate));
    limit_changed_.wait_until(lock, stop, due,
                              [&] { return static_cast<double>(bytes_per_second_) != rate; });
    const std::chrono::duration<double> waited = Clock::now() - begun;
    before -= waited.count() * rate;
  }
  if (stop.stop_requested()) return Fail(ErrorCode::kShutdown, "this server is stopping");
  return {};
}

void BalanceThrottler::SetBytesPerSecond(std::uint64_t bytes) {
  if (bytes == 0) return;
  {
    const std::lock_guard lock(mutex_);
    PayDebt();
    bytes_per_second_ = bytes;
  }
  limit_changed_.notify_all();
}

std::uint64_t BalanceThrottler::bytes_per_second() const {
  const std::lock_guard lock(mutex_);
  return bytes_per_second_;
}

std::size_t BalanceThrottler::moves() const {
  const std::lock_guard lock(mutex_);
  return moves_;
}

}  // namespace ebb::transfer
