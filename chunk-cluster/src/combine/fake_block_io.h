// A BlockIo in memory for tests. Its blocks fail or stall on demand.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gf/field.h"
#include "transfer/block_io.h"

namespace ebb {

using Bytes = std::vector<std::byte>;

// An injected failure of one block.
struct Fault {
  std::optional<Error> open = {};
  // The read or write that touches this byte fails with `error`, or waits for Release().
  std::optional<std::uint64_t> at = {};
  Error error = {ErrorCode::kNetwork, "the peer went away"};
  bool stall = false;
  std::optional<Error> finish = {};
};

// Thread-safe. Outlives its sources and sinks.
class FakeBlockIo final : public BlockIo {
 public:
  void Put(std::uint64_t id, Bytes bytes) {
    const std::lock_guard lock(mutex_);
    blocks_[id] = std::move(bytes);
  }
  void Remove(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    blocks_.erase(id);
  }
  void SetFault(std::uint64_t id, Fault fault) {
    const std::lock_guard lock(mutex_);
    faults_[id] = std::move(fault);
  }
  void ClearFaults() {
    const std::lock_guard lock(mutex_);
    faults_.clear();
  }
  // Ends all stalls, present and future.
  void Release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }
  // Waits until a source or sink stalls.
  void AwaitStall() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stalled_ > 0; });
  }

  [[nodiscard]] std::optional<Bytes> Get(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(id);
    if (found == blocks_.end()) return std::nullopt;
    return found->second;
  }
  // Blocks that are being written.
  [[nodiscard]] std::size_t unfinished() {
    const std::lock_guard lock(mutex_);
    return unfinished_.size();
  }
  [[nodiscard]] std::uint64_t bytes_read(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    return bytes_read_[id];
  }
  [[nodiscard]] int opens(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    return opens_[id];
  }
  // The `end` of the last OpenSource of the block.
  [[nodiscard]] std::uint64_t end_of_read(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    return ends_[id];
  }
  [[nodiscard]] int sinks_opened() {
    const std::lock_guard lock(mutex_);
    return sinks_opened_;
  }

  Result<std::unique_ptr<BlockSource>> OpenSource(const ebbfs::SourceProto& source,
                                                  std::uint64_t offset,
                                                  std::uint64_t end) override {
    const std::uint64_t id = source.block().blockid();
    const std::lock_guard lock(mutex_);
    ++opens_[id];
    ends_[id] = end;
    const auto fault = faults_.find(id);
    if (fault != faults_.end() && fault->second.open) return std::unexpected(*fault->second.open);
    if (!blocks_.contains(id)) return Fail(ErrorCode::kNotFound, fmt::format("no block {}", id));
    return std::make_unique<Source>(*this, id, offset, end);
  }

  Result<std::unique_ptr<BlockSink>> OpenSink(const ebbfs::TargetProto& target) override {
    const std::uint64_t id = target.block().blockid();
    const std::lock_guard lock(mutex_);
    ++sinks_opened_;
    const auto fault = faults_.find(id);
    if (fault != faults_.end() && fault->second.open) return std::unexpected(*fault->second.open);
    if (blocks_.contains(id) || !unfinished_.insert(id).second) {
      return Fail(ErrorCode::kInvalid, fmt::format("block {} is there", id));
    }
    return std::make_unique<Sink>(*this, id);
  }

 private:
  class Source final : public BlockSource {
   public:
    Source(FakeBlockIo& io, std::uint64_t id, std::uint64_t offset, std::uint64_t end)
        : io_(io), id_(id), offset_(offset), end_(end) {}
    Status Read(std::span<std::byte> out) override {
      EBB_TRY(io_.MeetFault(id_, offset_, out.size()));
      const std::lock_guard lock(io_.mutex_);
      const Bytes& bytes = io_.blocks_[id_];
      if (offset_ + out.size() > bytes.size()) {
        return Fail(ErrorCode::kCorrupt,
                    fmt::format("block {} has only {} bytes", id_, bytes.size()));
      }
      if (offset_ + out.size() > end_) {
        return Fail(ErrorCode::kInvalid,
                    fmt::format("block {} was opened up to {} only", id_, end_));
      }
      std::memcpy(out.data(), bytes.data() + offset_, out.size());
      offset_ += out.size();
      io_.bytes_read_[id_] += out.size();
      return {};
    }
    bool local() const override { return id_ % 2 == 0; }

   private:
    FakeBlockIo& io_;
    const std::uint64_t id_;
    std::uint64_t offset_;
    const std::uint64_t end_;
  };

  class Sink final : public BlockSink {
   public:
    Sink(FakeBlockIo& io, std::uint64_t id) : io_(io), id_(id) {}
    ~Sink() override {
      const std::lock_guard lock(io_.mutex_);
      io_.unfinished_.erase(id_);
    }
    Status Write(std::span<const std::byte> data) override {
      EBB_TRY(io_.MeetFault(id_, bytes_.size(), data.size()));
      bytes_.insert(bytes_.end(), data.begin(), data.end());
      return {};
    }
    Status Finish() override {
      const std::lock_guard lock(io_.mutex_);
      const auto fault = io_.faults_.find(id_);
      if (fault != io_.faults_.end() && fault->second.finish) {
        return std::unexpected(*fault->second.finish);
      }
      io_.blocks_[id_] = std::move(bytes_);
      return {};
    }
    bool local() const override { return id_ % 2 == 0; }

   private:
    FakeBlockIo& io_;
    const std::uint64_t id_;
    Bytes bytes_;
  };

  Status MeetFault(std::uint64_t id, std::uint64_t offset, std::uint64_t length) {
    std::unique_lock lock(mutex_);
    const auto found = faults_.find(id);
    if (found == faults_.end() || !found->second.at) return {};
    const Fault fault = found->second;
    if (*fault.at < offset || *fault.at >= offset + length) return {};
    if (!fault.stall) return std::unexpected(fault.error);
    ++stalled_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return released_; });
    return {};
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Bytes> blocks_;
  std::map<std::uint64_t, Fault> faults_;
  std::set<std::uint64_t> unfinished_;
  std::map<std::uint64_t, std::uint64_t> bytes_read_;
  std::map<std::uint64_t, int> opens_;
  std::map<std::uint64_t, std::uint64_t> ends_;
  int sinks_opened_ = 0;
  int stalled_ = 0;
  bool released_ = false;
};

