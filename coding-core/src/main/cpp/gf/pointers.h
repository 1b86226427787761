// The pointers of a few sources or targets, without the heap. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace ebb::gf {

template <typename Pointer>
class Pointers {
 public:
  // The pointers are uninitialized.
  explicit Pointers(std::size_t size) : large_(size > small_.size() ? size : 0) {
    begin_ = large_.empty() ? small_.data() : large_.data();
  }
  Pointers(const Pointers&) = delete;
  Pointers& operator=(const Pointers&) = delete;

  [[nodiscard]] Pointer& operator[](std::size_t i) { return begin_[i]; }
  [[nodiscard]] Pointer* data() { return begin_; }

 private:
  std::array<Pointer, 32> small_;
  std::vector<Pointer> large_;
  Pointer* begin_;
};

}  // namespace ebb::gf
