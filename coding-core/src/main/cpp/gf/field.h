// Arithmetic in GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1 (0x11d), the field of ISA-L
// and jerasure. Addition is XOR. The tables are computed at compile time. Every function is pure.
#pragma once

#include <array>
#include <cstdint>

namespace ebb::gf {

inline constexpr unsigned kPolynomial = 0x11d;

namespace internal {

struct Tables {
  // exp[i] = 2^i. The table holds two periods, so that the sum of two logarithms needs no
  // reduction.
  std::array<std::uint8_t, 510> exp{};
  // log[2^i] = i. log[0] is undefined.
  std::array<std::uint8_t, 256> log{};
};

consteval Tables MakeTables() {
  Tables tables;
  unsigned power = 1;
  for (unsigned i = 0; i < 255; ++i) {
    tables.exp[i] = tables.exp[i + 255] = static_cast<std::uint8_t>(power);
    tables.log[power] = static_cast<std::uint8_t>(i);
    power <<= 1;
    if ((power & 0x100) != 0) power ^= kPolynomial;
  }
  return tables;
}

inline constexpr Tables kTables = MakeTables();

}  // namespace internal

[[nodiscard]] constexpr std::uint8_t Mul(std::uint8_t a, std::uint8_t b) {
  if (a == 0 || b == 0) return 0;
  return internal::kTables.exp[internal::kTables.log[a] + internal::kTables.log[b]];
}

// Zero has no inverse. Inv(0) is 0.
[[nodiscard]] constexpr std::uint8_t Inv(std::uint8_t a) {
  return a == 0 ? std::uint8_t{0} : internal::kTables.exp[255 - internal::kTables.log[a]];
}

}  // namespace ebb::gf
