#include "client/holder_reader.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "client/open_block.h"

namespace ebb::client {

// A decoding reader that starts in a thread of its own.
class HolderReader::Hedge {
 public:
  // The hedge that is first ends the sockets of the holder.
  Hedge(std::unique_ptr<DecodedReader> reader, OpenSockets& holder)
      : reader_(std::move(reader)), thread_([this, &holder] { Run(holder); }) {}
  ~Hedge() { Shutdown(); }

  // Ends the race. Null if the hedge has no bytes yet: it is closed then.
  std::unique_ptr<DecodedReader> Settle() {
    const std::lock_guard lock(mutex_);
    if (first_) return std::move(reader_);
    settled_ = true;
    if (reader_) reader_->Shutdown();
    return nullptr;
  }

  void Shutdown() {
    const std::lock_guard lock(mutex_);
    if (reader_) reader_->Shutdown();
  }

  // Whether nothing of a hedge that was not first is left.
  bool ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }

 private:
  Status Started() {
    try {
      return reader_->Start();
    } catch (const std::exception& error) {  // no memory; must not leave the thread
      return Fail(ErrorCode::kBusy, error.what());
    }
  }

  void Run(OpenSockets& holder) {
    const auto started = Started();
    std::unique_ptr<DecodedReader> late;
    {
      const std::lock_guard lock(mutex_);
      if (started && !settled_) {
        first_ = true;
        holder.ShutdownAll();
        return;
      }
      late = std::move(reader_);
    }
    late.reset();
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }

  std::mutex mutex_;
  bool first_ = false;
  bool settled_ = false;
  bool ended_ = false;
  std::unique_ptr<DecodedReader> reader_;
  // The last member, so that it is joined first.
  std::jthread thread_;
};

HolderReader::HolderReader(const hadoop::hdfs::DatanodeIDProto& server, BlockRange range,
                           Hedging hedging, transfer::IdleSockets* idle)
    : server_(server),
      range_(std::move(range)),
      hedging_(std::move(hedging)),
      idle_(idle),
      position_(range_.offset) {}

HolderReader::~HolderReader() = default;

Status HolderReader::Start() {
  transfer::ReadHooks hooks{.sockets = &sockets_};
  hooks.idle = idle_;
  if (hedging_.wanted()) {
    hooks.connect = std::min(hooks.connect, hedging_.straggler);
    hooks.silence = hedging_.straggler;
    hooks.on_silence = [this]() -> Status {
      StartHedge();
      return {};
    };
  }
  auto opened = OpenBlock(range_.block, server_, range_.offset, range_.end, hooks);
  if (opened) {
    // An answer without bytes does not end the race.
    holder_ = std::move(opened).value();
    return {};
  }
  if (TakeHedge()) return {};
  return std::unexpected(std::move(opened).error());
}

Result<std::span<const std::byte>> HolderReader::Next(std::size_t most) {
  if (decoded_) return decoded_->Next(most);
  auto bytes = holder_->Next(most);
  if (TakeHedge()) {
    holder_.reset();
    return decoded_->Next(most);
  }
  if (bytes) position_ += bytes->size();
  return bytes;
}

void HolderReader::StartHedge() {
  ++silences_;
  const std::lock_guard lock(mutex_);
  if (stopped_ || position_ == range_.end) return;
  if (hedge_) {
    if (!hedge_->ended() || silences_ < silences_between_) return;
    silences_between_ *= 2;
  }
  silences_ = 0;
  try {
    const BlockRange rest{range_.path, range_.block, position_, range_.end};
    auto excluded = hedging_.excluded;
    excluded.insert(server_.datanodeuuid());
    hedge_ = std::make_unique<Hedge>(
        std::make_unique<DecodedReader>(*hedging_.planner, rest, excluded), sockets_);
  } catch (const std::exception&) {
    // Without memory or a thread for a hedge the reader waits for the server.
  }
}

bool HolderReader::TakeHedge() {
  if (!hedge_) return false;
  const std::lock_guard lock(mutex_);
  decoded_ = hedge_->Settle();
  return decoded_ != nullptr;
}

void HolderReader::Shutdown() {
  sockets_.ShutdownAll();
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (decoded_) decoded_->Shutdown();
  if (hedge_) hedge_->Shutdown();
}

}  // namespace ebb::client
