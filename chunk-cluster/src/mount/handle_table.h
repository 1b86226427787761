// The open files or directories of a mount, by the numbers that the kernel has for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ebb::mount {

// Thread-safe.
template <typename Handle>
class HandleTable {
 public:
  using Pointer = std::shared_ptr<Handle>;

  explicit HandleTable(std::size_t most) : most_(most) {}

  // 0 if so many are open already.
  [[nodiscard]] std::uint64_t Add(Pointer handle) {
    const std::lock_guard lock(mutex_);
    if (handles_.size() >= most_) return 0;
    handles_.emplace(++last_, std::move(handle));
    return last_;
  }
  // Null if there is none.
  [[nodiscard]] Pointer Find(std::uint64_t number) const {
    const std::lock_guard lock(mutex_);
    const auto found = handles_.find(number);
    return found == handles_.end() ? nullptr : found->second;
  }
  Pointer Take(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    auto node = handles_.extract(number);
    return node.empty() ? nullptr : std::move(node.mapped());
  }
  [[nodiscard]] std::vector<Pointer> All() const {
    const std::lock_guard lock(mutex_);
    std::vector<Pointer> all;
    for (const auto& [number, handle] : handles_) all.push_back(handle);
    return all;
  }

 private:
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::unordered_map<std::uint64_t, Pointer> handles_;
};

}  // namespace ebb::mount
