#include "client/lane_answers.h"

namespace ebb::client {

using ebbfs::BatchAnswerProto;

Status LaneAnswers::Take(const BatchAnswerProto& answer) {
  if (answer.result() == BatchAnswerProto::STORED) return batches_.Stored(answer.firstrecord());
  {
    const std::lock_guard lock(mutex_);
    if (answer.result() == BatchAnswerProto::IN_USE) {
      shared_ = true;
    } else {
      end_ = answer;
    }
    changed_.notify_all();
  }
  batches_.Wake();
  return {};
}

std::optional<BatchAnswerProto> LaneAnswers::End() {
  const std::lock_guard lock(mutex_);
  return end_;
}

bool LaneAnswers::AwaitEndOrShared() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return end_ || shared_; });
  return !end_;
}

}  // namespace ebb::client
