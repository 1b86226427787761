// The calls that tell of files: hdfsFileInfo.
#include <fmt/format.h>

#include <cerrno>
#include <climits>
#include <string>
#include <utility>
#include <vector>

#include "capi/c_memory.h"
#include "capi/connection.h"
#include "capi/failure.h"
#include "capi/hdfs.h"
#include "client/path.h"

using ebb::capi::AllocateC;
using ebb::capi::Answer;
using ebb::capi::CMemory;
using ebb::capi::CopyText;
using ebb::capi::FailWith;
using ebb::capi::Guarded;
using ebb::client::FileStatus;

namespace {

// hdfsFileInfo has no room for more, because programs know its size. What it lacks lies behind the
// name of the owner.
struct ExtendedInfo {
  int encrypted = 0;
};

// Where it lies: at the next multiple of 8 bytes.
std::size_t ExtendedOffset(std::size_t owner_bytes) { return (owner_bytes + 1 + 7) / 8 * 8; }

CMemory<char> OwnerWithMore(const FileStatus& status) {
  const std::size_t offset = ExtendedOffset(status.owner.size());
  auto memory = AllocateC<char>(offset + sizeof(ExtendedInfo));
  std::memcpy(memory.get(), status.owner.data(), status.owner.size());
  const ExtendedInfo more{status.encrypted ? 1 : 0};
  std::memcpy(memory.get() + offset, &more, sizeof more);
  return memory;
}

// Infos that nobody owns yet.
struct FreeInfos {
  int count = 0;
  void operator()(hdfsFileInfo* infos) const { hdfsFreeFileInfo(infos, count); }
};
using OwnedInfos = std::unique_ptr<hdfsFileInfo, FreeInfos>;

OwnedInfos AllocateInfos(int count) {
  return {AllocateC<hdfsFileInfo>(static_cast<std::size_t>(count)).release(), FreeInfos{count}};
}

void Fill(hdfsFileInfo& info, const FileStatus& status, const std::string& name) {
  info.mKind = status.IsDirectory() ? kObjectKindDirectory : kObjectKindFile;
  info.mName = CopyText(name).release();
  info.mOwner = OwnerWithMore(status).release();
  info.mGroup = CopyText(status.group).release();
  info.mLastMod = static_cast<tTime>(status.modified_millis / 1000);
  info.mLastAccess = static_cast<tTime>(status.accessed_millis / 1000);
  info.mSize = status.IsDirectory() ? 0 : static_cast<tOffset>(status.length);
  info.mReplication = static_cast<short>(status.replication);
  info.mBlockSize = static_cast<tOffset>(status.block_bytes);
  info.mPermissions = static_cast<short>(status.mode);
}

Answer<OwnedInfos> ListOf(hdfsFS fs, const char* text) {
  EBB_TRY(ebb::capi::CheckHandle(fs));
  EBB_ASSIGN(const std::string path, fs->Path(text));
  std::vector<FileStatus> entries;
  EBB_TRY(fs->files->List(path, [&](std::vector<FileStatus>& batch) {
    for (auto& entry : batch) entries.push_back(std::move(entry));
    return true;
  }));
  if (entries.size() > INT_MAX) return FailWith(EOVERFLOW, fmt::format("{} is too long", path));
  if (entries.empty()) return OwnedInfos();
  auto infos = AllocateInfos(static_cast<int>(entries.size()));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& name = entries[i].name;
    Fill(infos.get()[i], entries[i],
         fs->files->uri() + (name.empty() ? path : ebb::client::Below(path, name)));
  }
  return infos;
}

}  // namespace

hdfsFileInfo* hdfsListDirectory(hdfsFS fs, const char* path, int* numEntries) {
  return Guarded<hdfsFileInfo*>(nullptr, [&]() -> Answer<hdfsFileInfo*> {
    EBB_TRY(ebb::capi::CheckHandle(numEntries));
    EBB_ASSIGN(auto infos, ListOf(fs, path));
    *numEntries = infos.get_deleter().count;
    errno = 0;
    return infos.release();
  });
}

hdfsFileInfo* hdfsGetPathInfo(hdfsFS fs, const char* path) {
  return Guarded<hdfsFileInfo*>(nullptr, [&]() -> Answer<hdfsFileInfo*> {
    EBB_TRY(ebb::capi::CheckHandle(fs));
    EBB_ASSIGN(const std::string absolute, fs->Path(path));
    EBB_ASSIGN(const auto status, fs->files->CachedStat(absolute));
    if (!status) return FailWith(ENOENT, fmt::format("{} does not exist", absolute));
    auto info = AllocateInfos(1);
    Fill(*info, *status, fs->files->uri() + absolute);
    return info.release();
  });
}

void hdfsFreeFileInfo(hdfsFileInfo* infos, int numEntries) {
  if (infos == nullptr) return;
  for (int i = 0; i < numEntries; ++i) {
    std::free(infos[i].mName);
    std::free(infos[i].mOwner);
    std::free(infos[i].mGroup);
  }
  std::free(infos);
}

int hdfsFileIsEncrypted(hdfsFileInfo* info) {
  ExtendedInfo more;
  std::memcpy(&more, info->mOwner + ExtendedOffset(std::strlen(info->mOwner)), sizeof more);
  return more.encrypted;
}
