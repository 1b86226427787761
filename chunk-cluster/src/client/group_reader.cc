#include "client/group_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "client/local_address.h"
#include "client/open_block.h"
#include "common/thread_group.h"
#include "transfer/peer.h"
#include "transfer/wire.h"

namespace ebb::client {

using namespace hadoop::hdfs;
using ebb::Status;

namespace {

// A server that accepts no connection within this time counts as lost, as long as the others are
// enough.
constexpr Timeout kImpatience = std::chrono::seconds(3);

// The name of a block at a server, among what is shunned.
std::string ReplicaName(const LocatedBlockProto& block) {
  return fmt::format("{}@{}", block.b().blockid(), block.locs(0).id().datanodeuuid());
}

const std::string& ServerName(const LocatedBlockProto& block) {
  return block.locs(0).id().datanodeuuid();
}

}  // namespace

GroupReader::Range GroupReader::Range::Joined(const Range& other) const {
  if (empty()) return other;
  if (other.empty()) return *this;
  return {std::min(begin, other.begin), std::max(end, other.end)};
}

GroupReader::Range GroupReader::Range::Cut(std::uint64_t most) const {
  return {std::min(begin, most), std::min(end, most)};
}

void GroupReader::Cell::Make(const Range& range) {
  if (capacity < range.size()) {
    bytes = std::make_unique_for_overwrite<std::byte[]>(range.size());
    capacity = range.size();
  }
  have = range;
}

GroupReader::Holder* GroupReader::Unit::usable() {
  const auto found = std::ranges::find_if(holders, [](const Holder& h) { return !h.failure; });
  return found == holders.end() ? nullptr : &*found;
}

GroupReader::GroupReader(std::shared_ptr<const GroupCode> code, GroupRead read,
                         FailedHolders& failed, Report report)
    : code_(std::move(code)),
      read_(std::move(read)),
      failed_(failed),
      report_(std::move(report)),
      shown_(code_->units()),
      units_(code_->units()) {
  for (int i = 0; i < read_.group.locs_size(); ++i) AddHolder(i);
}

GroupReader::~GroupReader() {
  Shutdown();
  try {
    AwaitFetch();
    NoteFailures();
  } catch (const std::exception&) {
    // Without memory a later group meets the failures again.
  }
}

void GroupReader::AddHolder(int location) {
  const auto& group = read_.group;
  if (location >= static_cast<int>(group.blockindices().size())) return;
  const std::size_t index =
      static_cast<unsigned char>(group.blockindices()[static_cast<std::size_t>(location)]);
  if (index >= units_.size()) return;
  Holder holder;
  auto& block = holder.block;
  *block.mutable_b() = group.b();
  block.mutable_b()->set_blockid(group.b().blockid() + index);
  block.mutable_b()->set_numbytes(code_->policy().BlockBytes(group.b().numbytes(), index));
  block.set_offset(group.offset());
  block.set_corrupt(false);
  *block.add_locs() = group.locs(location);
  if (location < group.storageids_size()) block.add_storageids(group.storageids(location));
  if (location < group.storagetypes_size()) block.add_storagetypes(group.storagetypes(location));
  if (location < group.iscached_size()) block.add_iscached(group.iscached(location));
  *block.mutable_blocktoken() =
      location < group.blocktokens_size() ? group.blocktokens(location) : group.blocktoken();
  holder.local = IsLocalAddress(group.locs(location).id().ipaddr());
  auto shunned = failed_.shunned.find(ServerName(block));
  if (shunned == failed_.shunned.end()) shunned = failed_.shunned.find(ReplicaName(block));
  if (shunned != failed_.shunned.end()) {
    holder.failure = Error{shunned->second,
                           transfer::TransferAddress(block.locs(0).id()) + " has failed before"};
    holder.noted = true;
    holder.last_resort = !failed_.given_up.contains(ServerName(block));
  }
  holder.patient = read_.patient;
  units_[index].holders.push_back(std::move(holder));
}

bool GroupReader::Covers(std::uint64_t offset) const {
  const auto& group = read_.group;
  return group.offset() <= offset && offset < group.offset() + group.b().numbytes();
}

std::uint64_t GroupReader::CellBytes(std::size_t unit) const {
  const auto& policy = code_->policy();
  const std::uint64_t before = row_ * policy.row_bytes();
  const std::uint64_t bytes = std::min(read_.group.b().numbytes() - before, policy.row_bytes());
  return policy.BlockBytes(bytes, unit);
}

Result<std::span<const std::byte>> GroupReader::At(std::uint64_t offset, std::size_t most) {
  const auto& policy = code_->policy();
  const std::uint64_t in_group = offset - read_.group.offset();
  const std::uint64_t in_row = in_group % policy.row_bytes();
  const std::uint64_t in_cell = in_row % policy.cell_bytes;
  const Cell& cell = shown_[in_row / policy.cell_bytes];
  const std::uint64_t row = in_group / policy.row_bytes();
  if (shown_row_ != row || !cell.Has(in_cell)) EBB_TRY(Show(row, in_row));
  local_ = cell.local;
  return std::span(cell.at(in_cell), std::min<std::uint64_t>(most, cell.have.end - in_cell));
}

Status GroupReader::Show(std::uint64_t row, std::uint64_t in_row) {
  AwaitFetch();
  const std::uint64_t cell = code_->cell_bytes();
  Status fetched;
  if (fetched_row_ != row || !units_[in_row / cell].cell.Has(in_row % cell)) {
    fetched = Fetch(row, in_row, RowEnd(row), true);
  }
  NoteFailures();
  fetched_row_.reset();
  shown_row_.reset();
  EBB_TRY(fetched);
  for (std::size_t i = 0; i < units_.size(); ++i) std::swap(shown_[i], units_[i].cell);
  shown_row_ = row;
  if (in_row == 0) FetchAhead(row + 1);
  return {};
}

std::uint64_t GroupReader::RowEnd(std::uint64_t row) const {
  const std::uint64_t end = std::min(read_.end - read_.group.offset(), read_.group.b().numbytes());
  const std::uint64_t begin = std::min(end, row * code_->policy().row_bytes());
  return std::min(end - begin, code_->policy().row_bytes());
}

void GroupReader::FetchAhead(std::uint64_t row) {
  if (RowEnd(row) == 0) return;
  // A row that could not be fetched, or not without a thread, is fetched when it is needed.
  try {
    ahead_ = std::jthread([this, row] {
      try {
        (void)Fetch(row, 0, RowEnd(row), false);
      } catch (const std::exception&) {  // no memory; must not leave the thread
      }
    });
  } catch (const std::exception&) {
  }
}

void GroupReader::AwaitFetch() {
  if (ahead_.joinable()) ahead_.join();
}

Status GroupReader::Fetch(std::uint64_t row, std::uint64_t begin, std::uint64_t end,
                          bool may_wait) {
  fetched_row_.reset();
  row_ = row;
  const std::uint64_t cell = code_->cell_bytes();
  std::vector<Range> wanted(units_.size());
  for (std::size_t i = 0; i < code_->data_units(); ++i) {
    const std::uint64_t from = i * cell;
    if (begin >= from + cell || end <= from) continue;
    wanted[i] = {std::max(begin, from) - from, std::min(end - from, cell)};
  }
  for (auto& unit : units_) unit.cell.have = {};
  for (;;) {
    EBB_ASSIGN(const auto needed, Plan(wanted, may_wait));
    std::vector<std::size_t> unread;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (!units_[i].cell.have.Holds(needed[i])) unread.push_back(i);
    }
    if (unread.empty()) break;
    EBB_TRY(ReadAll(needed, unread));
  }
  Decode();
  fetched_row_ = row;
  return {};
}

