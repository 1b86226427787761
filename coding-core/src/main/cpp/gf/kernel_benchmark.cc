// Measures the combine kernel in GB/s: each backend through LinearMap, direct calls of ISA-L and
// jerasure with the same matrix, and a memory copy. The matrices come from a file that `ebb codes
// --kernels` writes.
//
//   kernel_benchmark FILE [--json] [--block-bytes N,N,...] [--samples N] [--sample-millis N]
//                    [--default-only]
//
// The file holds, for each map, the line "map NAME OPERATION SOURCES TARGETS" and TARGETS lines of
// SOURCES coefficients. Maps with the same name and operation are one piece of work: they run one
// after the other.
//
// Method: one thread, pinned to one core, and its processor time. Every block has one buffer at a
// page boundary, which is used again and again. Each variant runs before the first sample. A sample
// repeats one variant for some milliseconds. All variants take turns, and the result is the median
// of the samples. The bytes are the bytes of the blocks read. The last line of the table compares
// the default backend with ISA-L called directly, by the medians of the ratios within a turn.
#include <isa-l/erasure_code.h>
extern "C" {
#include <jerasure.h>
}
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "gf/linear_map.h"

namespace {

using ebb::gf::Backend;
using ebb::gf::LinearMap;

struct Matrix {
  std::size_t sources;
  std::size_t targets;
  std::vector<std::uint8_t> coefficients;
};

struct Work {
  std::string name;
  std::string operation;
  std::vector<Matrix> maps;

  [[nodiscard]] std::size_t Sources() const {
    std::size_t sum = 0;
    for (const Matrix& m : maps) sum += m.sources;
    return sum;
  }
  [[nodiscard]] std::size_t Targets() const {
    std::size_t sum = 0;
    for (const Matrix& m : maps) sum += m.targets;
    return sum;
  }
};

struct Options {
  std::string file;
  bool json = false;
  bool default_only = false;
  std::vector<std::size_t> block_bytes = {std::size_t{64} << 10, std::size_t{1} << 20,
                                          std::size_t{8} << 20};
  std::size_t samples = 15;
  std::size_t sample_millis = 2;
};

[[noreturn]] void Die(const std::string& message) {
  std::fprintf(stderr, "kernel_benchmark: %s\n", message.c_str());
  std::exit(2);
}

std::size_t Number(std::string_view option, std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0 ||
      value > (std::size_t{1} << 30)) {
    Die(std::string(option) + ": '" + std::string(text) + "' is not a number from 1 to 2^30");
  }
  return value;
}

Options Parse(int argc, char** argv) {
  Options options;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == arguments.size()) Die(name + " needs a value");
      return arguments[++i];
    };
    if (name == "--json") {
      options.json = true;
    } else if (name == "--default-only") {
      options.default_only = true;
    } else if (name == "--samples") {
      options.samples = Number(name, value());
    } else if (name == "--sample-millis") {
      options.sample_millis = Number(name, value());
    } else if (name == "--block-bytes") {
      options.block_bytes.clear();
      std::istringstream list(value());
      for (std::string item; std::getline(list, item, ',');) {
        options.block_bytes.push_back(Number(name, item));
      }
    } else if (name.starts_with("-") || !options.file.empty()) {
      Die("unknown argument '" + name + "'; see the head of kernel_benchmark.cc");
    } else {
      options.file = name;
    }
  }
  if (options.file.empty()) Die("no file of matrices; 'ebb codes --kernels' writes one");
  return options;
}

std::vector<Work> Read(const std::string& file) {
  std::ifstream in(file);
  if (!in) Die("cannot read " + file);
  std::vector<Work> works;
  for (std::string word; in >> word;) {
    std::string name;
    std::string operation;
    Matrix m{};
    if (word != "map" || !(in >> name >> operation >> m.sources >> m.targets) || m.sources == 0 ||
        m.sources > 255 || m.targets == 0 || m.targets > 255) {
      Die(file + ": expected 'map NAME OPERATION SOURCES TARGETS', got '" + word + " " + name +
          "'");
    }
    for (std::size_t i = 0; i < m.sources * m.targets; ++i) {
      unsigned value = 256;
      if (!(in >> value) || value > 255) Die(file + ": " + name + ": a coefficient is 0 to 255");
      m.coefficients.push_back(static_cast<std::uint8_t>(value));
    }
    if (works.empty() || works.back().name != name || works.back().operation != operation) {
      works.push_back({name, operation, {}});
    }
    works.back().maps.push_back(std::move(m));
  }
  if (works.empty()) Die(file + " has no matrices");
  return works;
}

// Blocks at page boundaries, as in the chunk server.
class Buffers {
 public:
  Buffers(std::size_t count, std::size_t length, unsigned seed)
      : stride_((length + kPageBytes - 1) / kPageBytes * kPageBytes) {
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kPageBytes, count * stride_)));
    if (!memory_) Die("no memory for " + std::to_string(count * stride_) + " bytes");
    for (std::size_t i = 0; i < count * stride_; ++i) {
      seed = seed * 1664525 + 1013904223;
      memory_.get()[i] = static_cast<std::byte>(seed >> 24);
    }
    for (std::size_t i = 0; i < count; ++i) pointers.push_back(memory_.get() + i * stride_);
  }
  std::vector<std::byte*> pointers;

 private:
  static constexpr std::size_t kPageBytes = 4096;
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::size_t stride_;
  std::unique_ptr<std::byte, Free> memory_;
};

