// The calls that use an open file.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <span>

#include "capi/c_memory.h"
#include "capi/failure.h"
#include "capi/hdfs.h"
#include "capi/open_file.h"

using ebb::capi::AllocateC;
using ebb::capi::Answer;
using ebb::capi::FailWith;
using ebb::capi::Guarded;
using ebb::capi::ReadFile;
using ebb::capi::WriteFile;

namespace {

// The stream of a file that is read; fails with `otherwise` for one that is written.
Answer<ReadFile*> ReaderOf(hdfsFile file, int otherwise) {
  EBB_TRY(ebb::capi::CheckHandle(file));
  if (!file->reader) return FailWith(otherwise, "the file is not open for reading");
  return file->reader.get();
}

Answer<WriteFile*> WriterOf(hdfsFile file, int otherwise) {
  EBB_TRY(ebb::capi::CheckHandle(file));
  if (!file->writer) return FailWith(otherwise, "the file is not open for writing");
  return file->writer.get();
}

Answer<std::size_t> SizeOf(tSize length) {
  if (length >= 0) return static_cast<std::size_t>(length);
  return FailWith(EINVAL, fmt::format("the length is {}", length));
}

Answer<std::uint64_t> OffsetOf(tOffset offset) {
  if (offset >= 0) return static_cast<std::uint64_t>(offset);
  return FailWith(EINVAL, fmt::format("the position is {}", offset));
}

Answer<tSize> ReadAt(hdfsFile file, tOffset position, void* buffer, tSize length) {
  EBB_ASSIGN(auto* const reader, ReaderOf(file, EINVAL));
  EBB_ASSIGN(const auto offset, OffsetOf(position));
  EBB_ASSIGN(const auto size, SizeOf(length));
  EBB_ASSIGN(const auto read,
             reader->ReadAt(offset, std::span(static_cast<std::byte*>(buffer), size)));
  return static_cast<tSize>(read);
}

}  // namespace

int hdfsFileIsOpenForRead(hdfsFile file) { return file != nullptr && file->reader ? 1 : 0; }

int hdfsFileIsOpenForWrite(hdfsFile file) { return file != nullptr && file->writer ? 1 : 0; }

int hdfsCloseFile(hdfsFS /*fs*/, hdfsFile file) {
  return Guarded([&]() -> Answer<void> {
    EBB_TRY(ebb::capi::CheckHandle(file));
    // The connections are the parent's, as those of hdfsDisconnect.
    if (file->process != getpid()) return {};
    const std::unique_ptr<hdfsFile_internal> owned(file);
    if (owned->writer) EBB_TRY(owned->writer->Close());
    return {};
  });
}

tSize hdfsRead(hdfsFS /*fs*/, hdfsFile file, void* buffer, tSize length) {
  return Guarded<tSize>(-1, [&]() -> Answer<tSize> {
    EBB_ASSIGN(auto* const reader, ReaderOf(file, EINVAL));
    EBB_ASSIGN(const auto size, SizeOf(length));
    EBB_ASSIGN(const auto read, reader->Read(std::span(static_cast<std::byte*>(buffer), size)));
    return static_cast<tSize>(read);
  });
}

tSize hdfsPread(hdfsFS /*fs*/, hdfsFile file, tOffset position, void* buffer, tSize length) {
  return Guarded<tSize>(-1, [&] { return ReadAt(file, position, buffer, length); });
}

int hdfsPreadFully(hdfsFS /*fs*/, hdfsFile file, tOffset position, void* buffer, tSize length) {
  return Guarded([&]() -> Answer<void> {
    EBB_ASSIGN(const auto read, ReadAt(file, position, buffer, length));
    if (read == length) return {};
    return FailWith(EINTERNAL,
                    fmt::format("the file ends {} bytes after position {}; {} were asked for", read,
                                position, length));
  });
}

int hdfsSeek(hdfsFS /*fs*/, hdfsFile file, tOffset position) {
  return Guarded([&]() -> Answer<void> {
    EBB_ASSIGN(auto* const reader, ReaderOf(file, EBADF));
    EBB_ASSIGN(const auto offset, OffsetOf(position));
    EBB_TRY(reader->Seek(offset));
    return {};
  });
}

