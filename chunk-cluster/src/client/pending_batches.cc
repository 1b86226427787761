#include "client/pending_batches.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace ebb::client {

Status PendingBatches::Add(std::span<const std::byte> record, Completion completion) {
  const std::size_t held = RecordBatch::HeldBytes(record.size(), 1);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return failure_ || closed_ || held_bytes_ == 0 || held_bytes_ + held <= most_bytes_;
  });
  EBB_TRY(Failure());
  if (closed_) {
    return ebb::Fail(ErrorCode::kInvalid, "the appender is closed; open another one");
  }
  if (waiting_.empty() || waiting_.back()->length_bytes() + record.size() > batch_bytes_) {
    waiting_.push_back(std::make_shared<RecordBatch>(next_record_));
  }
  waiting_.back()->Add(record, std::move(completion));
  ++next_record_;
  held_bytes_ += held;
  changed_.notify_all();
  return {};
}

Status PendingBatches::Flush() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&, until = next_record_] { return failure_ || FirstPending() >= until; });
  return Failure();
}

std::uint64_t PendingBatches::FirstPending() const {
  const Batches& first = sent_.empty() ? waiting_ : sent_;
  return first.empty() ? std::numeric_limits<std::uint64_t>::max()
                       : first.front()->first_record();
}

void PendingBatches::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

Status PendingBatches::failure() {
  const std::lock_guard lock(mutex_);
  return Failure();
}

Status PendingBatches::Failure() const {
  if (!failure_) return {};
  Error error = *failure_;
  error.message = "records could not be appended: " + error.message;
  return std::unexpected(std::move(error));
}

void PendingBatches::Wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  changed_.notify_all();
}

void PendingBatches::AwaitWork() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return woken_ || Ready() || Done(); });
  woken_ = false;
}

bool PendingBatches::IsDone() {
  const std::lock_guard lock(mutex_);
  return Done();
}

bool PendingBatches::HasPending() {
  const std::lock_guard lock(mutex_);
  return !sent_.empty() || !waiting_.empty();
}

bool PendingBatches::IsReady() {
  const std::lock_guard lock(mutex_);
  return Ready();
}

bool PendingBatches::Ready() const {
  if (waiting_.empty()) return false;
  return waiting_.size() > 1 || sent_.empty() || waiting_.front()->length_bytes() >= batch_bytes_;
}

std::shared_ptr<const RecordBatch> PendingBatches::Send() {
  const std::lock_guard lock(mutex_);
  if (!Ready()) return nullptr;
  sent_.push_back(std::move(waiting_.front()));
  waiting_.pop_front();
  return sent_.back();
}

Status PendingBatches::Stored(std::uint64_t first_record) {
  std::shared_ptr<RecordBatch> batch;
  {
    const std::lock_guard lock(mutex_);
    if (sent_.empty() || sent_.front()->first_record() != first_record) {
      return ebb::Fail(ErrorCode::kNetwork,
                       fmt::format("batch {} was acknowledged out of order", first_record));
    }
    batch = std::move(sent_.front());
    sent_.pop_front();
    held_bytes_ -= batch->held_bytes();
    changed_.notify_all();
  }
  Complete(*batch, {});
  return {};
}

std::optional<std::uint64_t> PendingBatches::OldestSent() {
  const std::lock_guard lock(mutex_);
  if (sent_.empty()) return std::nullopt;
  return sent_.front()->first_record();
}

void PendingBatches::SendAgain() {
  const std::lock_guard lock(mutex_);
  for (; !sent_.empty(); sent_.pop_back()) waiting_.push_front(std::move(sent_.back()));
}

void PendingBatches::Fail(const Error& why) {
  Batches failed;
  {
    const std::lock_guard lock(mutex_);
    failure_ = why;
    failed = std::exchange(sent_, {});
    for (auto& batch : waiting_) failed.push_back(std::move(batch));
    waiting_.clear();
    held_bytes_ = 0;
    changed_.notify_all();
  }
  for (const auto& batch : failed) Complete(*batch, std::unexpected(why));
}

void PendingBatches::Complete(RecordBatch& batch, const Status& stored) {
  completions_.Add([completions = batch.TakeCompletions(), stored] {
    for (const auto& completion : completions) {
      if (completion) completion(stored);
    }
  });
}

}  // namespace ebb::client
