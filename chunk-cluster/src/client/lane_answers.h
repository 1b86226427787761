// Takes the answers of one lane.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "append.pb.h"
#include "client/pending_batches.h"
#include "common/error.h"

namespace ebb::client {

// Thread-safe.
class LaneAnswers {
 public:
  // `batches` outlives the answers.
  explicit LaneAnswers(PendingBatches& batches) : batches_(batches) {}

  // kNetwork for an answer that makes no sense.
  [[nodiscard]] Status Take(const ebbfs::BatchAnswerProto& answer);
  // The answer that ended the lane.
  [[nodiscard]] std::optional<ebbfs::BatchAnswerProto> End();
  // Waits for the answer to a wish to finish. True if others use the lane.
  [[nodiscard]] bool AwaitEndOrShared();

 private:
  PendingBatches& batches_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<ebbfs::BatchAnswerProto> end_;
  bool shared_ = false;
};

}  // namespace ebb::client
