// Sends a part of a block as packets: a replica from a disk, or a computed block.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/block_stream.h"
#include "common/error.h"
#include "common/socket.h"
#include "disk/block_store.h"

namespace ebb::transfer {

struct SendRange {
  // The beginning of a chunk.
  std::uint64_t offset = 0;
  // The end of a chunk, or the length of the block.
  std::uint64_t end = 0;
  bool with_checksums = true;
  // The last, empty packet asks the receiver to sync.
  bool sync = false;
  // For sending one packet.
  Timeout timeout;
  // Called after each packet of a replica with the number of its bytes; it may wait. An error ends
  // the transfer. May be empty.
  std::function<Status(std::uint64_t)> pace = {};
};

// Sends `prefix`, then the packets, of which the last is empty. Data and checksums are sent as they
// are on the disk: the receiver verifies them. Data go from the file to the socket without passing
// through this process. kCorrupt or kIo means that the replica is bad. Sets `*began`, if there is
// one, before the first byte is sent: an error before that leaves room for an answer.
[[nodiscard]] Status SendReplica(Socket& socket, const ReplicaReader& replica,
                                 const SendRange& range, std::string prefix,
                                 bool* began = nullptr);
// Sends a computed block. The next byte of `source` is the one at range.offset. Checksums are
// computed here. Sets `*began` before the first byte is sent, which is after the first packet was
// read.
[[nodiscard]] Status SendSource(Socket& socket, BlockSource& source,
                                const format::Checksum& checksum, const SendRange& range,
                                std::string prefix, bool* began);

}  // namespace ebb::transfer
