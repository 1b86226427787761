// A leader of lanes for tests of record appends: it keeps bytes in memory and fails on order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "append.pb.h"
#include "client/fake_cluster.h"
#include "common/error.h"
#include "common/socket.h"
#include "common/socket_reader.h"
#include "datatransfer.pb.h"
#include "transfer/ledger_entry.h"
#include "transfer/wire.h"

namespace ebb::client::testing {

// What the servers of a lane have of the batch that breaks it.
enum class BrokenBatch { kNothing, kEntry, kEntryAndHalf, kEntryAndAll };

// Leads lanes at one FakeDatanode, whose blocks are those of the lanes and their ledgers. Outlives
// the threads of the node. What a test sets is set under no call, unless a function sets it.
class FakeLanes {
 public:
  explicit FakeLanes(FakeDatanode& node) : node_(node) {
    node.append_records = [this](Socket& socket, SocketReader& reader) {
      return Serve(socket, reader);
    };
  }

  // The batch after so many breaks its lane.
  int batches_until_break = 1'000'000;
  BrokenBatch broken_batch = BrokenBatch::kNothing;
  // Whether the writers of a broken lane are told, or lose their connections.
  bool tells_break = true;

  // The next operations that create, or that join, are refused with these messages.
  void RefuseNext(bool creations, const std::vector<std::string>& messages) {
    const std::lock_guard lock(mutex_);
    auto& refusals = creations ? refused_creations_ : refused_joins_;
    refusals.insert(refusals.end(), messages.begin(), messages.end());
  }
  // Finishes the lane as if no record had come for long.
  void FinishIdle(std::uint64_t block_id) {
    const std::lock_guard lock(mutex_);
    Finish(lanes_.at(block_id));
  }
  // All writers lose their connections, and the lanes go on.
  void DropConnections() {
    const std::lock_guard lock(mutex_);
    for (auto& [id, lane] : lanes_) {
      for (auto* socket : lane.sockets) socket->Shutdown();
    }
  }
  // Batches get their answers when the lanes are released.
  void Hold(bool on) {
    const std::lock_guard lock(mutex_);
    holds_ = on;
    if (on) return;
    for (auto& [socket, answer] : std::exchange(held_, {})) Answer(*socket, answer);
  }
  // Ends the lane of this block or ledger, and tells the length of the block or ledger.
  std::uint64_t Recover(std::uint64_t block_id) {
    const std::lock_guard lock(mutex_);
    for (auto& [id, lane] : lanes_) {
      if (id == block_id || lane.ledger_id == block_id) Cut(lane);
    }
    return node_.Bytes(block_id).size();
  }
  // The operations that were sent, in order.
  std::vector<ebbfs::OpAppendRecordsProto> Operations() {
    const std::lock_guard lock(mutex_);
    return operations_;
  }

 private:
  using BatchAnswer = ebbfs::BatchAnswerProto;

  struct Lane {
    std::uint64_t block_id = 0;
    std::uint64_t ledger_id = 0;
    std::uint64_t capacity = 0;
    std::vector<Socket*> sockets;
    // Those of the writers that wish to finish, and have sent no batch since.
    std::set<Socket*> leaving;
    std::string bytes;
    std::string ledger;
    bool ended = false;
  };

  // The lock is taken in all of these.
  static void Answer(Socket& socket, const BatchAnswer& answer) {
    (void)transfer::WriteMessage(socket, answer, kPatience);
  }
  static BatchAnswer AnswerOf(BatchAnswer::Result result) {
    BatchAnswer answer;
    answer.set_result(result);
    return answer;
  }
  static void Cut(Lane& lane) {
    lane.ended = true;
    for (auto* socket : lane.sockets) socket->Shutdown();
  }
  static void Finish(Lane& lane) {
    lane.ended = true;
    auto answer = AnswerOf(BatchAnswer::FINISHED);
    answer.set_blockbytes(lane.bytes.size());
    answer.set_ledgerbytes(lane.ledger.size());
    for (auto* socket : lane.sockets) Answer(*socket, answer);
  }
  void Break(Lane& lane) const {
    if (!tells_break) return Cut(lane);
    lane.ended = true;
    auto answer = AnswerOf(BatchAnswer::BROKEN);
    answer.set_message("as ordered");
    for (auto* socket : lane.sockets) Answer(*socket, answer);
  }

  // Why the operation is refused; empty if it is not.
  std::string Refusal(const ebbfs::OpAppendRecordsProto& op, std::uint64_t id) {
    auto& refusals = op.joinonly() ? refused_joins_ : refused_creations_;
    if (!refusals.empty()) {
      std::string message = refusals.front();
      refusals.pop_front();
      return message;
    }
    const auto at = lanes_.find(id);
    if (at == lanes_.end()) return op.joinonly() ? "this server leads no lane of the block" : "";
    return at->second.ended ? "the lane has ended" : "";
  }

