// A writer's connection to the chunk server that leads a lane.
#pragma once

#include <chrono>
#include <expected>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "append.pb.h"
#include "client/lane_answers.h"
#include "client/pending_batches.h"
#include "client/record_batch.h"
#include "common/error.h"
#include "common/socket.h"
#include "common/socket_reader.h"
#include "transfer/ledger_entry.h"

namespace ebb::client {

// Why a lane takes no records of this writer.
struct LaneRefusal {
  LaneRefusal(Error cause)  // NOLINT(google-explicit-constructor)
      : error(std::move(cause)) {}
  LaneRefusal(Error cause, std::string words) : error(std::move(cause)), reason(std::move(words)) {}

  // kBusy if the leader, or the lane, takes no more writers.
  Error error;
  // What the leader says; empty without an answer. Names the server that cannot be used, if one is
  // to blame.
  std::string reason;
};

// One thread sends. A thread of the connection takes the answers. Close() may be called by any
// thread.
class LaneConnection {
 public:
  using Opened = std::expected<std::unique_ptr<LaneConnection>, LaneRefusal>;

  // Opens a lane that nobody else knows yet, and joins it. `batches` are those of the writer, and
  // outlive the connection.
  [[nodiscard]] static Opened Create(const ebbfs::LaneProto& lane,
                                     const transfer::WriterId& writer, PendingBatches& batches);
  // Joins the lane. Fails if its server leads it no more: a lane that was sealed is never opened
  // again.
  [[nodiscard]] static Opened Join(const ebbfs::LaneProto& lane, const transfer::WriterId& writer,
                                   PendingBatches& batches);
  // Closes, and waits for the thread: no answer comes later.
  ~LaneConnection();
  LaneConnection(const LaneConnection&) = delete;
  LaneConnection& operator=(const LaneConnection&) = delete;

  [[nodiscard]] Status Send(const RecordBatch& batch);
  // Asks that the lane be finished unless others use it.
  [[nodiscard]] Status AskToFinish();
  void Close() { socket_.Shutdown(); }
  // The last answer is FINISHED or BROKEN. A lost connection counts as BROKEN, and so does an
  // answer that makes no sense.
  [[nodiscard]] LaneAnswers& answers() { return answers_; }

 private:
  using Clock = std::chrono::steady_clock;

  LaneConnection(Socket socket, PendingBatches& batches)
      : socket_(std::move(socket)), reader_(socket_), answers_(batches) {}
  [[nodiscard]] static Opened Open(const ebbfs::LaneProto& lane, const transfer::WriterId& writer,
                                   bool join_only, PendingBatches& batches);
  // Sends the operation and takes its answer.
  [[nodiscard]] std::expected<void, LaneRefusal> Ask(const ebbfs::LaneProto& lane,
                                                     const transfer::WriterId& writer,
                                                     bool join_only);
  [[nodiscard]] Status StartReading();
  void Read();
  // Takes answers until one has ended the lane. The error that ended the connection before.
  [[nodiscard]] Status TakeAll();
  [[nodiscard]] Result<ebbfs::BatchAnswerProto> Next();
  void ExpectAnswer();
  void NoteAnswer();
  [[nodiscard]] bool IsSilent();

  Socket socket_;
  SocketReader reader_;
  LaneAnswers answers_;
  std::mutex mutex_;
  int unanswered_ = 0;
  // When the leader last answered, or when something was sent to a leader that owed no answer.
  Clock::time_point waiting_since_;
  std::thread thread_;
};

}  // namespace ebb::client
