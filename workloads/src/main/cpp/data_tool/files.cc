#include "data_tool/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "data_tool/java_random.h"
#include "erasurecoding.pb.h"

namespace ebb::data_tool {

namespace {

using Streams = std::vector<std::unique_ptr<client::InputStream>>;

Status CheckLength(const std::string& path, std::uint64_t found, std::uint64_t bytes) {
  if (found == bytes) return {};
  return Fail(ErrorCode::kCorrupt,
              fmt::format("{} has {} bytes instead of {}", path, found, bytes));
}

Result<Streams> OpenAll(client::FileSystem& files, const FileSet& set) {
  Streams streams;
  for (std::size_t i = 0; i < set.count; ++i) {
    EBB_ASSIGN(auto stream, files.OpenFile(set.Path(i)));
    streams.push_back(std::move(stream));
  }
  return streams;
}

// A stream serves one thread: each thread has its own of each file.
std::vector<Streams> ForEachThread(const Streams& opened, std::size_t threads) {
  std::vector<Streams> all(threads);
  for (Streams& streams : all) {
    for (const auto& stream : opened) streams.push_back(stream->Another());
  }
  return all;
}

}  // namespace

Result<Timing> Files::Write(const FileSet& set, std::uint32_t replication,
                            std::size_t threads) const {
  return RunParts(set.count, threads, [&](std::size_t i, std::size_t) {
    return WriteOne(set.Path(i), set.bytes, replication);
  });
}

Status Files::WriteOne(const std::string& path, std::uint64_t bytes,
                       std::uint32_t replication) const {
  client::CreateOptions options;
  options.overwrite = true;
  options.replication = replication;
  EBB_ASSIGN(const auto stream, files_.Create(path, options));
  for (std::uint64_t done = 0; done < bytes;) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, bytes - done));
    EBB_TRY(stream->Write(content_.At(path, done, count)));
    done += count;
  }
  return stream->Close();
}

Result<Timing> Files::Read(const FileSet& set, std::size_t threads) const {
  return RunParts(set.count, threads, [&](std::size_t i, std::size_t) {
    return ReadOne(set.Path(i), set.bytes);
  });
}

Status Files::ReadOne(const std::string& path, std::uint64_t bytes) const {
  EBB_ASSIGN(const auto stream, files_.OpenFile(path));
  for (std::uint64_t done = 0;;) {
    EBB_ASSIGN(const auto found, stream->Next(kPieceBytes));
    if (found.empty()) return CheckLength(path, done, bytes);
    EBB_TRY(content_.Check(path, done, found));
    done += found.size();
  }
}

Result<Timing> Files::ReadBegin(const FileSet& set) const {
  return RunParts(set.count, 1, [&](std::size_t i, std::size_t) {
    return ReadBeginOfOne(set.Path(i), set.bytes);
  });
}

Status Files::ReadBeginOfOne(const std::string& path, std::uint64_t bytes) const {
  EBB_ASSIGN(const auto stream, files_.OpenFile(path));
  for (std::uint64_t done = 0; done < bytes;) {
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, bytes - done));
    EBB_ASSIGN(const auto found, stream->Next(most));
    if (found.empty()) return CheckLength(path, done, bytes);
    EBB_TRY(content_.Check(path, done, found));
    done += found.size();
  }
  return {};
}

Result<Timing> Files::ReadParts(const FileSet& set, std::size_t threads,
                                const RandomReads& reads) const {
  if (set.count == 0 || reads.length > set.bytes) {
    return Fail(ErrorCode::kInvalid, fmt::format("{} files of {} bytes have no parts of {} bytes",
                                                 set.count, set.bytes, reads.length));
  }
  EBB_ASSIGN(const Streams opened, OpenAll(files_, set));
  const std::vector<Streams> streams = ForEachThread(opened, threads);
  std::vector<std::vector<std::byte>> buffers(threads, std::vector<std::byte>(reads.length));
  return RunParts(reads.count, threads, [&](std::size_t i, std::size_t thread) -> Status {
    JavaRandom random(reads.seed * 1'000'003 + static_cast<std::int64_t>(i));
    const std::size_t file = i % set.count;
    const auto at = static_cast<std::uint64_t>(random.NextDouble() *
                                               static_cast<double>(set.bytes - reads.length));
    const std::span<std::byte> buffer(buffers[thread]);
    EBB_ASSIGN(const std::size_t found, streams[thread][file]->ReadAt(at, buffer));
    EBB_TRY(CheckLength(set.Path(file), at + found, at + reads.length));
    return content_.Check(set.Path(file), at, buffer);
  });
}

Status Files::MakeDirectory(const std::string& path, const std::string& policy) const {
  EBB_TRY(files_.MakeDirectory(path, true));
  if (policy.empty()) return {};
  hadoop::hdfs::EnableErasureCodingPolicyRequestProto enable;
  enable.set_ecpolicyname(policy);
  EBB_TRY(files_.namenode().Ask<hadoop::hdfs::EnableErasureCodingPolicyResponseProto>(
      "enableErasureCodingPolicy", enable));
  hadoop::hdfs::SetErasureCodingPolicyRequestProto set;
  set.set_src(path);
  set.set_ecpolicyname(policy);
  EBB_TRY(files_.namenode().Ask<hadoop::hdfs::SetErasureCodingPolicyResponseProto>(
      "setErasureCodingPolicy", set));
  return {};
}

Status Files::Remove(const std::string& path) const {
  EBB_TRY(files_.Remove(path, true));
  return {};
}

}  // namespace ebb::data_tool
