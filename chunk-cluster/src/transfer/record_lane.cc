#include "transfer/record_lane.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <system_error>
#include <utility>

namespace ebb::transfer {

namespace {

// Bytes of batches without an answer that a lane holds. Writers wait beyond that.
constexpr std::size_t kMaxBytesUnderWay = 16 << 20;
// Bytes that are written between two waits for the servers of the pipeline.
constexpr std::size_t kMaxGroupBytes = 4 << 20;
// Memory of stored batches that a lane keeps for the next ones.
constexpr std::size_t kMaxSpareBytes = 4 << 20;
// Whoever seals the lane reads the whole ledger.
constexpr std::uint64_t kMaxLedgerBytes = 4 << 20;
// Groups between the two threads.
constexpr std::size_t kMaxEnteredGroups = 2;

std::optional<std::chrono::milliseconds> AgeOf(const LaneProto& lane) {
  if (!lane.has_agemillis()) return std::nullopt;
  return std::chrono::milliseconds(lane.agemillis());
}

}  // namespace

Result<std::shared_ptr<RecordLane>> RecordLane::Open(const LaneProto& lane, const Connect& connect,
                                                     const StartThread& start) {
  const std::uint64_t capacity = lane.capacitybytes();
  const std::uint64_t ledger_capacity = std::min(capacity, kMaxLedgerBytes);
  EBB_ASSIGN(auto ledger, BlockPipeline::Open(lane.ledger(), ledger_capacity, connect));
  EBB_ASSIGN(auto block, BlockPipeline::Open(lane.block(), capacity, connect));
  std::shared_ptr<RecordLane> opened(new RecordLane(lane, std::move(block), std::move(ledger)));
  EBB_TRY(opened->Start(start));
  return opened;
}

RecordLane::RecordLane(const LaneProto& lane, std::unique_ptr<BlockPipeline> block,
                       std::unique_ptr<BlockPipeline> ledger)
    : capacity_(lane.capacitybytes()),
      idle_(lane.idlemillis()),
      age_(AgeOf(lane)),
      block_(std::move(block)),
      ledger_(std::move(ledger)) {}

ebb::Status RecordLane::Start(const StartThread& start) {
  try {
    ledger_thread_ = start([this] { Run(&RecordLane::WriteLedger); });
    block_thread_ = start([this] { Run(&RecordLane::WriteBlock); });
    return {};
  } catch (const std::system_error& failure) {
    const auto why = fmt::format(
        "no thread for a lane of record appends: {}; raise the limit of threads of the server",
        failure.what());
    Break(why);
    return Fail(ErrorCode::kBusy, why);
  }
}

RecordLane::~RecordLane() {
  Break("the server stops");
  if (ledger_thread_.joinable()) ledger_thread_.join();
  if (block_thread_.joinable()) block_thread_.join();
}

void RecordLane::Join(const std::shared_ptr<LaneWriter>& writer) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kFinished || state_ == State::kBroken) {
    writer->Answer(EndAnswer());
    writer->End();
    return;
  }
  writers_.push_back(writer);
}

void RecordLane::Leave(const std::shared_ptr<LaneWriter>& writer) {
  const std::lock_guard lock(mutex_);
  std::erase(writers_, writer);
  asked_to_finish_.erase(writer);
}

std::vector<std::byte> RecordLane::TakeBuffer() {
  const std::lock_guard lock(mutex_);
  if (spare_.empty()) return {};
  std::vector<std::byte> buffer = std::move(spare_.back());
  spare_.pop_back();
  spare_bytes_ -= buffer.capacity();
  return buffer;
}

void RecordLane::Append(Batch batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(
      lock, [&] { return state_ != State::kOpen || bytes_under_way_ < kMaxBytesUnderWay; });
  // The end of the lane answers for all batches that were not taken.
  if (state_ != State::kOpen) return;
  asked_to_finish_.erase(batch.writer);
  if (batch.data().size() > capacity_ - block_end_ ||
      LedgerEntry::kBytes > std::min(capacity_, kMaxLedgerBytes) - ledger_end_) {
    state_ = State::kFinishing;
    changed_.notify_all();
    return;
  }
  if (ledger_end_ == 0 && age_) old_at_ = Clock::now() + *age_;
  block_end_ += batch.data().size();
  ledger_end_ += LedgerEntry::kBytes;
  bytes_under_way_ += batch.data().size();
  batch.entry.end = block_end_;
  waiting_.push_back(std::move(batch));
  changed_.notify_all();
}

