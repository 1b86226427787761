// The server side of one OP_APPEND_RECORDS: takes the batches of one writer into a lane, and sends
// the answers back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "append.pb.h"
#include "common/error.h"
#include "common/socket.h"
#include "common/socket_reader.h"
#include "transfer/record_lane.h"

namespace ebb::transfer {

using ebbfs::BatchProto;
using ebbfs::OpAppendRecordsProto;

// The longest batch, and so the longest record.
inline constexpr std::uint32_t kMaxBatchBytes = 1 << 20;

// kInvalid, naming the field, if the operation makes no sense.
[[nodiscard]] Status CheckOperation(const OpAppendRecordsProto& op);

class RecordAppend {
 public:
  RecordAppend(Socket& socket, SocketReader& reader, RecordLane& lane,
               const OpAppendRecordsProto& op);
  // Leaves the lane.
  ~RecordAppend();
  RecordAppend(const RecordAppend&) = delete;
  RecordAppend& operator=(const RecordAppend&) = delete;

  // Takes batches until the writer or the lane closes the connection. An error if a batch is
  // malformed.
  [[nodiscard]] Status Run();

 private:
  class Link;

  // A buffer that begins with the bytes of a batch. Memory is taken as they come.
  [[nodiscard]] Result<std::vector<std::byte>> ReadBatch(std::size_t length);
  [[nodiscard]] Status TakeBatch(const BatchProto& header);

  SocketReader& reader_;
  RecordLane& lane_;
  WriterId writer_;
  const std::shared_ptr<Link> link_;
};

}  // namespace ebb::transfer
