#include "client/record_batch.h"

#include <utility>

#include "append.pb.h"
#include "common/crc32c.h"
#include "transfer/wire.h"

namespace ebb::client {

void RecordBatch::Add(std::span<const std::byte> record, Completion completion) {
  bytes_.insert(bytes_.end(), record.begin(), record.end());
  completions_.push_back(std::move(completion));
  ++records_;
}

std::string RecordBatch::Message() const {
  ebbfs::BatchProto message;
  message.set_firstrecord(first_record_);
  message.set_records(records_);
  message.set_lengthbytes(static_cast<std::uint32_t>(bytes_.size()));
  message.set_checksum(Crc32c(0, bytes_));
  std::string out;
  transfer::AppendMessage(out, message);
  return out;
}

std::vector<Completion> RecordBatch::TakeCompletions() { return std::exchange(completions_, {}); }

}  // namespace ebb::client
