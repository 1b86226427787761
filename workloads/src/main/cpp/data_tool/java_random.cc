#include "data_tool/java_random.h"

namespace ebb::data_tool {

namespace {

constexpr std::uint64_t kMultiplier = 0x5DEECE66D;
constexpr std::uint64_t kIncrement = 0xB;
constexpr int kStateBits = 48;
constexpr std::uint64_t kStateMask = (std::uint64_t{1} << kStateBits) - 1;
constexpr std::size_t kBytesPerNumber = 4;

}  // namespace

JavaRandom::JavaRandom(std::int64_t seed)
    : state_((static_cast<std::uint64_t>(seed) ^ kMultiplier) & kStateMask) {}

std::uint32_t JavaRandom::Next(int bits) {
  state_ = (state_ * kMultiplier + kIncrement) & kStateMask;
  return static_cast<std::uint32_t>(state_ >> (kStateBits - bits));
}

void JavaRandom::FillBytes(std::span<std::byte> out) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    number = i % kBytesPerNumber == 0 ? Next(32) : number >> 8;
    out[i] = static_cast<std::byte>(number & 0xFF);
  }
}

double JavaRandom::NextDouble() {
  const std::uint64_t high = Next(26);
  return static_cast<double>((high << 27) + Next(27)) * 0x1.0p-53;
}

}  // namespace ebb::data_tool
