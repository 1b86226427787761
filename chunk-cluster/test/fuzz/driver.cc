// Drives a fuzz target without libFuzzer: runs the files of a corpus, and then random mutations of
// them. The same seed makes the same inputs.
//
//   TARGET [--runs N] [--seed S] FILE_OR_DIRECTORY...
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "allocation_limit.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

constexpr std::size_t kMaxInputBytes = 4096;

// For the handler of signals: it may not allocate.
const Input* current = nullptr;
std::string crash_file;
std::atomic<bool> limited = false;

void SaveCurrent(int signal) {
  if (current != nullptr) {
    if (std::FILE* file = std::fopen(crash_file.c_str(), "wb")) {
      std::fwrite(current->data(), 1, current->size(), file);
      std::fclose(file);
    }
    std::fprintf(stderr, "the input of %zu bytes is in %s\n", current->size(), crash_file.c_str());
  }
  ::signal(signal, SIG_DFL);
  raise(signal);
}

void* Allocate(std::size_t bytes, std::size_t alignment = 0) {
  if (limited && bytes > ebb::fuzz::kMaxAllocationBytes) {
    limited = false;
    std::fprintf(stderr,
                 "an input of %zu bytes made the parser take %zu bytes at once; %zu are allowed\n",
                 current->size(), bytes, ebb::fuzz::kMaxAllocationBytes);
    abort();
  }
  void* const memory =
      alignment == 0
          ? std::malloc(bytes == 0 ? 1 : bytes)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void Run(const Input& input) {
  current = &input;
  limited = true;
  (void)LLVMFuzzerTestOneInput(input.data(), input.size());
  limited = false;
  current = nullptr;
}

Input Load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Input(std::istreambuf_iterator<char>(file), {});
}

// One small change. The numbers are those at which lengths overflow or turn negative.
void Mutate(Input& input, const std::vector<Input>& corpus, std::mt19937_64& random) {
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : random() % bound; };
  const auto at = [&](std::size_t index) {
    return input.begin() + static_cast<std::ptrdiff_t>(index);
  };
  switch (below(8)) {
    case 0:  // flips a bit
      if (!input.empty()) input[below(input.size())] ^= static_cast<std::uint8_t>(1u << below(8));
      break;
    case 1: {  // an extreme byte
      constexpr std::uint8_t kBytes[] = {0, 1, 0x7f, 0x80, 0xff};
      if (!input.empty()) input[below(input.size())] = kBytes[below(std::size(kBytes))];
      break;
    }
    case 2: {  // an extreme number of 4 bytes, big endian
      constexpr std::uint32_t kNumbers[] = {0,       0xffffffff, 0x7fffffff, 0x80000000, 0x00ffffff,
                                            1 << 20, 1 << 24,    0xffff0000, 3,          4};
      if (input.size() < 4) break;
      const std::uint32_t number = kNumbers[below(std::size(kNumbers))];
      const std::size_t start = below(input.size() - 3);
      for (std::size_t i = 0; i < 4; ++i) {
        input[start + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
      }
      break;
    }
    case 3:  // cuts the end off
      input.resize(below(input.size() + 1));
      break;
    case 4: {  // removes a part
      const std::size_t start = below(input.size());
      const std::size_t count = below(std::min<std::size_t>(16, input.size() - start) + 1);
      input.erase(at(start), at(start + count));
      break;
    }
    case 5: {  // repeats a part
      const std::size_t start = below(input.size());
      const std::size_t count = below(input.size() - start + 1);
      const Input part(at(start), at(start + count));
      input.insert(at(below(input.size() + 1)), part.begin(), part.end());
      break;
    }
    case 6: {  // inserts random bytes
      Input part(1 + below(8));
      for (auto& byte : part) byte = static_cast<std::uint8_t>(random());
      input.insert(at(below(input.size() + 1)), part.begin(), part.end());
      break;
    }
    default: {  // goes on with another input
      const Input& other = corpus[below(corpus.size())];
      input.resize(below(input.size() + 1));
      const std::size_t start = below(other.size() + 1);
      input.insert(input.end(), other.begin() + static_cast<std::ptrdiff_t>(start), other.end());
    }
  }
  if (input.size() > kMaxInputBytes) input.resize(kMaxInputBytes);
}

std::vector<Input> LoadAll(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.emplace_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Input> corpus;
  for (const auto& file : files) corpus.push_back(Load(file));
  return corpus;
}

}  // namespace

void* operator new(std::size_t bytes) { return Allocate(bytes); }
void* operator new[](std::size_t bytes) { return Allocate(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

int main(int argc, char** argv) {
  std::uint64_t runs = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const bool more = i + 1 < argc;
    if (more && std::strcmp(argv[i], "--runs") == 0) {
      runs = std::strtoull(argv[++i], nullptr, 10);
    } else if (more && std::strcmp(argv[i], "--seed") == 0) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      paths.emplace_back(argv[i]);
    }
  }
  const std::vector<Input> corpus = LoadAll(paths);
  if (corpus.empty()) {
    std::fprintf(stderr, "no inputs; name the files or folders of a corpus\n");
    return 2;
  }
  crash_file = "crash-" + std::filesystem::path(argv[0]).filename().string();
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) signal(number, SaveCurrent);
  std::printf("seed %llu: %zu inputs and %llu mutations\n", static_cast<unsigned long long>(seed),
              corpus.size(), static_cast<unsigned long long>(runs));
  std::fflush(stdout);
  for (const auto& input : corpus) Run(input);
  std::mt19937_64 random(seed);
  for (std::uint64_t i = 0; i < runs; ++i) {
    Input input = corpus[random() % corpus.size()];
    for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes)
      Mutate(input, corpus, random);
    Run(input);
  }
  return 0;
}
