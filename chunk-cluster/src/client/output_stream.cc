#include "client/output_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "ClientNamenodeProtocol.pb.h"

namespace ebb::client {

using namespace hadoop::hdfs;
using ebb::Status;

namespace {

constexpr std::int64_t kDefaultPacketBytes = 256 << 10;
constexpr std::int64_t kMostPacketBytes = 8 << 20;
// How long Close() waits for the replicas of the last block: 20 s in all.
constexpr auto kFirstCompletionWait = std::chrono::milliseconds(5);
constexpr int kMostCompletionWaits = 12;

Result<int> ChecksumTypeOf(const Configuration& configuration) {
  const auto name = configuration.Get("dfs.checksum.type", "CRC32C");
  if (name == "CRC32C") return CHECKSUM_CRC32C;
  if (name == "CRC32") return CHECKSUM_CRC32;
  return Fail(ErrorCode::kUnsupported,
              fmt::format("dfs.checksum.type is '{}'; write CRC32C or CRC32", name));
}

// A pipeline needs a thread, and a packet needs memory. A stream that lacks one of them has failed
// like one whose servers have: what it was about to do is half done.
template <typename Work>
Status Caught(const std::string& path, const Work& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kIo, fmt::format("{} cannot be written: {}", path, error.what()));
  }
}

}  // namespace

Result<WriteOptions> WriteOptionsOf(const Configuration& configuration) {
  WriteOptions options;
  EBB_ASSIGN(const auto chunk, configuration.Number("dfs.bytes-per-checksum", 512, 1));
  EBB_ASSIGN(const int type, ChecksumTypeOf(configuration));
  EBB_ASSIGN(const auto packet,
             configuration.Number("dfs.client-write-packet-size", kDefaultPacketBytes, 1));
  EBB_ASSIGN(options.replacement, ReplacementPolicyOf(configuration));
  EBB_ASSIGN(const auto retries, configuration.Number("dfs.client.block.write.retries", 3));
  ChecksumProto checksum;
  checksum.set_type(static_cast<ChecksumTypeProto>(type));
  checksum.set_bytesperchecksum(static_cast<std::uint32_t>(std::min<std::int64_t>(chunk, 1 << 30)));
  EBB_ASSIGN(options.checksum, transfer::FromProto(checksum));
  const auto chunks = std::max<std::int64_t>(std::min(packet, kMostPacketBytes) / chunk, 1);
  options.packet_bytes = static_cast<std::size_t>(chunks * chunk);
  options.most_retries = static_cast<int>(std::min<std::int64_t>(retries, 1000));
  return options;
}

OutputStream::OutputStream(NamenodeConnection& namenode, LeaseRenewer& leases, WrittenFile file,
                           const WriteOptions& options)
    : namenode_(namenode), leases_(leases), file_(std::move(file)), options_(options) {
  leases_.OnOpen();
}

OutputStream::~OutputStream() { leases_.OnClose(); }

Result<std::unique_ptr<OutputStream>> OutputStream::Start(
    NamenodeConnection& namenode, LeaseRenewer& leases, const std::string& path,
    const FileStatus& file, const std::optional<LocatedBlockProto>& last,
    const WriteOptions& options) {
  std::unique_ptr<OutputStream> stream(new OutputStream(
      namenode, leases, {path, file.file_id, leases.client_name(), file.block_bytes,
       static_cast<int>(file.replication)},
      options));
  stream->opened_ = file;
  stream->writable_ = CheckWritable(path, file);
  if (file.erasure && stream->writable_) {
    auto started = StripedWriter::Start(namenode, stream->file_, *file.erasure, options.checksum,
                                        options.packet_bytes);
    if (started) {
      stream->striped_ = std::move(started).value();
    } else {
      stream->writable_ = std::unexpected(std::move(started).error());
    }
  }
  if (last) {
    EBB_TRY(stream->writable_);
    if (stream->striped_) {
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("{} is encoded by its clients: its last block group cannot be "
                              "continued",
                              path));
    }
    stream->writer_ = std::make_unique<BlockWriter>(namenode, stream->file_, options.checksum,
                                                    options.most_retries, options.replacement);
    stream->offset_ = last->b().numbytes();
    stream->finished_bytes_ = file.length - std::min(file.length, stream->offset_);
    EBB_TRY(Caught(path, [&] { return stream->writer_->Reopen(*last); }));
  } else {
    stream->finished_bytes_ = file.length;
  }
  return stream;
}

Status OutputStream::Guarded(Status status) {
  if (!status && !failure_) failure_ = status.error();
  if (options_.changed) options_.changed(file_.path);
  return status;
}

Status OutputStream::Write(std::span<const std::byte> data) {
  if (failure_) return std::unexpected(*failure_);
  if (closed_) return Fail(ErrorCode::kInvalid, fmt::format("{} is closed", file_.path));
  return Guarded(Caught(file_.path, [&] { return WriteBytes(data); }));
}

