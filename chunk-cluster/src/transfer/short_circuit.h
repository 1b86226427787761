// The operations of short-circuit reads: a client on this machine gets the open files of a replica
// over a Unix domain socket, and reads them itself.
#pragma once

#include <optional>
#include <string>

#include "common/error.h"
#include "common/socket.h"
#include "common/socket_reader.h"
#include "datatransfer.pb.h"
#include "disk/block_store.h"
#include "transfer/short_circuit_registry.h"

namespace ebb::transfer {

// The version of the files: of the meta file's header, which the client parses.
inline constexpr std::uint32_t kBlockFilesVersion = 1;

// One thread uses it.
class ShortCircuit {
 public:
  // All outlive the object.
  ShortCircuit(Socket& socket, SocketReader& reader, BlockStore& store,
               ShortCircuitRegistry& registry)
      : socket_(socket), reader_(reader), store_(store), registry_(registry) {}

  // Sends the files of a replica, for reading. After ERROR_UNSUPPORTED with a version, a client
  // reads this block over the socket, and asks again for the next one. After any other error it
  // would not ask for ten minutes.
  [[nodiscard]] Status SendFiles(const hadoop::hdfs::OpRequestShortCircuitAccessProto& op);
  // Gives the client a segment and waits until the client closes the connection, or sends anything,
  // or the segment is of no use any more. True if there was no segment to give: the connection goes
  // on, and the client asks for no segment again. If the connection ended, the client would not use
  // the socket for ten minutes.
  [[nodiscard]] Result<bool> ServeSegment();
  [[nodiscard]] Status ReleaseSlot(
      const hadoop::hdfs::ReleaseShortCircuitAccessRequestProto& request);

 private:
  // The client loses the slot.
  [[nodiscard]] Status Refuse(const std::optional<ShortCircuitRegistry::SlotId>& slot,
                              const std::string& message);
  // The slot of a request could not be registered.
  [[nodiscard]] Status RefuseSlot(const Error& error);
  [[nodiscard]] Status Send(const google::protobuf::MessageLite& message);
  [[nodiscard]] Status SendFilesOf(const ReplicaReader& replica, bool wants_receipt);

  Socket& socket_;
  SocketReader& reader_;
  BlockStore& store_;
  ShortCircuitRegistry& registry_;
};

}  // namespace ebb::transfer
