// The calls that copy and move trees, also between two file systems.
#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capi/connection.h"
#include "capi/failure.h"
#include "capi/hdfs.h"
#include "client/path.h"

using ebb::capi::Answer;
using ebb::capi::FailWith;
using ebb::capi::Guarded;
using ebb::client::Below;
using ebb::client::FileStatus;
using ebb::client::FileSystem;
using ebb::client::InputStream;
using ebb::client::OutputStream;

namespace {

constexpr std::size_t kCopyBytes = std::size_t{1} << 20;

// A path of one of the two file systems.
struct Place {
  FileSystem* files = nullptr;
  std::string path;

  [[nodiscard]] std::string Uri() const { return files->uri() + path; }
  [[nodiscard]] std::string Name() const { return path.substr(path.rfind('/') + 1); }
  [[nodiscard]] Place Child(const std::string& name) const { return {files, Below(path, name)}; }
};

Answer<Place> PlaceOf(hdfsFS fs, const char* text) {
  EBB_TRY(ebb::capi::CheckHandle(fs));
  EBB_ASSIGN(std::string path, fs->Path(text));
  return Place{fs->files.get(), std::move(path)};
}

// `bytes` are the first of the source.
Answer<void> CopyBytes(std::span<const std::byte> bytes, InputStream& in, OutputStream& out) {
  while (!bytes.empty()) {
    EBB_TRY(out.Write(bytes));
    EBB_ASSIGN(bytes, in.Next(kCopyBytes));
  }
  EBB_TRY(out.Close());
  return {};
}

// A copy that fails removes what it has written, so that nobody takes the part for the file. An
// existing target stays as long as the copy has not replaced it.
Answer<void> CopyFile(const Place& from, const Place& to) {
  EBB_ASSIGN(const auto in, from.files->OpenFile(from.path));
  // A source whose first bytes cannot be read replaces nothing.
  EBB_ASSIGN(const auto first, in->Next(kCopyBytes));
  EBB_ASSIGN(const auto out, to.files->Create(to.path, {.overwrite = true}));
  auto copied = CopyBytes(first, *in, *out);
  if (!copied) (void)to.files->Remove(to.path, false);
  return copied;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the tree.
Answer<void> CopyTree(const Place& from, const FileStatus& status, const Place& to) {
  if (!status.IsDirectory()) return CopyFile(from, to);
  EBB_TRY(to.files->MakeDirectory(to.path, true));
  std::vector<FileStatus> children;
  EBB_TRY(from.files->List(from.path, [&](std::vector<FileStatus>& batch) {
    for (auto& child : batch) children.push_back(std::move(child));
    return true;
  }));
  for (const auto& child : children) {
    EBB_TRY(CopyTree(from.Child(child.name), child, to.Child(child.name)));
  }
  return {};
}

// Where a copy goes: into the target if that is a directory.
Answer<Place> TargetOf(const Place& from, const Place& to) {
  EBB_ASSIGN(const auto present, to.files->Stat(to.path));
  if (!present || !present->IsDirectory()) return to;
  const Place inside = to.Child(from.Name());
  EBB_ASSIGN(const auto there, inside.files->Stat(inside.path));
  if (!there || !there->IsDirectory()) return inside;
  return FailWith(EISDIR, fmt::format("{} is a directory", inside.Uri()));
}

bool IsSame(const FileStatus& one, const FileStatus& other) {
  return one.file_id == other.file_id && one.modified_millis == other.modified_millis &&
         one.length == other.length;
}

// Whether the source is the target, or a directory above it. One namenode may have several names,
// so the ids of the two are compared, too.
Answer<bool> Holds(const Place& from, const FileStatus& status, const Place& to) {
  if (from.Uri() == to.Uri() || to.Uri().starts_with(Below(from.Uri(), ""))) return true;
  if (from.files->uri() == to.files->uri()) return false;
  for (std::string path = to.path;; path.resize(path.rfind('/'))) {
    EBB_ASSIGN(const auto present, to.files->Stat(path.empty() ? "/" : path));
    if (present && IsSame(status, *present)) return true;
    if (path.size() <= 1) return false;
  }
}

// A source that holds its own target would never end, and a file that is its own target would be
// empty.
Answer<void> CheckApart(const Place& from, const FileStatus& status, const Place& to) {
  EBB_ASSIGN(const bool holds, Holds(from, status, to));
  if (!holds) return {};
  return FailWith(EINVAL, fmt::format("{} cannot be copied to {}", from.Uri(), to.Uri()));
}

Answer<void> CopyPlace(const Place& from, const Place& wanted, bool move) {
  EBB_ASSIGN(const auto status, from.files->Stat(from.path));
  if (!status) return FailWith(ENOENT, fmt::format("{} does not exist", from.Uri()));
  EBB_ASSIGN(const auto to, TargetOf(from, wanted));
  EBB_TRY(CheckApart(from, *status, to));
  EBB_TRY(CopyTree(from, *status, to));
  if (move) EBB_TRY(from.files->Remove(from.path, true));
  return {};
}

int CopyOrMove(hdfsFS sourceFs, const char* source, hdfsFS targetFs, const char* target,
               bool move) noexcept {
  return Guarded([&]() -> Answer<void> {
    EBB_ASSIGN(const auto from, PlaceOf(sourceFs, source));
    EBB_ASSIGN(const auto to, PlaceOf(targetFs, target));
    return CopyPlace(from, to, move);
  });
}

}  // namespace

int hdfsCopy(hdfsFS sourceFs, const char* source, hdfsFS targetFs, const char* target) {
  return CopyOrMove(sourceFs, source, targetFs, target, false);
}

int hdfsMove(hdfsFS sourceFs, const char* source, hdfsFS targetFs, const char* target) {
  return CopyOrMove(sourceFs, source, targetFs, target, true);
}
