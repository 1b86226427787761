#include "common/crc32c.h"

#include <nmmintrin.h>
#include <zlib.h>

#include <array>
#include <cstring>

#include "common/bytes.h"

namespace ebb {

namespace {

constexpr std::uint32_t kCastagnoli = 0x82f63b78;
constexpr std::uint32_t kIso = 0xedb88320;

// Slicing by eight: table[k][b] is the checksum of byte b followed by k zero bytes.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables = {};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kCastagnoli : 0);
    tables[0][b] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::uint32_t b = 0; b < 256; ++b) {
      tables[k][b] = (tables[k - 1][b] >> 8) ^ tables[0][tables[k - 1][b] & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

std::uint64_t Load64(const std::byte* p) {
  std::uint64_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// The state is inverted, as in all inner loops below.
std::uint32_t PortableLoop(std::uint32_t state, const std::byte* p, std::size_t n) {
  for (; n >= 8; p += 8, n -= 8) {
    const std::uint64_t word = Load64(p) ^ state;
    state = 0;
    for (std::size_t k = 0; k < 8; ++k) state ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (; n > 0; ++p, --n) {
    state = (state >> 8) ^ kTables[0][(state ^ static_cast<std::uint32_t>(*p)) & 0xff];
  }
  return state;
}

__attribute__((target("sse4.2"))) std::uint32_t Sse42Loop(std::uint32_t state, const std::byte* p,
                                                          std::size_t n) {
  std::uint64_t wide = state;
  for (; n >= 8; p += 8, n -= 8) wide = _mm_crc32_u64(wide, Load64(p));
  state = static_cast<std::uint32_t>(wide);
  for (; n > 0; ++p, --n) state = _mm_crc32_u8(state, static_cast<unsigned char>(*p));
  return state;
}

__attribute__((target("sse4.2"))) void Sse42ThreeChunks(const std::byte* p, std::size_t chunk,
                                                        std::byte* out) {
  std::uint64_t a = 0xffffffff;
  std::uint64_t b = 0xffffffff;
  std::uint64_t c = 0xffffffff;
  for (std::size_t i = 0; i < chunk; i += 8) {
    a = _mm_crc32_u64(a, Load64(p + i));
    b = _mm_crc32_u64(b, Load64(p + chunk + i));
    c = _mm_crc32_u64(c, Load64(p + 2 * chunk + i));
  }
  StoreBig32(out, ~static_cast<std::uint32_t>(a));
  StoreBig32(out + 4, ~static_cast<std::uint32_t>(b));
  StoreBig32(out + 8, ~static_cast<std::uint32_t>(c));
}

const bool kHasSse42 = __builtin_cpu_supports("sse4.2") != 0;

// The state after `zeros` zero bytes: the state times a power of x^8 modulo the polynomial.
std::uint32_t MultiplyModulo(std::uint32_t a, std::uint32_t b, std::uint32_t polynomial) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 0x80000000; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? polynomial : 0);
  }
  return product;
}

// x^(8 * bytes), reflected, modulo the polynomial.
std::uint32_t PowerOf(std::uint64_t bytes, std::uint32_t polynomial) {
  std::uint32_t power = 0x00800000;  // x^8
  std::uint32_t shift = 0x80000000;  // 1
  for (std::uint64_t n = bytes; n != 0; n >>= 1) {
    if ((n & 1) != 0) shift = MultiplyModulo(shift, power, polynomial);
    power = MultiplyModulo(power, power, polynomial);
  }
  return shift;
}

std::uint32_t Concat(std::uint32_t crc_a, std::uint32_t crc_b, std::uint64_t length_b,
                     std::uint32_t polynomial) {
  return MultiplyModulo(PowerOf(length_b, polynomial), crc_a, polynomial) ^ crc_b;
}

}  // namespace

std::uint32_t Crc32c(std::uint32_t crc, std::span<const std::byte> data) {
  if (!kHasSse42) return Crc32cPortable(crc, data);
  return ~Sse42Loop(~crc, data.data(), data.size());
}

std::uint32_t Crc32cPortable(std::uint32_t crc, std::span<const std::byte> data) {
  return ~PortableLoop(~crc, data.data(), data.size());
}

std::uint32_t Crc32(std::uint32_t crc, std::span<const std::byte> data) {
  return static_cast<std::uint32_t>(
      crc32_z(crc, reinterpret_cast<const Bytef*>(data.data()), data.size()));
}

std::uint32_t Crc32cConcat(std::uint32_t crc_a, std::uint32_t crc_b, std::uint64_t length_b) {
  return Concat(crc_a, crc_b, length_b, kCastagnoli);
}

std::uint32_t Crc32Concat(std::uint32_t crc_a, std::uint32_t crc_b, std::uint64_t length_b) {
  return Concat(crc_a, crc_b, length_b, kIso);
}

Crc32cComposer::Crc32cComposer(std::uint64_t chunk_bytes)
    : chunk_bytes_(chunk_bytes), shift_(PowerOf(chunk_bytes, kCastagnoli)) {}

void Crc32cComposer::Append(std::uint32_t crc, std::uint64_t length) {
  value_ = length == chunk_bytes_ ? MultiplyModulo(shift_, value_, kCastagnoli) ^ crc
                                  : Crc32cConcat(value_, crc, length);
}

void Crc32cChunks(std::span<const std::byte> data, std::size_t chunk, std::byte* out) {
  while (kHasSse42 && chunk % 8 == 0 && data.size() >= 3 * chunk) {
    Sse42ThreeChunks(data.data(), chunk, out);
    data = data.subspan(3 * chunk);
    out += 12;
  }
  while (!data.empty()) {
    const std::size_t n = data.size() < chunk ? data.size() : chunk;
    StoreBig32(out, Crc32c(0, data.first(n)));
    data = data.subspan(n);
    out += 4;
  }
}

}  // namespace ebb