bool GroupReader::HasBytes(std::size_t unit) { return units_[unit].usable() != nullptr; }

bool GroupReader::UseLastResort(const std::vector<std::size_t>& units, std::size_t most) {
  std::vector<Holder*> resorts;
  for (const std::size_t i : units) {
    auto& holders = units_[i].holders;
    const auto found = std::ranges::find_if(holders, &Holder::last_resort);
    if (found != holders.end()) resorts.push_back(&*found);
  }
  // A server that was silent may be slow. One that has ended a connection is probably down.
  std::ranges::stable_partition(
      resorts, [](const Holder* h) { return h->failure->code == ErrorCode::kTimeout; });
  resorts.resize(std::min(resorts.size(), most));
  for (Holder* holder : resorts) {
    holder->failure.reset();
    holder->noted = holder->last_resort = holder->read = false;
    holder->patient = true;
  }
  return !resorts.empty();
}

Result<std::vector<GroupReader::Range>> GroupReader::Plan(const std::vector<Range>& wanted,
                                                          bool may_wait) {
  lost_.clear();
  sources_.clear();
  decoded_ = {};
  std::vector<Range> needed(units_.size());
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (wanted[i].empty()) continue;
    if (HasBytes(i) || units_[i].cell.have.Holds(wanted[i])) {
      needed[i] = wanted[i];
    } else {
      lost_.push_back(i);
      decoded_ = decoded_.Joined(wanted[i]);
    }
  }
  if (lost_.empty()) return needed;
  const auto needed_of = [&](std::size_t i) {
    return needed[i].Joined(decoded_.Cut(CellBytes(i)));
  };
  // A data block that ends before this row stands for zeros, and costs nothing.
  std::vector<std::size_t> present;
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const bool here = HasBytes(i) || units_[i].cell.have.Holds(needed_of(i));
    (here ? present : missing).push_back(i);
  }
  if (present.size() < code_->data_units()) {
    const std::size_t lacking = code_->data_units() - present.size();
    if (may_wait && UseLastResort(missing, lacking)) return Plan(wanted, may_wait);
    return std::unexpected(Unreadable());
  }
  // Those come first that are read anyway, and data come before parities.
  std::ranges::stable_sort(present, {}, [&](std::size_t i) {
    if (units_[i].cell.have.Holds(needed_of(i))) return 0;
    return needed[i].Holds(needed_of(i)) ? 1 : 2;
  });
  present.resize(code_->data_units());
  std::ranges::sort(present);
  for (const std::size_t i : present) needed[i] = needed_of(i);
  sources_ = std::move(present);
  return needed;
}