  Status Serve(Socket& socket, SocketReader& reader) {
    ebbfs::OpAppendRecordsProto op;
    EBB_TRY(transfer::ReadMessage(reader, op, kPatience));
    const auto id = op.lane().block().block().blockid();
    if (!Join(socket, op, id)) return {};
    const auto served = TakeBatches(socket, reader, op, id);
    const std::lock_guard lock(mutex_);
    std::erase(lanes_[id].sockets, &socket);
    lanes_[id].leaving.erase(&socket);
    std::erase_if(held_, [&](const auto& one) { return one.first == &socket; });
    return served;
  }

  bool Join(Socket& socket, const ebbfs::OpAppendRecordsProto& op, std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    operations_.push_back(op);
    const auto refusal = Refusal(op, id);
    hadoop::hdfs::BlockOpResponseProto response;
    response.set_status(refusal.empty() ? hadoop::hdfs::SUCCESS : hadoop::hdfs::ERROR);
    response.set_message(refusal);
    (void)transfer::WriteMessage(socket, response, kPatience);
    if (!refusal.empty()) return false;
    auto& lane = lanes_[id];
    lane.block_id = id;
    lane.ledger_id = op.lane().ledger().block().blockid();
    lane.capacity = op.lane().capacitybytes();
    lane.sockets.push_back(&socket);
    return true;
  }

  Status TakeBatches(Socket& socket, SocketReader& reader, const ebbfs::OpAppendRecordsProto& op,
                     std::uint64_t id) {
    for (;;) {
      EBB_ASSIGN(const bool end, reader.AtEnd(kPatience));
      if (end) return {};
      ebbfs::BatchProto batch;
      EBB_TRY(transfer::ReadMessage(reader, batch, kPatience));
      std::string bytes(batch.lengthbytes(), '\0');
      EBB_TRY(reader.ReadExact(std::as_writable_bytes(std::span(bytes)), kPatience));
      const std::lock_guard lock(mutex_);
      auto& lane = lanes_[id];
      if (lane.ended) continue;  // drained
      if (batch.records() == 0) {
        TakeWish(lane, socket);
      } else {
        lane.leaving.erase(&socket);
        Take(lane, socket, op.writer(), batch, bytes);
      }
    }
  }

  static void TakeWish(Lane& lane, Socket& socket) {
    lane.leaving.insert(&socket);
    const bool all = std::ranges::all_of(
        lane.sockets, [&](auto* one) { return lane.leaving.contains(one); });
    if (all) return Finish(lane);
    Answer(socket, AnswerOf(BatchAnswer::IN_USE));
  }

  void Take(Lane& lane, Socket& socket, const std::string& writer, const ebbfs::BatchProto& batch,
            const std::string& bytes) {
    if (lane.bytes.size() + bytes.size() > lane.capacity) return Finish(lane);
    const bool breaks = batches_until_break-- <= 0;
    if (!breaks || broken_batch != BrokenBatch::kNothing) AddEntry(lane, writer, batch);
    if (!breaks || broken_batch == BrokenBatch::kEntryAndAll) lane.bytes += bytes;
    if (breaks && broken_batch == BrokenBatch::kEntryAndHalf) {
      lane.bytes += bytes.substr(0, bytes.size() / 2);
    }
    node_.Put(lane.block_id, lane.bytes);
    node_.Put(lane.ledger_id, lane.ledger);
    if (breaks) {
      batches_until_break = 1'000'000;
      return Break(lane);
    }
    auto answer = AnswerOf(BatchAnswer::STORED);
    answer.set_firstrecord(batch.firstrecord());
    if (holds_) {
      held_.emplace_back(&socket, answer);
    } else {
      Answer(socket, answer);
    }
  }

  static void AddEntry(Lane& lane, const std::string& writer, const ebbfs::BatchProto& batch) {
    transfer::LedgerEntry entry = {};
    std::memcpy(entry.writer.data(), writer.data(), std::min(writer.size(), entry.writer.size()));
    entry.first_record = batch.firstrecord();
    entry.records = batch.records();
    entry.length_bytes = batch.lengthbytes();
    entry.end = lane.bytes.size() + batch.lengthbytes();
    entry.checksum = batch.checksum();
    std::array<std::byte, transfer::LedgerEntry::kBytes> bytes = {};
    entry.Encode(bytes);
    lane.ledger.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  FakeDatanode& node_;
  std::mutex mutex_;
  std::map<std::uint64_t, Lane> lanes_;
  std::deque<std::string> refused_creations_;
  std::deque<std::string> refused_joins_;
  std::vector<ebbfs::OpAppendRecordsProto> operations_;
  bool holds_ = false;
  std::vector<std::pair<Socket*, BatchAnswer>> held_;
};

}  // namespace ebb::client::testing
