#include "transfer/md5.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace ebb::transfer {

namespace {

constexpr int kShifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

// floor(2^32 * |sin(i + 1)|), as the RFC defines them.
std::array<std::uint32_t, 64> MakeConstants() {
  std::array<std::uint32_t, 64> constants;
  for (int i = 0; i < 64; ++i) {
    constants[static_cast<std::size_t>(i)] =
        static_cast<std::uint32_t>(std::floor(std::fabs(std::sin(i + 1.0)) * 4294967296.0));
  }
  return constants;
}

using State = std::array<std::uint32_t, 4>;

void Mix(State& state, const std::byte* block) {
  static const auto constants = MakeConstants();
  std::uint32_t words[16];
  std::memcpy(words, block, sizeof words);
  auto [a, b, c, d] = state;
  for (unsigned i = 0; i < 64; ++i) {
    std::uint32_t f = 0;
    unsigned word = 0;
    switch (i / 16) {
      case 0:
        f = (b & c) | (~b & d);
        word = i;
        break;
      case 1:
        f = (d & b) | (~d & c);
        word = (5 * i + 1) % 16;
        break;
      case 2:
        f = b ^ c ^ d;
        word = (3 * i + 5) % 16;
        break;
      default:
        f = c ^ (b | ~d);
        word = 7 * i % 16;
        break;
    }
    const std::uint32_t sum = a + f + constants[i] + words[word];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kShifts[i / 16][i % 4]);
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

}  // namespace

Md5Digest Md5(std::span<const std::byte> data) {
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const std::uint64_t bits = data.size() * 8;
  for (; data.size() >= 64; data = data.subspan(64)) Mix(state, data.data());
  std::byte tail[128] = {};
  if (!data.empty()) std::memcpy(tail, data.data(), data.size());
  tail[data.size()] = std::byte{0x80};
  const std::size_t size = data.size() < 56 ? 64 : 128;
  std::memcpy(tail + size - 8, &bits, 8);
  Mix(state, tail);
  if (size == 128) Mix(state, tail + 64);
  Md5Digest digest;
  std::memcpy(digest.data(), state.data(), digest.size());
  return digest;
}

}  // namespace ebb::transfer