Status GroupReader::ReadAll(const std::vector<Range>& needed, const std::vector<std::size_t>& of) {
  if (stopped_) return Fail(ErrorCode::kShutdown, "the read was cancelled");
  try {
    ParallelFor(of.size(), of.size(), [&](std::size_t i) {
      try {
        ReadUnit(of[i], needed[of[i]]);
      } catch (const std::exception& error) {  // no memory; must not leave a thread
        units_[of[i]].cell.have = {};
        units_[of[i]].no_memory = error.what();
      }
    });
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kBusy,
                fmt::format("{} cannot be read for now: {}", read_.path, error.what()));
  }
  if (stopped_) return Fail(ErrorCode::kShutdown, "the read was cancelled");
  for (const std::size_t i : of) {
    if (const auto why = std::exchange(units_[i].no_memory, {}); !why.empty()) {
      return Fail(ErrorCode::kBusy, fmt::format("{} cannot be read for now: {}", read_.path, why));
    }
  }
  return {};
}

void GroupReader::ReadUnit(std::size_t index, const Range& range) {
  Unit& unit = units_[index];
  while (Holder* holder = unit.usable()) {
    auto read = ReadFrom(*holder, index, range);
    if (read) {
      unit.cell.local = holder->local;
      holder->read = true;
      return;
    }
    unit.cell.have = {};
    unit.reader.reset();
    if (stopped_) return;
    holder->failure = transfer::WithPeer(transfer::TransferAddress(holder->block.locs(0).id()),
                                         std::move(read).error());
    holder->last_resort = holder->failure->code == ErrorCode::kTimeout && !holder->patient;
  }
}

transfer::ReadHooks GroupReader::HooksFor(const Holder& holder) {
  transfer::ReadHooks hooks{.sockets = &sockets_};
  if (holder.patient) return hooks;
  hooks.connect = kImpatience;
  if (read_.straggler == Timeout(0)) return hooks;
  hooks.connect = std::min(hooks.connect, read_.straggler);
  hooks.silence = read_.straggler;
  hooks.on_silence = [this]() -> Status {
    return Fail(ErrorCode::kTimeout,
                fmt::format("nothing was sent for {} ms", read_.straggler.count()));
  };
  return hooks;
}

