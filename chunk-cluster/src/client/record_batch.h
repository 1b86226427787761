// Whole records of one writer that are sent together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"

namespace ebb::client {

// Called once for a record, in the order of the records of a writer: with success once the record
// is stored, or with the error after which it may be stored or not. Must not throw.
using Completion = std::function<void(const Status& stored)>;

// Not thread-safe, except that TakeCompletions() may run beside the calls that send the batch.
class RecordBatch {
 public:
  explicit RecordBatch(std::uint64_t first_record) : first_record_(first_record) {}

  void Add(std::span<const std::byte> record, Completion completion);

  [[nodiscard]] std::uint64_t first_record() const { return first_record_; }
  [[nodiscard]] std::uint32_t records() const { return records_; }
  [[nodiscard]] std::size_t length_bytes() const { return bytes_.size(); }
  // What the batch holds in memory, about.
  [[nodiscard]] std::size_t held_bytes() const { return HeldBytes(bytes_.size(), records_); }
  [[nodiscard]] static std::size_t HeldBytes(std::size_t length_bytes, std::size_t records) {
    return length_bytes + records * sizeof(Completion);
  }

  // The message of the batch, with its length in front. The records follow it.
  [[nodiscard]] std::string Message() const;
  [[nodiscard]] std::span<const std::byte> data() const { return bytes_; }

  // Those of the records, in order. The batch has none then.
  [[nodiscard]] std::vector<Completion> TakeCompletions();

 private:
  const std::uint64_t first_record_;
  std::uint32_t records_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<Completion> completions_;
};

}  // namespace ebb::client