struct Variant {
  std::string name;
  std::function<void()> run;
  bool computes = true;  // false for the memory copy
  std::size_t repeats = 1;
  std::vector<double> gb_per_second{};
};

using Iterator = std::vector<std::byte*>::const_iterator;

template <typename T>
std::vector<T*> Cast(Iterator from, std::size_t count) {
  std::vector<T*> cast;
  for (std::size_t i = 0; i < count; ++i) cast.push_back(reinterpret_cast<T*>(*from++));
  return cast;
}

// Calls `make` with each map and the sources and targets of that map. `make` returns the work to
// run.
template <typename Make>
std::function<void()> ForEachMap(const Work& work, const Buffers& in, const Buffers& out,
                                 Make make) {
  std::vector<std::function<void()>> runs;
  Iterator source = in.pointers.begin();
  Iterator target = out.pointers.begin();
  for (const Matrix& m : work.maps) {
    runs.push_back(make(m, source, target));
    source += static_cast<std::ptrdiff_t>(m.sources);
    target += static_cast<std::ptrdiff_t>(m.targets);
  }
  return [runs] {
    for (const auto& run : runs) run();
  };
}

Variant Copy(const Work& work, const Buffers& in, const Buffers& to, std::size_t length) {
  return {"copy",
          [&in, &to, count = work.Sources(), length] {
            for (std::size_t i = 0; i < count; ++i) {
              std::memcpy(to.pointers[i], in.pointers[i], length);
            }
          },
          false};
}

Variant IsalDirect(const Work& work, const Buffers& in, const Buffers& out, std::size_t length) {
  return {"isal-direct", ForEachMap(work, in, out, [=](const Matrix& m, Iterator s, Iterator t) {
            const int k = static_cast<int>(m.sources);
            const int rows = static_cast<int>(m.targets);
            std::vector<std::uint8_t> tables(m.coefficients.size() * 32);
            auto matrix = m.coefficients;
            ec_init_tables(k, rows, matrix.data(), tables.data());
            return [=, sources = Cast<unsigned char>(s, m.sources),
                    targets = Cast<unsigned char>(t, m.targets)]() mutable {
              ec_encode_data(static_cast<int>(length), k, rows, tables.data(), sources.data(),
                             targets.data());
            };
          })};
}

Variant JerasureDirect(const Work& work, const Buffers& in, const Buffers& out,
                       std::size_t length) {
  return {
      "jerasure-direct", ForEachMap(work, in, out, [=](const Matrix& m, Iterator s, Iterator t) {
        return [=, k = static_cast<int>(m.sources), rows = static_cast<int>(m.targets),
                matrix = std::vector<int>(m.coefficients.begin(), m.coefficients.end()),
                sources = Cast<char>(s, m.sources), targets = Cast<char>(t, m.targets)]() mutable {
          jerasure_matrix_encode(k, rows, 8, matrix.data(), sources.data(), targets.data(),
                                 static_cast<int>(length));
        };
      })};
}

Variant Ours(const Work& work, const Buffers& in, const Buffers& out, std::size_t length,
             Backend backend) {
  return {std::string(Name(backend)),
          ForEachMap(work, in, out, [=](const Matrix& m, Iterator s, Iterator t) {
            return
                [=, map = LinearMap(m.coefficients, m.sources, m.targets, backend),
                 sources = Cast<const std::byte>(s, m.sources),
                 targets = Cast<std::byte>(t, m.targets)] { map.Apply(sources, targets, length); };
          })};
}

// A thread that moves to another core finds none of its data in the cache there.
void Pin() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<std::size_t>(std::max(0, sched_getcpu())), &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) != 0) {
    std::fprintf(stderr, "kernel_benchmark: the thread cannot be pinned to a core\n");
  }
}

double Seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double Time(const Variant& variant) {
  const double start = Seconds();
  for (std::size_t i = 0; i < variant.repeats; ++i) variant.run();
  return Seconds() - start;
}

// Ends the process unless every variant writes the same bytes.
void CheckEqual(const std::vector<Variant>& variants, const Buffers& out, std::size_t length) {
  std::vector<std::byte> first;
  for (const Variant& variant : variants) {
    if (!variant.computes) continue;
    for (std::byte* target : out.pointers) std::memset(target, 0xA5, length);
    variant.run();
    std::vector<std::byte> bytes;
    for (const std::byte* target : out.pointers) bytes.insert(bytes.end(), target, target + length);
    if (first.empty()) first = bytes;
    if (first != bytes) Die(variant.name + " writes other bytes than " + variants[1].name);
  }
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void Measure(std::vector<Variant>& variants, const Options& options, double bytes) {
  const double least = static_cast<double>(options.sample_millis) * 1e-3;
  for (Variant& variant : variants) {
    while (Time(variant) < least && variant.repeats < (std::size_t{1} << 24)) variant.repeats *= 2;
  }
  for (std::size_t sample = 0; sample < options.samples; ++sample) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      Variant& variant = variants[(sample + i) % variants.size()];
      const double seconds = Time(variant);
      const double total = bytes * static_cast<double>(variant.repeats);
      variant.gb_per_second.push_back(total / seconds * 1e-9);
    }
  }
}