void RecordLane::FinishIfUnshared(const std::shared_ptr<LaneWriter>& writer) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::kOpen) return;
  asked_to_finish_.insert(writer);
  if (asked_to_finish_.size() < writers_.size()) {
    BatchAnswerProto answer;
    answer.set_result(BatchAnswerProto::IN_USE);
    writer->Answer(answer);
    return;
  }
  state_ = State::kFinishing;
  changed_.notify_all();
}

void RecordLane::Break(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kFinished || state_ == State::kBroken) return;
  state_ = State::kBroken;
  why_ = why;
  block_->Shutdown();
  ledger_->Shutdown();
  TellEnd();
}

bool RecordLane::ended() const {
  const std::lock_guard lock(mutex_);
  return state_ == State::kFinished || state_ == State::kBroken;
}

bool RecordLane::crowded() const {
  const std::lock_guard lock(mutex_);
  return writers_.size() >= kMaxLaneWriters;
}

// ---- the two threads ----------------------------------------------------------------------------

void RecordLane::Run(void (RecordLane::*body)()) {
  try {
    (this->*body)();
  } catch (const std::bad_alloc&) {
    Break("the server has no memory for its batches");
  }
}

void RecordLane::WriteLedger() {
  for (;;) {
    Group group = NextGroup();
    const bool end = group.empty();
    auto written = end ? ebb::Status{} : WriteEntries(group);
    if (end && !ended()) written = ledger_->Finish();
    if (!written) Break(fmt::format("the ledger: {}", written.error().message));
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return state_ == State::kBroken || entered_.size() < kMaxEnteredGroups;
    });
    if (end || state_ == State::kBroken) {
      ledger_done_ = true;
      changed_.notify_all();
      return;
    }
    entered_.push_back(std::move(group));
    changed_.notify_all();
  }
}

void RecordLane::AwaitBatches(std::unique_lock<std::mutex>& lock) {
  const auto something = [&] { return state_ != State::kOpen || !waiting_.empty(); };
  auto idle_at = Clock::now() + idle_;
  while (!changed_.wait_until(lock, std::min(idle_at, old_at_), something) &&
         Clock::now() < old_at_) {
    if (bytes_under_way_ == 0) state_ = State::kFinishing;
    idle_at = Clock::now() + idle_;
  }
  if (state_ != State::kOpen || Clock::now() < old_at_) return;
  state_ = State::kFinishing;
  changed_.notify_all();
}

RecordLane::Group RecordLane::NextGroup() {
  std::unique_lock lock(mutex_);
  AwaitBatches(lock);
  Group group;
  if (state_ == State::kBroken) return group;
  for (std::size_t bytes = 0; !waiting_.empty() && bytes < kMaxGroupBytes;) {
    bytes += waiting_.front().data().size();
    group.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return group;
}

ebb::Status RecordLane::WriteEntries(const Group& group) {
  std::vector<std::byte> entries(group.size() * LedgerEntry::kBytes);
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto out = std::span(entries).subspan(i * LedgerEntry::kBytes);
    group[i].entry.Encode(out.first<LedgerEntry::kBytes>());
  }
  const std::span<const std::byte> all(entries);
  return ledger_->Append({&all, 1});
}

void RecordLane::WriteBlock() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(
        lock, [&] { return state_ == State::kBroken || !entered_.empty() || ledger_done_; });
    if (state_ == State::kBroken) return;
    if (entered_.empty()) break;
    Group group = std::move(entered_.front());
    entered_.pop_front();
    changed_.notify_all();
    lock.unlock();
    if (auto written = WriteBatches(group); !written) {
      Break(written.error().message);
      return;
    }
    Stored(group);
  }
  if (auto finished = block_->Finish(); !finished) {
    Break(finished.error().message);
    return;
  }
  Finished();
}

