// Reads the data of one block group, which its client has encoded: data blocks are read in
// parallel, and lost cells are decoded from other blocks of the group.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "client/group_code.h"
#include "common/error.h"
#include "common/open_sockets.h"
#include "hdfs.pb.h"
#include "transfer/block_reader.h"

namespace ebb::client {

// The range of the file that a reader is for, and what it may assume.
struct GroupRead {
  std::string path;
  hadoop::hdfs::LocatedBlockProto group;
  // The end, in the file, of what will be read; servers send their blocks up to there.
  std::uint64_t end = 0;
  // A server that sends nothing for so long counts as lost, as long as other blocks are enough. 0:
  // it is waited for.
  Timeout straggler = Timeout(0);
  // Waits long for all servers. Otherwise a server that is slow to connect counts as lost, too.
  bool patient = false;
};

// Servers, and blocks at servers, that have failed for a stream, by name.
struct FailedHolders {
  // How they have failed. They are asked once others are not enough.
  std::map<std::string, ErrorCode> shunned;
  // Servers that have failed although they were waited for. They are asked no more.
  std::set<std::string> given_up;

  void Clear() {
    shunned.clear();
    given_up.clear();
  }
};

// One thread at a time, except for Shutdown(). While a row of cells that was read from its
// beginning is handed out, the next row of the range is fetched, and no further one. So the reader
// holds two rows: at most twice as many cells as the group has blocks. It has one connection with
// its buffer, and while a row is fetched one thread, for each block of the group. No thread
// outlives the reader: its destructor ends the connections, and waits for those that are being
// made, and for the report of a bad block that only the next row has met.
class GroupReader {
 public:
  using Report = std::function<void(const hadoop::hdfs::LocatedBlockProto&)>;

  // The reader adds to `failed`, and takes out what can be read after all. `report` is told of each
  // block whose bytes contradict their checksums. Both outlive the reader.
  GroupReader(std::shared_ptr<const GroupCode> code, GroupRead read, FailedHolders& failed,
              Report report);
  ~GroupReader();
  GroupReader(const GroupReader&) = delete;
  GroupReader& operator=(const GroupReader&) = delete;

  // Whether the group holds this byte of the file.
  [[nodiscard]] bool Covers(std::uint64_t offset) const;
  // At most `most` bytes from this byte of the file on, which the group covers: at least one, up to
  // the end of a cell. They are valid until the next call. kNotFound names the blocks that cannot
  // be read.
  [[nodiscard]] Result<std::span<const std::byte>> At(std::uint64_t offset, std::size_t most);
  // Whether the bytes that At() returned last came from a server on this machine.
  [[nodiscard]] bool local() const { return local_; }

  // Makes running and later reads fail. Thread-safe.
  void Shutdown();

 private:
  // Bytes of a cell.
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    [[nodiscard]] bool empty() const { return begin >= end; }
    [[nodiscard]] std::uint64_t size() const { return empty() ? 0 : end - begin; }
    [[nodiscard]] bool Holds(const Range& other) const {
      return other.empty() || (begin <= other.begin && other.end <= end);
    }
    [[nodiscard]] Range Joined(const Range& other) const;
    [[nodiscard]] Range Cut(std::uint64_t most) const;
  };
  // A server that has the block of a unit.
  struct Holder {
    hadoop::hdfs::LocatedBlockProto block;
    bool local = false;
    std::optional<Error> failure;
    // The failure is among the failed holders of the stream.
    bool noted = false;
    // It was asked to hurry, or has failed for an earlier group: it is asked once more, with
    // patience, before the group counts as unreadable.
    bool last_resort = false;
    bool patient = false;
    // It has sent cells of this group, after the last resort if it was one.
    bool read = false;
  };
  // A cell of a block.
  struct Cell {
    // The part of it that is in `bytes`.
    Range have;
    std::unique_ptr<std::byte[]> bytes;
    std::uint64_t capacity = 0;
    bool local = false;

    void Make(const Range& range);
    [[nodiscard]] const std::byte* at(std::uint64_t offset) const {
      return bytes.get() + (offset - have.begin);
    }
    [[nodiscard]] bool Has(std::uint64_t offset) const {
      return have.begin <= offset && offset < have.end;
    }
  };
  // A block of the group: data or parity.
  struct Unit {
    std::vector<Holder> holders;
    std::unique_ptr<transfer::BlockReader> reader;
    // Of the row that is fetched.
    Cell cell;
    // Why the thread of the unit could not read it; empty if it could.
    std::string no_memory;

    [[nodiscard]] Holder* usable();
  };

  void AddHolder(int location);
  [[nodiscard]] std::uint64_t CellBytes(std::size_t unit) const;
  // Hands out this row, which is read from `in_row` on unless it was fetched before.
  [[nodiscard]] Status Show(std::uint64_t row, std::uint64_t in_row);
  // How many bytes of the row will be read.
  [[nodiscard]] std::uint64_t RowEnd(std::uint64_t row) const;
  // Without the last resort: nobody may want the row, and whoever does must not wait for it first.
  void FetchAhead(std::uint64_t row);
  void AwaitFetch();
  [[nodiscard]] Status Fetch(std::uint64_t row, std::uint64_t begin, std::uint64_t end,
                             bool may_wait);
  // The ranges to read now, by unit: those that are wanted, and the sources of those that are lost.
  [[nodiscard]] Result<std::vector<Range>> Plan(const std::vector<Range>& wanted, bool may_wait);
  [[nodiscard]] bool HasBytes(std::size_t unit);
  // Makes a holder of each of these units usable that is the last resort, for at most so many of
  // them. False if there is none.
  [[nodiscard]] bool UseLastResort(const std::vector<std::size_t>& units, std::size_t most);
  [[nodiscard]] transfer::ReadHooks HooksFor(const Holder& holder);
  [[nodiscard]] Status ReadAll(const std::vector<Range>& needed,
                               const std::vector<std::size_t>& of);
  void ReadUnit(std::size_t index, const Range& range);
  [[nodiscard]] Status ReadFrom(Holder& holder, std::size_t index, const Range& range);
  // Tells the failed holders of the stream what this group has taught.
  void NoteFailures();
  void NoteFailure(const Holder& holder);
  void Decode();
  [[nodiscard]] Error Unreadable();

  const std::shared_ptr<const GroupCode> code_;
  const GroupRead read_;
  FailedHolders& failed_;
  const Report report_;
  // Of all readers, also of those that are being opened.
  OpenSockets sockets_;
  // The row that is handed out.
  std::optional<std::uint64_t> shown_row_;
  std::vector<Cell> shown_;
  bool local_ = false;
  std::atomic<bool> stopped_ = false;
  // While `ahead_` runs, what follows belongs to that thread. The row that is fetched.
  std::uint64_t row_ = 0;
  // The same, once its cells are complete and as long as they are not handed out.
  std::optional<std::uint64_t> fetched_row_;
  std::vector<Unit> units_;
  // The units that are decoded in that row, from which units, and over which bytes of their cells.
  std::vector<std::size_t> lost_;
  std::vector<std::size_t> sources_;
  Range decoded_;
  // The last member, so that it is joined first.
  std::jthread ahead_;
};

}  // namespace ebb::client
