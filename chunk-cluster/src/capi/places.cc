// The calls that tell of servers and space.
#include <fmt/format.h>

#include <cerrno>
#include <string>

#include "capi/c_memory.h"
#include "capi/connection.h"
#include "capi/failure.h"
#include "capi/hdfs.h"

using ebb::capi::AllocateC;
using ebb::capi::Answer;
using ebb::capi::CopyText;
using ebb::capi::FailWith;
using ebb::capi::Guarded;

namespace {

struct FreeHosts {
  void operator()(char*** hosts) const { hdfsFreeHosts(hosts); }
};

Answer<char***> HostsOf(hdfsFS fs, const char* text, tOffset start, tOffset length) {
  EBB_TRY(ebb::capi::CheckHandle(fs));
  EBB_ASSIGN(const std::string path, fs->Path(text));
  if (start < 0 || length < 0) {
    return FailWith(EINVAL, fmt::format("there is no range {}+{}", start, length));
  }
  EBB_ASSIGN(const auto located, fs->files->Blocks(path, static_cast<std::uint64_t>(start),
                                                   static_cast<std::uint64_t>(length)));
  const auto count = static_cast<std::size_t>(located.blocks_size());
  std::unique_ptr<char**, FreeHosts> hosts(AllocateC<char**>(count + 1).release());
  for (std::size_t i = 0; i < count; ++i) {
    const auto& servers = located.blocks(static_cast<int>(i)).locs();
    char** names = AllocateC<char*>(static_cast<std::size_t>(servers.size()) + 1).release();
    hosts.get()[i] = names;
    for (const auto& server : servers) *names++ = CopyText(server.id().hostname()).release();
  }
  return hosts.release();
}

}  // namespace

char*** hdfsGetHosts(hdfsFS fs, const char* path, tOffset start, tOffset length) {
  return Guarded<char***>(nullptr, [&] { return HostsOf(fs, path, start, length); });
}

void hdfsFreeHosts(char*** hosts) {
  if (hosts == nullptr) return;
  for (char*** block = hosts; *block != nullptr; ++block) {
    for (char** name = *block; *name != nullptr; ++name) std::free(*name);
    std::free(*block);
  }
  std::free(hosts);
}

tOffset hdfsGetDefaultBlockSize(hdfsFS fs) {
  return Guarded<tOffset>(-1, [&]() -> Answer<tOffset> {
    EBB_TRY(ebb::capi::CheckHandle(fs));
    return static_cast<tOffset>(fs->files->block_bytes());
  });
}

tOffset hdfsGetDefaultBlockSizeAtPath(hdfsFS fs, const char* path) {
  return Guarded<tOffset>(-1, [&]() -> Answer<tOffset> {
    EBB_TRY(ebb::capi::CheckHandle(fs));
    EBB_TRY(fs->Path(path));
    return static_cast<tOffset>(fs->files->block_bytes());
  });
}

tOffset hdfsGetCapacity(hdfsFS fs) {
  return Guarded<tOffset>(-1, [&]() -> Answer<tOffset> {
    EBB_TRY(ebb::capi::CheckHandle(fs));
    EBB_ASSIGN(const auto capacity, fs->files->Capacity());
    return static_cast<tOffset>(capacity.capacity());
  });
}

tOffset hdfsGetUsed(hdfsFS fs) {
  return Guarded<tOffset>(-1, [&]() -> Answer<tOffset> {
    EBB_TRY(ebb::capi::CheckHandle(fs));
    EBB_ASSIGN(const auto capacity, fs->files->Capacity());
    return static_cast<tOffset>(capacity.used());
  });
}