// How the default backend compares with ISA-L called directly.
struct Comparison {
  double ratio;
  std::string what;  // such as "RS(6,3) encode, 64K"
};

std::optional<Comparison> Compare(const Work& work, std::size_t length,
                                  const std::vector<Variant>& variants) {
  const auto named = [&](std::string_view name) {
    return std::ranges::find(variants, name, &Variant::name);
  };
  const auto isal = named("isal-direct");
  const auto ours = named(Name(ebb::gf::DefaultBackend()));
  if (isal == variants.end() || ours == variants.end()) return std::nullopt;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours->gb_per_second.size(); ++i) {
    ratios.push_back(ours->gb_per_second[i] / isal->gb_per_second[i]);
  }
  return Comparison{Median(ratios), work.name + " " + work.operation + ", " +
                                        std::to_string(length >> 10) + "K"};
}

std::vector<Variant> Variants(const Work& work, const Options& options, const Buffers& in,
                              const Buffers& out, const Buffers& copy, std::size_t length) {
  std::vector<Variant> variants = {Copy(work, in, copy, length)};
  if (options.default_only) {
    variants.push_back(Ours(work, in, out, length, ebb::gf::DefaultBackend()));
    return variants;
  }
  variants.push_back(IsalDirect(work, in, out, length));
  variants.push_back(JerasureDirect(work, in, out, length));
  for (const Backend backend : ebb::gf::kAllBackends) {
    if (IsAvailable(backend)) variants.push_back(Ours(work, in, out, length, backend));
  }
  return variants;
}

std::string Processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  }
  return "unknown";
}

void PrintTableRow(const Work& work, std::size_t length, const std::vector<Variant>& variants,
                   bool head) {
  if (head) {
    std::printf("%-12s %-7s %5s %7s", "code", "", "block", "blocks");
    for (const Variant& v : variants) std::printf(" %15s", v.name.c_str());
    std::printf("\n");
  }
  std::printf("%-12s %-7s %4zuK %3zu>%-3zu", work.name.c_str(), work.operation.c_str(),
              length >> 10, work.Sources(), work.Targets());
  for (const Variant& v : variants) std::printf(" %15.1f", Median(v.gb_per_second));
  std::printf("\n");
  std::fflush(stdout);
}

void PrintJsonRow(const Work& work, std::size_t length, const std::vector<Variant>& variants,
                  bool head) {
  std::printf(
      "%s\n  {\"code\": \"%s\", \"operation\": \"%s\", \"blockBytes\": %zu, "
      "\"blocksRead\": %zu, \"blocksWritten\": %zu, \"gbPerSecond\": {",
      head ? "" : ",", work.name.c_str(), work.operation.c_str(), length, work.Sources(),
      work.Targets());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    std::printf("%s\"%s\": %.2f", i == 0 ? "" : ", ", variants[i].name.c_str(),
                Median(variants[i].gb_per_second));
  }
  std::printf("}}");
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = Parse(argc, argv);
  const std::vector<Work> works = Read(options.file);
  const std::string backend(Name(ebb::gf::DefaultBackend()));
  const std::string processor = Processor();
  if (options.json) {
    std::printf(
        "{\"processor\": \"%s\", \"defaultBackend\": \"%s\", \"samples\": %zu, "
        "\"results\": [",
        processor.c_str(), backend.c_str(), options.samples);
  } else {
    std::printf(
        "GB/s of the blocks read, on one core of %s\n"
        "direct: the library alone, on the whole matrix; the last columns: each backend "
        "as the chunk server uses it, by default %s\n",
        processor.c_str(), backend.c_str());
  }
  Pin();
  bool head = true;
  std::optional<Comparison> lowest;
  for (const std::size_t length : options.block_bytes) {
    for (const Work& work : works) {
      const Buffers in(work.Sources(), length, 1);
      const Buffers out(work.Targets(), length, 2);
      const Buffers copy(work.Sources(), length, 3);
      auto variants = Variants(work, options, in, out, copy, length);
      CheckEqual(variants, out, length);
      Measure(variants, options, static_cast<double>(work.Sources() * length));
      (options.json ? PrintJsonRow : PrintTableRow)(work, length, variants, head);
      head = false;
      const auto comparison = Compare(work, length, variants);
      if (comparison && (!lowest || comparison->ratio < lowest->ratio)) lowest = comparison;
    }
  }
  if (options.json) {
    std::printf("\n]}\n");
  } else if (lowest) {
    std::printf("%s / isal-direct: at least %.2f (%s)\n", backend.c_str(), lowest->ratio,
                lowest->what.c_str());
  }
  return 0;
}
