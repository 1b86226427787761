// The memory that this server shares with clients on its machine which read block files themselves
// (short-circuit reads). A segment has slots. The client chooses a free slot for each replica whose
// files it gets, and marks it valid. The server takes the mark away when the replica must not be
// read any more. HDFS has the same memory: ShortCircuitShm, ShortCircuitRegistry.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "common/error.h"
#include "disk/replica.h"

namespace ebb::transfer {

// Thread-safe. Outlives its segments.
class ShortCircuitRegistry final : public ReplicaWatcher {
 public:
  static constexpr std::size_t kSegmentBytes = 8192;
  static constexpr std::size_t kSlotBytes = 64;
  static constexpr std::size_t kSlots = kSegmentBytes / kSlotBytes;
  // The first eight bytes of a slot, in the order of the machine, hold its flags.
  static constexpr std::uint64_t kValid = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kAnchorable = std::uint64_t{1} << 62;
  // Segments of all clients: each holds a connection with its thread.
  static constexpr std::size_t kMaxSegments = 256;
  // A segment with so many refused slots, and no slot in use, ends.
  static constexpr std::size_t kMaxRefused = kSlots / 2;

  // 128 random bits.
  using SegmentId = std::pair<std::uint64_t, std::uint64_t>;
  struct SlotId {
    SegmentId segment;
    std::int64_t index = 0;
  };

  // A segment, as long as the connection of its client lasts. The destructor makes all its slots
  // invalid.
  class Segment {
   public:
    ~Segment();
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;
    [[nodiscard]] const SegmentId& id() const { return id_; }
    // The memory as a file, for the client. It can be neither shortened nor made longer.
    [[nodiscard]] int descriptor() const { return descriptor_; }

   private:
    friend class ShortCircuitRegistry;
    Segment(ShortCircuitRegistry& registry, SegmentId id, std::function<void()> end)
        : registry_(registry), id_(id), end_(std::move(end)) {}
    [[nodiscard]] Status Map();
    [[nodiscard]] std::uint64_t& flags(std::size_t slot) const;

    ShortCircuitRegistry& registry_;
    const SegmentId id_;
    const std::function<void()> end_;
    int descriptor_ = -1;
    std::byte* memory_ = nullptr;
    // The blocks of the slots in use.
    std::map<std::size_t, std::uint64_t> blocks_;
    // Slots whose last request was refused. HDFS's client never uses such a slot again.
    std::bitset<kSlots> refused_;
  };

  explicit ShortCircuitRegistry(std::size_t max_segments = kMaxSegments)
      : max_segments_(max_segments) {}
  // How many segments a server with so many connections has: they leave three quarters of the
  // connections to other operations.
  [[nodiscard]] static std::size_t SegmentsFor(std::size_t max_connections) {
    return std::clamp<std::size_t>(max_connections / 4, 1, kMaxSegments);
  }
  ShortCircuitRegistry(const ShortCircuitRegistry&) = delete;
  ShortCircuitRegistry& operator=(const ShortCircuitRegistry&) = delete;
  ~ShortCircuitRegistry() override = default;

  // kBusy at the limit of segments. `end` is called once the segment is of no use to its client any
  // more. It must be quick and must not call the registry, and the segment must be destroyed soon
  // after.
  [[nodiscard]] Result<std::unique_ptr<Segment>> Create(std::function<void()> end = [] {});
  // From now on the slot stands for the block. kNotFound if there is no such segment (any more),
  // kInvalid if there is no such slot, if it is in use, or if the client has not marked it valid.
  [[nodiscard]] Status Register(const SlotId& slot, std::uint64_t block_id);
  // Frees a slot, and makes it invalid. kInvalid or kNotFound if it is not in use.
  [[nodiscard]] Status Unregister(const SlotId& slot);
  // The request for which the client has chosen the slot is answered ERROR_UNSUPPORTED: HDFS's
  // client then forgets to free the slot. Frees it here if it is in use. A segment that consists of
  // such slots ends, so that the client drops it and asks for another one.
  void Refuse(const SlotId& slot);
  // Makes the slots of the block invalid.
  void OnWithdrawn(std::uint64_t block_id) override;

  [[nodiscard]] std::size_t segments() const;
  [[nodiscard]] std::size_t slots() const;

 private:
  [[nodiscard]] Result<Segment*> Find(const SlotId& slot) const;
  void Forget(Segment& segment);
  void Free(Segment& segment, std::size_t index, std::uint64_t block_id);
  static void EndIfUseless(const Segment& segment);

  const std::size_t max_segments_;
  mutable std::mutex mutex_;
  std::map<SegmentId, Segment*> segments_;
  std::unordered_multimap<std::uint64_t, std::pair<Segment*, std::size_t>> by_block_;
};

}  // namespace ebb::transfer
