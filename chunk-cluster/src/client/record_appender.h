// Appends records to a file to which other writers append at the same time.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "client/append_options.h"
#include "client/append_worker.h"
#include "client/completion_queue.h"
#include "client/file_system.h"
#include "client/lane_files.h"
#include "client/pending_batches.h"
#include "common/error.h"

namespace ebb::client {

// Each record lands in the file as a whole and once, in no order between writers, and in order for
// one writer. A record is stored once its completion is called with success, or Flush() returns:
// all servers of its block have the record. Readers see the record once its lane is sealed: when
// the block is full and a writer has opened the next one, when the lane was idle, when the last
// writer of the lane closes, or by SealAll() or Finish().
//
// Thread-safe; the records of one thread keep their order. A record whose completion tells an error
// may be in the file or not. Writers in Java (io.ebbfs.client.RecordAppender) may append to the
// same file. docs/record-append.md describes how it works.
class RecordAppender {
 public:
  // Opens the file for record appends, and creates it if it does not exist. `files` outlives the
  // appender. kInvalid for a file below a snapshottable directory, and for an option out of its
  // bounds; kUnsupported if clients encode or encrypt the file.
  [[nodiscard]] static Result<std::unique_ptr<RecordAppender>> Open(
      FileSystem& files, const std::string& path, const AppendOptions& options = {});
  // Closes. A caller who wants the error calls Close() before.
  ~RecordAppender();
  RecordAppender(const RecordAppender&) = delete;
  RecordAppender& operator=(const RecordAppender&) = delete;

  // Takes a copy of the record, and waits while too many bytes are not stored. `completion` may be
  // empty; it is called on a thread of the appender, and may append. After an error it is not
  // called: kInvalid for a record that is empty or longer than kMostRecordBytes, and after Close();
  // else the error of the writer, after which it stores no more.
  [[nodiscard]] Status Append(std::span<const std::byte> record, Completion completion = {});
  // Waits until all records that were appended before are stored.
  [[nodiscard]] Status Flush();
  // Flushes, calls all completions, and seals the lane unless other writers use it. Not for a
  // completion: kInvalid there.
  [[nodiscard]] Status Close();

  // Whether a completion of this appender is the caller.
  [[nodiscard]] bool IsCompleting() const { return completions_.IsCurrentThread(); }

  // Seals all lanes of the file, also those that writers use, who go on in other lanes.
  [[nodiscard]] static Status SealAll(FileSystem& files, const std::string& path);
  // Seals all lanes and removes what the record appends have left beside the file. To be called
  // when all writers have closed: a writer that still waits for an answer may fail. kInvalid if
  // records are left that cannot be moved to the file; the message tells what to do.
  [[nodiscard]] static Status Finish(FileSystem& files, const std::string& path);

 private:
  RecordAppender(LaneFiles files, const AppendOptions& options);

  CompletionQueue completions_;
  PendingBatches batches_;
  std::mutex closing_;
  AppendWorker worker_;
};

}  // namespace ebb::client
