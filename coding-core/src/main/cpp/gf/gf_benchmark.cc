// GB/s of the combine kernel, of ISA-L called directly on the same matrix, and of memcpy. Bytes are
// those of the sources. `--benchmark_filter=RS` runs a part.
#include <benchmark/benchmark.h>
#include <isa-l/erasure_code.h>

#include <cstring>
#include <string>
#include <vector>

#include "gf/field.h"
#include "gf/linear_map.h"

namespace {

struct Shape {
  std::string name;
  std::size_t sources;
  std::size_t targets;
  std::vector<std::uint8_t> matrix;
};

// The Cauchy parities that ISA-L makes.
Shape ReedSolomon(std::size_t k, std::size_t m) {
  std::vector<std::uint8_t> whole((k + m) * k);
  gf_gen_cauchy1_matrix(whole.data(), static_cast<int>(k + m), static_cast<int>(k));
  return {"RS(" + std::to_string(k) + "," + std::to_string(m) + ")",
          k,
          m,
          {whole.begin() + static_cast<std::ptrdiff_t>(k * k), whole.end()}};
}

// Two rows of five, five columns of two and one over all.
Shape Product() {
  Shape shape{"PC(2x5)", 10, 8, std::vector<std::uint8_t>(80)};
  for (std::size_t s = 0; s < 10; ++s) {
    shape.matrix[s / 5 * 10 + s] = 1;
    shape.matrix[(2 + s % 5) * 10 + s] = 1;
    shape.matrix[7 * 10 + s] = 1;
  }
  return shape;
}

// Two local groups of six and two globals.
Shape LocallyRepairable() {
  Shape shape{"LRC(12,2,2)", 12, 4, std::vector<std::uint8_t>(48)};
  std::uint8_t power = 1;
  for (std::size_t s = 0; s < 12; ++s) {
    power = ebb::gf::Mul(power, 2);
    shape.matrix[s / 6 * 12 + s] = 1;
    shape.matrix[2 * 12 + s] = power;
    shape.matrix[3 * 12 + s] = ebb::gf::Mul(power, power);
  }
  return shape;
}

struct Buffers {
  Buffers(std::size_t count, std::size_t length) : bytes(count, std::vector<std::byte>(length)) {
    for (std::size_t i = 0; i < count; ++i) {
      std::memset(bytes[i].data(), static_cast<int>(i * 37 + 1), length);
      pointers.push_back(bytes[i].data());
      raw.push_back(reinterpret_cast<unsigned char*>(bytes[i].data()));
    }
  }
  std::vector<std::vector<std::byte>> bytes;
  std::vector<std::byte*> pointers;
  std::vector<unsigned char*> raw;
};

void Count(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void Combine(benchmark::State& state, const Shape& shape, std::size_t length) {
  Buffers in(shape.sources, length);
  Buffers out(shape.targets, length);
  const std::vector<const std::byte*> sources(in.pointers.begin(), in.pointers.end());
  const ebb::gf::LinearMap map(shape.matrix, shape.sources, shape.targets);
  for (auto _ : state) {
    map.Apply(sources, out.pointers, length);
    benchmark::ClobberMemory();
  }
  Count(state, shape.sources * length);
}

void Isal(benchmark::State& state, const Shape& shape, std::size_t length) {
  Buffers in(shape.sources, length);
  Buffers out(shape.targets, length);
  std::vector<std::uint8_t> tables(shape.matrix.size() * 32);
  auto matrix = shape.matrix;
  ec_init_tables(static_cast<int>(shape.sources), static_cast<int>(shape.targets), matrix.data(),
                 tables.data());
  for (auto _ : state) {
    ec_encode_data(static_cast<int>(length), static_cast<int>(shape.sources),
                   static_cast<int>(shape.targets), tables.data(), in.raw.data(), out.raw.data());
    benchmark::ClobberMemory();
  }
  Count(state, shape.sources * length);
}

void Memcpy(benchmark::State& state, std::size_t buffers, std::size_t length) {
  Buffers in(buffers, length);
  Buffers out(buffers, length);
  for (auto _ : state) {
    for (std::size_t i = 0; i < buffers; ++i) {
      std::memcpy(out.pointers[i], in.pointers[i], length);
    }
    benchmark::ClobberMemory();
  }
  Count(state, buffers * length);
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::size_t kib : {128, 4096}) {
    const std::size_t length = kib << 10;
    const std::string suffix = "/" + std::to_string(kib) + "KiB";
    for (const Shape& shape :
         {ReedSolomon(6, 3), ReedSolomon(10, 4), Product(), LocallyRepairable()}) {
      benchmark::RegisterBenchmark((shape.name + "/combine" + suffix).c_str(), Combine, shape,
                                   length);
      benchmark::RegisterBenchmark((shape.name + "/isal" + suffix).c_str(), Isal, shape, length);
    }
    benchmark::RegisterBenchmark(("memcpy" + suffix).c_str(), Memcpy, std::size_t{10}, length);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