Status OutputStream::WriteBytes(std::span<const std::byte> data) {
  if (striped_) return striped_->Write(data);
  while (!data.empty()) {
    if (!packet_) packet_ = std::make_shared<WritePacket>(offset_, PacketRoom());
    data = data.subspan(packet_->Append(data));
    if (packet_->full()) EBB_TRY(SendPacket(false));
    if (offset_ >= file_.block_bytes) EBB_TRY(EndBlock());
  }
  return {};
}

std::size_t OutputStream::PacketRoom() const {
  const std::uint64_t in_chunk = offset_ % options_.checksum.bytes_per_chunk;
  const std::uint64_t most =
      in_chunk == 0 ? options_.packet_bytes : options_.checksum.bytes_per_chunk - in_chunk;
  return std::min<std::uint64_t>(most, file_.block_bytes - offset_);
}

Status OutputStream::EnsureBlock() {
  if (writer_) return {};
  EBB_TRY(writable_);
  writer_ =
      std::make_unique<BlockWriter>(namenode_, file_, options_.checksum, options_.most_retries,
                                    options_.replacement);
  unlisted_ = true;
  return writer_->Allocate(previous_ ? &*previous_ : nullptr);
}

Status OutputStream::SendPacket(bool sync) {
  EBB_TRY(EnsureBlock());
  const auto packet = std::exchange(packet_, nullptr);
  packet->Seal(sequence_++, options_.checksum, false, sync);
  offset_ = packet->end();
  return writer_->Send(packet);
}

Status OutputStream::EndBlock() {
  if (!writer_) return {};
  auto end = std::make_shared<WritePacket>(offset_, 0);
  end->Seal(sequence_++, options_.checksum, true, false);
  EBB_TRY(writer_->Finish(std::move(end)));
  previous_ = writer_->block();
  writer_ = nullptr;
  finished_bytes_ += std::exchange(offset_, 0);
  sequence_ = 0;
  return {};
}

Status OutputStream::FlushOrSync(bool sync) {
  if (failure_) return std::unexpected(*failure_);
  if (closed_) return Fail(ErrorCode::kInvalid, fmt::format("{} is closed", file_.path));
  return Guarded(Caught(file_.path, [&] { return FlushBytes(sync); }));
}

Status OutputStream::FlushBytes(bool sync) {
  if (striped_) return {};
  // A packet without data carries the order to sync.
  if (!packet_ && sync && writer_) packet_ = std::make_shared<WritePacket>(offset_, 0);
  if (packet_) EBB_TRY(SendPacket(sync));
  if (!writer_) return {};
  EBB_TRY(writer_->Flush());
  if (unlisted_) EBB_TRY(PersistLength());
  unlisted_ = false;
  if (offset_ >= file_.block_bytes) EBB_TRY(EndBlock());
  return {};
}

Status OutputStream::Drain() {
  if (failure_) return std::unexpected(*failure_);
  if (closed_) return Fail(ErrorCode::kInvalid, fmt::format("{} is closed", file_.path));
  return Guarded(Caught(file_.path, [&] { return DrainBytes(); }));
}

Status OutputStream::DrainBytes() {
  if (striped_) return {};
  if (packet_) EBB_TRY(SendPacket(false));
  return writer_ ? writer_->AwaitAll() : Status();
}

Status OutputStream::PersistLength() {
  FsyncRequestProto request;
  request.set_src(file_.path);
  request.set_client(file_.client_name);
  request.set_fileid(file_.file_id);
  request.set_lastblocklength(static_cast<std::int64_t>(offset_));
  FsyncResponseProto response;
  return namenode_.Call("fsync", request, response);
}

Status OutputStream::Close() {
  if (failure_) return std::unexpected(*failure_);
  if (closed_) return {};
  closed_ = true;
  return Guarded(Caught(file_.path, [&] { return Finish(); }));
}

Status OutputStream::Finish() {
  if (striped_) {
    EBB_TRY(striped_->Finish());
    previous_ = striped_->previous();
    return Complete();
  }
  if (packet_) EBB_TRY(SendPacket(false));
  EBB_TRY(EndBlock());
  return Complete();
}

Status OutputStream::Complete() {
  CompleteRequestProto request;
  request.set_src(file_.path);
  request.set_clientname(file_.client_name);
  request.set_fileid(file_.file_id);
  if (previous_) *request.mutable_last() = *previous_;
  for (int waits = 0;; ++waits) {
    EBB_ASSIGN(const auto answer, namenode_.Ask<CompleteResponseProto>("complete", request));
    if (answer.result()) return {};
    if (waits == kMostCompletionWaits) break;
    std::this_thread::sleep_for(kFirstCompletionWait * (1 << waits));
  }
  return Fail(ErrorCode::kTimeout,
              fmt::format("{} cannot be closed: its last block has too few replicas; are the "
                          "chunk servers up?",
                          file_.path));
}

}  // namespace ebb::client
