// Bounds how many reads of this process decode lost blocks at the same time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

#include "common/socket.h"

namespace ebb::client {

// Thread-safe. Outlives its slots.
class DecodingSlots {
 public:
  struct Free {
    void operator()(DecodingSlots* slots) const { slots->Release(); }
  };
  // Is given back when it is destroyed.
  using Slot = std::unique_ptr<DecodingSlots, Free>;

  explicit DecodingSlots(std::size_t count) : free_(count) {}
  // The slots that all streams of this process share: 16. So the streams decode with at most
  // 16 x 17 threads and 16 x 5 MiB (slices and the buffers of sources); five times that for as long
  // as sources stall. See DecodedReader.
  [[nodiscard]] static DecodingSlots& OfProcess();

  // Waits at most so long, and not after `stopped`, and not at all from a wait in vain on until a
  // slot is given back: streams that nobody reads may keep theirs for long. Null if there is no
  // slot.
  [[nodiscard]] Slot Take(Timeout timeout, const std::atomic<bool>& stopped);
  // Lets calls that wait look at their `stopped`.
  void Wake();

 private:
  void Release();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t free_;
  // Since the last slot was given back, a call has waited in vain.
  bool hopeless_ = false;
};

}  // namespace ebb::client
