#include "transfer/block_sender.h"

#include <algorithm>

#include "common/fail_point.h"
#include "transfer/wire.h"

namespace ebb::transfer {

namespace {

// Data up to this size are copied into the buffer, which is cheaper than sendfile.
constexpr std::size_t kCopyBytes = 32 << 10;

std::span<std::byte> Extend(std::string& buffer, std::size_t bytes) {
  const std::size_t size = buffer.size();
  buffer.resize(size + bytes);
  return std::as_writable_bytes(std::span(buffer)).subspan(size);
}

void AppendEnd(std::string& buffer, const SendRange& range, std::int64_t sequence) {
  AppendPacketPrefix(buffer,
                     {.offset = range.end, .sequence = sequence, .last = true, .sync = range.sync});
}

// Holds small writes back as long as this exists.
class Corked {
 public:
  Corked(Socket& socket, bool corks) : socket_(socket), corks_(corks) {
    if (corks_) socket_.Cork(true);
  }
  ~Corked() {
    if (corks_) socket_.Cork(false);
  }
  Corked(const Corked&) = delete;
  Corked& operator=(const Corked&) = delete;

 private:
  Socket& socket_;
  const bool corks_;
};

}  // namespace

Status SendReplica(Socket& socket, const ReplicaReader& replica, const SendRange& range,
                   std::string prefix, bool* began) {
  const auto& checksum = replica.checksum();
  const std::size_t chunk = checksum.bytes_per_chunk;
  const std::size_t most = range.pace ? kMovePacketBytes : kPacketDataBytes;
  const std::size_t step = std::max<std::size_t>(most / chunk, 1) * chunk;
  std::string buffer = std::move(prefix);
  std::int64_t sequence = 0;
  const Corked corked(socket, range.end - range.offset > kCopyBytes);
  const auto send = [&] {
    if (began != nullptr) *began = true;
    return WriteString(socket, buffer, range.timeout);
  };
  fail_point::Half half;
  for (std::uint64_t offset = range.offset; offset < range.end; offset += step) {
    const std::size_t bytes = std::min<std::uint64_t>(step, range.end - offset);
    const std::size_t sums = range.with_checksums ? checksum.BytesFor(bytes) : 0;
    if (half.ReachedBy(offset - range.offset, range.end - range.offset)) {
      EBB_TRY(fail_point::Reach(fail_point::kSourceHalf));
    }
    AppendPacketPrefix(buffer, {.offset = offset,
                                .sequence = sequence++,
                                .last = false,
                                .sync = false,
                                .sums_bytes = sums,
                                .data_bytes = bytes});
    if (sums > 0) EBB_TRY(replica.ReadChecksums(offset, offset + bytes, Extend(buffer, sums)));
    // The first read of the disk comes before the first byte that is sent.
    const bool reads_first = sums == 0 && offset == range.offset;
    if (bytes <= kCopyBytes || reads_first || replica.descriptor() < 0) {
      EBB_TRY(replica.ReadData(offset, Extend(buffer, bytes)));
    } else {
      EBB_TRY(send());
      buffer.clear();
      EBB_TRY(socket.SendFile(replica.descriptor(), offset, bytes, range.timeout,
                              [&](const auto& call) { return replica.Call(call); }));
    }
    if (range.pace) EBB_TRY(range.pace(bytes + sums));
  }
  if (half.ReachedBy(1, 1)) EBB_TRY(fail_point::Reach(fail_point::kSourceHalf));
  AppendEnd(buffer, range, sequence);
  return send();
}

Status SendSource(Socket& socket, BlockSource& source, const format::Checksum& checksum,
                  const SendRange& range, std::string prefix, bool* began) {
  std::string buffer = std::move(prefix);
  std::int64_t sequence = 0;
  for (std::uint64_t offset = range.offset; offset < range.end; offset += kPacketDataBytes) {
    const std::size_t bytes = std::min<std::uint64_t>(kPacketDataBytes, range.end - offset);
    const std::size_t sums = range.with_checksums ? checksum.BytesFor(bytes) : 0;
    AppendPacketPrefix(buffer, {.offset = offset,
                                .sequence = sequence++,
                                .last = false,
                                .sync = false,
                                .sums_bytes = sums,
                                .data_bytes = bytes});
    const auto body = Extend(buffer, sums + bytes);
    EBB_TRY(source.Read(body.last(bytes)));
    if (sums > 0) checksum.ComputeAll(body.last(bytes), body.data());
    if (range.end - offset > bytes) {
      *began = true;
      EBB_TRY(WriteString(socket, buffer, range.timeout));
      buffer.clear();
    }
  }
  AppendEnd(buffer, range, sequence);
  *began = true;
  return WriteString(socket, buffer, range.timeout);
}

}  // namespace ebb::transfer
