// Memory that callers of the C API free by its functions.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

namespace ebb::capi {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

template <typename T>
using CMemory = std::unique_ptr<T, FreeMemory>;

// Zeroed memory for so many elements. Throws std::bad_alloc.
template <typename T>
[[nodiscard]] CMemory<T> AllocateC(std::size_t count) {
  auto* const memory = static_cast<T*>(std::calloc(count, sizeof(T)));
  if (memory == nullptr) throw std::bad_alloc();
  return CMemory<T>(memory);
}

[[nodiscard]] inline CMemory<char> CopyText(std::string_view text) {
  auto copy = AllocateC<char>(text.size() + 1);
  std::memcpy(copy.get(), text.data(), text.size());
  return copy;
}

}  // namespace ebb::capi
