// How records are appended to a file that has many writers.
#pragma once

#include <cstdint>

#include "common/error.h"
#include "common/socket.h"
#include "transfer/record_append.h"

namespace ebb::client {

// The longest record. A chunk server takes no longer batch.
inline constexpr std::uint32_t kMostRecordBytes = transfer::kMaxBatchBytes;

struct AppendOptions {
  // How many blocks of a file take records at the same time. All writers of a file use the same
  // number.
  int lanes = 4;
  // Replicas and block size of a new file; 0 for those of the configuration.
  std::uint32_t replication = 0;
  std::uint64_t block_bytes = 0;
  // So many bytes of records are sent at a time, if they are there.
  std::uint32_t batch_bytes = 256 << 10;
  // Beyond so many bytes without an answer an append waits.
  std::uint32_t unacknowledged_bytes = 4 << 20;
  // A lane that gets no record for so long is sealed.
  std::uint32_t idle_millis = 5'000;
  // A lane is sealed so long after its first record, so that readers see a record some seconds later
  // at the latest.
  std::uint32_t age_millis = 60'000;
  // After so long without a lane that takes records an append fails.
  std::uint64_t patience_millis = 120'000;

  // kInvalid names the option, its value and its bounds.
  [[nodiscard]] Status Check() const;
  [[nodiscard]] Timeout Patience() const {
    return Timeout(static_cast<Timeout::rep>(patience_millis));
  }
};

}  // namespace ebb::client