ebb::Status RecordLane::WriteBatches(const Group& group) {
  std::vector<std::span<const std::byte>> parts;
  parts.reserve(group.size());
  for (const Batch& batch : group) parts.push_back(batch.data());
  return block_->Append(parts);
}

void RecordLane::Stored(Group& group) {
  const std::lock_guard lock(mutex_);
  for (Batch& batch : group) {
    bytes_under_way_ -= batch.data().size();
    if (state_ != State::kBroken && spare_bytes_ + batch.buffer.capacity() <= kMaxSpareBytes) {
      spare_bytes_ += batch.buffer.capacity();
      spare_.push_back(std::move(batch.buffer));
    }
    BatchAnswerProto answer;
    answer.set_result(BatchAnswerProto::STORED);
    answer.set_firstrecord(batch.entry.first_record);
    batch.writer->Answer(answer);
  }
  changed_.notify_all();
}

// ---- the end ------------------------------------------------------------------------------------

void RecordLane::Finished() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kBroken) return;
  state_ = State::kFinished;
  TellEnd();
}

BatchAnswerProto RecordLane::EndAnswer() const {
  BatchAnswerProto answer;
  if (state_ == State::kFinished) {
    answer.set_result(BatchAnswerProto::FINISHED);
    answer.set_blockbytes(block_end_);
    answer.set_ledgerbytes(ledger_end_);
  } else {
    answer.set_result(BatchAnswerProto::BROKEN);
    answer.set_message(why_);
  }
  return answer;
}

void RecordLane::TellEnd() {
  const BatchAnswerProto answer = EndAnswer();
  if (state_ == State::kBroken) {
    spdlog::info("the lane with {} bytes broke: {}", block_end_, why_);
  }
  for (const auto& writer : writers_) {
    writer->Answer(answer);
    writer->End();
  }
  writers_.clear();
  asked_to_finish_.clear();
  spare_.clear();
  changed_.notify_all();
}

// ---- all lanes ----------------------------------------------------------------------------------

Result<std::shared_ptr<RecordLane>> RecordLanes::Find(const LaneProto& lane, bool join_only) {
  Sweep();
  const auto id = lane.block().block().blockid();
  std::shared_ptr<Slot> slot;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = slots_.find(id); at != slots_.end()) {
      slot = at->second;
    } else if (join_only) {
      return Fail(ErrorCode::kNotFound, fmt::format("this server leads no lane with block {}", id));
    } else {
      if (slots_.size() >= most_) {
        return Fail(ErrorCode::kBusy,
                    fmt::format("this server leads {} lanes of record appends, and no more are "
                                "allowed; append to another lane",
                                most_));
      }
      slot = slots_[id] = std::make_shared<Slot>();
    }
  }
  const std::lock_guard opening(slot->opening);
  if (slot->lane) return slot->lane;
  if (join_only) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("the lane with block {} could not be opened", id));
  }
  auto opened = RecordLane::Open(lane, connect_);
  if (!opened) {
    const std::lock_guard lock(mutex_);
    const auto at = slots_.find(id);
    if (at != slots_.end() && at->second == slot) slots_.erase(at);
    return opened;
  }
  slot->lane = *opened;
  return opened;
}

void RecordLanes::Sweep() {
  std::vector<std::shared_ptr<Slot>> ended;  // destroyed without the lock: threads are joined
  const std::lock_guard lock(mutex_);
  for (auto at = slots_.begin(); at != slots_.end();) {
    std::unique_lock opening(at->second->opening, std::try_to_lock);
    const bool over = opening.owns_lock() && at->second->lane && at->second->lane->ended();
    if (opening.owns_lock()) opening.unlock();
    if (over) ended.push_back(at->second);
    at = over ? slots_.erase(at) : std::next(at);
  }
}

void RecordLanes::BreakAll(const std::string& why) {
  std::vector<std::shared_ptr<Slot>> slots;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, slot] : slots_) slots.push_back(slot);
  }
  for (const auto& slot : slots) {
    const std::lock_guard opening(slot->opening);
    if (slot->lane) slot->lane->Break(why);
  }
}

std::size_t RecordLanes::size() const {
  const std::lock_guard lock(mutex_);
  return slots_.size();
}

}  // namespace ebb::transfer
