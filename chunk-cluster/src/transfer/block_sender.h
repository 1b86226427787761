// Sends a part of a block as packets: a replica from a disk, or a block that is computed.
#pragma once

#include <cstdint>
#include <string>

#include "combine/block_io.h"
#include "common/error.h"
#include "common/socket.h"
#include "disk/block_store.h"

namespace ebb::transfer {

struct SendRange {
  // Begins a chunk.
  std::uint64_t offset = 0;
  // Ends a chunk or is the length of the block.
  std::uint64_t end = 0;
  bool with_checksums = true;
  // Asked of the last, empty packet.
  bool sync = false;
  // For each packet.
  Timeout timeout;
};

// Sends `prefix` and then the packets, the last of them empty. Data go from the file to the socket
// without passing through this process. An error of code kCorrupt or kIo is the replica's fault.
[[nodiscard]] Status SendReplica(Socket& socket, const ReplicaReader& replica,
                                 const SendRange& range, std::string prefix);
// The same from a source whose next byte is at the range's offset; checksums are computed.
[[nodiscard]] Status SendSource(Socket& socket, BlockSource& source,
                                const format::Checksum& checksum, const SendRange& range,
                                std::string prefix);

}  // namespace ebb::transfer