tOffset hdfsTell(hdfsFS /*fs*/, hdfsFile file) {
  return Guarded<tOffset>(-1, [&]() -> Answer<tOffset> {
    EBB_TRY(ebb::capi::CheckHandle(file));
    return static_cast<tOffset>(file->reader ? file->reader->position()
                                             : file->writer->position());
  });
}

tOffset ebbfsFileLength(hdfsFile file) {
  return Guarded<tOffset>(-1, [&]() -> Answer<tOffset> {
    EBB_TRY(ebb::capi::CheckHandle(file));
    return static_cast<tOffset>(file->reader ? file->reader->length() : file->writer->position());
  });
}

int hdfsAvailable(hdfsFS /*fs*/, hdfsFile file) {
  return Guarded<int>(-1, [&]() -> Answer<int> {
    EBB_ASSIGN(auto* const reader, ReaderOf(file, EBADF));
    const auto left = reader->length() - reader->position();
    return static_cast<int>(std::min<std::uint64_t>(left, INT_MAX));
  });
}

int hdfsUnbufferFile(hdfsFile file) {
  const int code = Guarded([&]() -> Answer<void> {
    EBB_ASSIGN(auto* const reader, ReaderOf(file, ENOTSUP));
    reader->Unbuffer();
    return {};
  });
  return code == 0 ? 0 : errno;
}

tSize hdfsWrite(hdfsFS /*fs*/, hdfsFile file, const void* buffer, tSize length) {
  return Guarded<tSize>(-1, [&]() -> Answer<tSize> {
    EBB_ASSIGN(auto* const writer, WriterOf(file, EINVAL));
    EBB_ASSIGN(const auto size, SizeOf(length));
    EBB_TRY(writer->Write(std::span(static_cast<const std::byte*>(buffer), size)));
    return length;
  });
}

int hdfsFlush(hdfsFS /*fs*/, hdfsFile file) {
  return Guarded([&]() -> Answer<void> {
    EBB_TRY(WriterOf(file, EBADF));
    return {};
  });
}

int hdfsHFlush(hdfsFS /*fs*/, hdfsFile file) {
  return Guarded([&]() -> Answer<void> {
    EBB_ASSIGN(auto* const writer, WriterOf(file, EBADF));
    EBB_TRY(writer->Flush());
    return {};
  });
}

int hdfsHSync(hdfsFS /*fs*/, hdfsFile file) {
  return Guarded([&]() -> Answer<void> {
    EBB_ASSIGN(auto* const writer, WriterOf(file, EBADF));
    EBB_TRY(writer->Sync());
    return {};
  });
}

int hdfsFileGetReadStatistics(hdfsFile file, hdfsReadStatistics** statistics) {
  return Guarded([&]() -> Answer<void> {
    EBB_ASSIGN(auto* const reader, ReaderOf(file, EINVAL));
    EBB_TRY(ebb::capi::CheckHandle(statistics));
    const auto counts = reader->counts();
    auto filled = AllocateC<hdfsReadStatistics>(1);
    filled->totalBytesRead = counts.bytes;
    filled->totalLocalBytesRead = counts.local_bytes;
    *statistics = filled.release();
    return {};
  });
}

std::int64_t hdfsReadStatisticsGetRemoteBytesRead(const hdfsReadStatistics* statistics) {
  return static_cast<std::int64_t>(statistics->totalBytesRead - statistics->totalLocalBytesRead);
}

int hdfsFileClearReadStatistics(hdfsFile file) {
  const int code = Guarded([&]() -> Answer<void> {
    EBB_ASSIGN(auto* const reader, ReaderOf(file, EINVAL));
    reader->ClearCounts();
    return {};
  });
  return code == 0 ? 0 : errno;
}

void hdfsFileFreeReadStatistics(hdfsReadStatistics* statistics) { std::free(statistics); }

int hdfsGetHedgedReadMetrics(hdfsFS fs, hdfsHedgedReadMetrics** metrics) {
  return Guarded([&]() -> Answer<void> {
    EBB_TRY(ebb::capi::CheckHandle(fs));
    EBB_TRY(ebb::capi::CheckHandle(metrics));
    *metrics = AllocateC<hdfsHedgedReadMetrics>(1).release();
    return {};
  });
}

void hdfsFreeHedgedReadMetrics(hdfsHedgedReadMetrics* metrics) { std::free(metrics); }