// ---- building requests ----

inline void FillBlock(hadoop::hdfs::ExtendedBlockProto& block, std::uint64_t id,
                      std::uint64_t length) {
  block.set_poolid("BP-1");
  block.set_blockid(id);
  block.set_generationstamp(1001);
  block.set_numbytes(length);
}

inline void FillLocation(ebbfs::BlockLocationProto& location, const std::string& server) {
  auto& id = *location.mutable_server();
  id.set_ipaddr("127.0.0.1");
  id.set_hostname("localhost");
  id.set_datanodeuuid(server);
  id.set_xferport(1);
  id.set_infoport(2);
  id.set_ipcport(3);
  location.set_storageuuid("DS-" + server);
}

inline ebbfs::SourceProto MakeSource(std::uint64_t id, std::uint64_t length,
                                     const std::string& server = "server") {
  ebbfs::SourceProto source;
  FillBlock(*source.mutable_block(), id, length);
  FillLocation(*source.add_locations(), server);
  return source;
}

inline ebbfs::TargetProto MakeTarget(std::uint64_t id, std::uint64_t length) {
  ebbfs::TargetProto target;
  FillBlock(*target.mutable_block(), id, length);
  FillLocation(*target.mutable_location(), "server");
  return target;
}

// The sum of coefficients times sources, computed by its definition. Sources are padded with zeros.
inline Bytes ReferenceSum(const std::vector<Bytes>& sources, std::span<const std::uint8_t> row,
                          std::size_t length) {
  Bytes sum(length);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    for (std::size_t i = 0; i < std::min(length, sources[s].size()); ++i) {
      sum[i] ^= std::byte{gf::Mul(row[s], std::to_integer<std::uint8_t>(sources[s][i]))};
    }
  }
  return sum;
}

}  // namespace ebb
