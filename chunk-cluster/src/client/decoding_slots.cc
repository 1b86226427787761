#include "client/decoding_slots.h"

namespace ebb::client {

namespace {

constexpr std::size_t kProcessSlots = 16;

}  // namespace

DecodingSlots& DecodingSlots::OfProcess() {
  // Never destroyed: streams of other static objects may end later.
  static auto* const slots = std::make_unique<DecodingSlots>(kProcessSlots).release();
  return *slots;
}

DecodingSlots::Slot DecodingSlots::Take(Timeout timeout, const std::atomic<bool>& stopped) {
  std::unique_lock lock(mutex_);
  if (!hopeless_) {
    hopeless_ = !changed_.wait_for(lock, timeout, [&] { return free_ > 0 || stopped; });
  }
  if (free_ == 0 || stopped) return nullptr;
  --free_;
  return Slot(this);
}

void DecodingSlots::Wake() {
  // With the lock, so that a call between its look and its wait does not miss this.
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void DecodingSlots::Release() {
  const std::lock_guard lock(mutex_);
  ++free_;
  hopeless_ = false;
  changed_.notify_all();
}

}  // namespace ebb::client