Status GroupReader::ReadFrom(Holder& holder, std::size_t index, const Range& range) {
  Unit& unit = units_[index];
  const std::uint64_t begin = row_ * code_->cell_bytes() + range.begin;
  const std::uint64_t end = begin + range.size();
  if (!unit.reader || unit.reader->position() != begin || unit.reader->end() < end) {
    const std::uint64_t in_group =
        std::min(read_.end - read_.group.offset(), read_.group.b().numbytes());
    const std::uint64_t last = std::max(end, code_->policy().BlockBytes(in_group, index));
    EBB_ASSIGN(unit.reader, OpenBlock(holder.block, holder.block.locs(0).id(), begin, last,
                                      HooksFor(holder)));
  }
  unit.cell.Make(range);
  for (std::uint64_t done = 0; done < range.size();) {
    EBB_ASSIGN(const auto bytes, unit.reader->Next(range.size() - done));
    if (bytes.empty()) return Fail(ErrorCode::kNetwork, "the block ends too early");
    std::memcpy(unit.cell.bytes.get() + done, bytes.data(), bytes.size());
    done += bytes.size();
  }
  if (unit.reader->position() < unit.reader->end()) return {};
  // The reader takes its leave of the server.
  (void)unit.reader->Next(1);
  unit.reader.reset();
  return {};
}

void GroupReader::NoteFailures() {
  for (auto& unit : units_) {
    for (auto& holder : unit.holders) {
      if (!holder.failure && holder.read && holder.patient) {
        failed_.shunned.erase(ServerName(holder.block));
        failed_.shunned.erase(ReplicaName(holder.block));
      }
      if (!holder.failure || holder.noted) continue;
      holder.noted = true;
      NoteFailure(holder);
    }
  }
}

void GroupReader::NoteFailure(const Holder& holder) {
  const auto code = holder.failure->code;
  const bool server = code == ErrorCode::kNetwork || code == ErrorCode::kTimeout;
  failed_.shunned[server ? ServerName(holder.block) : ReplicaName(holder.block)] = code;
  if (server && holder.patient) failed_.given_up.insert(ServerName(holder.block));
  if (code == ErrorCode::kCorrupt) report_(holder.block);
}

void GroupReader::Decode() {
  if (lost_.empty()) return;
  const std::uint64_t length = decoded_.size();
  std::vector<const std::byte*> sources;
  // What ends before the others is followed by zeros. Only the last cell of a group ends inside.
  std::vector<std::byte> zeros;
  std::vector<std::byte> padded;
  for (const std::size_t i : sources_) {
    const Unit& unit = units_[i];
    if (unit.cell.have.Holds(decoded_)) {
      sources.push_back(unit.cell.at(decoded_.begin));
      continue;
    }
    const Range part = decoded_.Cut(CellBytes(i));
    auto& filled = part.empty() ? zeros : padded;
    filled.resize(length);
    if (!part.empty()) {
      std::memcpy(filled.data(), unit.cell.at(part.begin), part.size());
    }
    sources.push_back(filled.data());
  }
  std::vector<std::byte*> targets;
  for (const std::size_t i : lost_) {
    units_[i].cell.Make(decoded_);
    units_[i].cell.local = false;
    targets.push_back(units_[i].cell.bytes.get());
  }
  code_->Decoder(sources_, lost_).Apply(sources, targets, length);
  for (const std::size_t i : lost_) units_[i].cell.have = decoded_.Cut(CellBytes(i));
}

Error GroupReader::Unreadable() {
  const auto& group = read_.group.b();
  std::string missing;
  std::size_t blocks = 0;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    // A short group has no blocks without bytes.
    if (code_->policy().BlockBytes(group.numbytes(), i) == 0) continue;
    ++blocks;
    if (HasBytes(i)) continue;
    missing += fmt::format("; block {}: ", ShownId(group.blockid() + i));
    if (units_[i].holders.empty()) missing += "no server has it";
    for (const auto& holder : units_[i].holders) missing += holder.failure->message + " ";
  }
  return {
      ErrorCode::kNotFound,
      fmt::format("group {} of {} cannot be read: {} of its {} blocks are needed, and these are "
                  "missing{}",
                  ShownId(group.blockid()), read_.path, blocks - code_->policy().parity_units,
                  blocks, missing)};
}

void GroupReader::Shutdown() {
  stopped_ = true;
  sockets_.ShutdownAll();
}

}  // namespace ebb::client
