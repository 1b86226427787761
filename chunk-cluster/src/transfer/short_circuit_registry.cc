#include "transfer/short_circuit_registry.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <random>
#include <system_error>
#include <utility>

namespace ebb::transfer {

namespace {

ShortCircuitRegistry::SegmentId RandomId() {
  std::random_device random;
  const auto word = [&] { return (std::uint64_t{random()} << 32) | random(); };
  const std::uint64_t high = word();
  return {high, word()};
}

// The client uses the same memory at the same time.
void ClearFlags(std::uint64_t& flags, std::uint64_t mask) {
  std::atomic_ref<std::uint64_t>(flags).fetch_and(~mask);
}

std::string NameOf(const ShortCircuitRegistry::SegmentId& id) {
  return fmt::format("{:016x}{:016x}", id.first, id.second);
}

}  // namespace

Status ShortCircuitRegistry::Segment::Map() {
  const auto failed = [] {
    return Fail(ErrorCode::kBusy,
                fmt::format("no shared memory: {}; raise ulimit -n, or free memory",
                            std::generic_category().message(errno)));
  };
  descriptor_ = memfd_create("ebbfs-short-circuit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor_ < 0 || ftruncate(descriptor_, kSegmentBytes) != 0 ||
      // A client that shortened the file would make this process fault.
      fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return failed();
  }
  void* const mapped =
      mmap(nullptr, kSegmentBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) return failed();
  memory_ = static_cast<std::byte*>(mapped);
  return {};
}

ShortCircuitRegistry::Segment::~Segment() {
  registry_.Forget(*this);
  if (memory_ != nullptr) munmap(memory_, kSegmentBytes);
  if (descriptor_ >= 0) close(descriptor_);
}

std::uint64_t& ShortCircuitRegistry::Segment::flags(std::size_t slot) const {
  return *reinterpret_cast<std::uint64_t*>(memory_ + slot * kSlotBytes);
}

Result<std::unique_ptr<ShortCircuitRegistry::Segment>> ShortCircuitRegistry::Create(
    std::function<void()> end) {
  std::unique_ptr<Segment> segment(new Segment(*this, RandomId(), std::move(end)));
  EBB_TRY(segment->Map());
  const std::lock_guard lock(mutex_);
  if (segments_.size() >= max_segments_) {
    return Fail(ErrorCode::kBusy,
                fmt::format("clients have {} segments of shared memory, and get no more; read "
                            "without one",
                            segments_.size()));
  }
  segments_.emplace(segment->id_, segment.get());
  return segment;
}

Result<ShortCircuitRegistry::Segment*> ShortCircuitRegistry::Find(const SlotId& slot) const {
  const auto found = segments_.find(slot.segment);
  if (found == segments_.end()) {
    return Fail(ErrorCode::kNotFound, fmt::format("there is no segment {} of shared memory",
                                                  NameOf(slot.segment)));
  }
  if (slot.index < 0 || slot.index >= static_cast<std::int64_t>(kSlots)) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("slot {} is not one of the {} slots of a segment", slot.index, kSlots));
  }
  return found->second;
}

Status ShortCircuitRegistry::Register(const SlotId& slot, std::uint64_t block_id) {
  const std::lock_guard lock(mutex_);
  EBB_ASSIGN(Segment* const segment, Find(slot));
  const auto index = static_cast<std::size_t>(slot.index);
  if (segment->blocks_.contains(index)) {
    return Fail(ErrorCode::kInvalid, fmt::format("slot {} of segment {} is in use", index,
                                                 NameOf(slot.segment)));
  }
  auto& flags = segment->flags(index);
  if ((std::atomic_ref<std::uint64_t>(flags).load() & kValid) == 0) {
    return Fail(ErrorCode::kInvalid, fmt::format("slot {} of segment {} is not marked as valid",
                                                 index, NameOf(slot.segment)));
  }
  // Nothing is locked in memory here, so that readers must verify checksums.
  ClearFlags(flags, kAnchorable);
  segment->blocks_.emplace(index, block_id);
  segment->refused_.reset(index);
  by_block_.emplace(block_id, std::pair(segment, index));
  return {};
}

Status ShortCircuitRegistry::Unregister(const SlotId& slot) {
  const std::lock_guard lock(mutex_);
  EBB_ASSIGN(Segment* const segment, Find(slot));
  const auto index = static_cast<std::size_t>(slot.index);
  const auto used = segment->blocks_.find(index);
  if (used == segment->blocks_.end()) {
    return Fail(ErrorCode::kInvalid, fmt::format("slot {} of segment {} is not in use", index,
                                                 NameOf(slot.segment)));
  }
  Free(*segment, index, used->second);
  segment->blocks_.erase(used);
  EndIfUseless(*segment);
  return {};
}

void ShortCircuitRegistry::Refuse(const SlotId& slot) {
  const std::lock_guard lock(mutex_);
  const auto found = Find(slot);
  if (!found) return;
  Segment& segment = **found;
  const auto index = static_cast<std::size_t>(slot.index);
  if (const auto used = segment.blocks_.find(index); used != segment.blocks_.end()) {
    Free(segment, index, used->second);
    segment.blocks_.erase(used);
  }
  segment.refused_.set(index);
  EndIfUseless(segment);
}

void ShortCircuitRegistry::EndIfUseless(const Segment& segment) {
  if (segment.blocks_.empty() && segment.refused_.count() >= kMaxRefused) segment.end_();
}

void ShortCircuitRegistry::Free(Segment& segment, std::size_t index, std::uint64_t block_id) {
  ClearFlags(segment.flags(index), kValid);
  const auto [begin, end] = by_block_.equal_range(block_id);
  for (auto it = begin; it != end; ++it) {
    if (it->second == std::pair(&segment, index)) {
      by_block_.erase(it);
      return;
    }
  }
}

void ShortCircuitRegistry::OnWithdrawn(std::uint64_t block_id) {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = by_block_.equal_range(block_id);
  for (auto it = begin; it != end; ++it) {
    ClearFlags(it->second.first->flags(it->second.second), kValid);
  }
}

void ShortCircuitRegistry::Forget(Segment& segment) {
  const std::lock_guard lock(mutex_);
  segments_.erase(segment.id_);
  for (const auto& [index, block_id] : segment.blocks_) Free(segment, index, block_id);
  segment.blocks_.clear();
}

std::size_t ShortCircuitRegistry::segments() const {
  const std::lock_guard lock(mutex_);
  return segments_.size();
}

std::size_t ShortCircuitRegistry::slots() const {
  const std::lock_guard lock(mutex_);
  return by_block_.size();
}

}  // namespace ebb::transfer
