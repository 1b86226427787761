#include "client/write_pipeline.h"

#include <fmt/format.h>

#include <utility>

#include "transfer/peer.h"

namespace ebb::client {

using namespace hadoop::hdfs;
using ebb::Status;

namespace {

constexpr auto kTick = std::chrono::seconds(1);
// Servers give a silent writer up after a minute.
constexpr auto kHeartbeatInterval = std::chrono::seconds(20);
// How long the writer waits for the acknowledgement that names the server at fault, after the first
// server has ended the connection.
constexpr auto kBlameWait = std::chrono::seconds(5);

OpWriteBlockProto OperationFor(const PipelineTarget& target) {
  const auto& block = target.block;
  OpWriteBlockProto op;
  transfer::FillHeader(*op.mutable_header(), block.b(), target.client_name);
  *op.mutable_header()->mutable_baseheader()->mutable_token() = block.blocktoken();
  op.mutable_header()->mutable_baseheader()->mutable_block()->set_numbytes(target.block_bytes);
  op.set_stage(target.stage);
  op.set_pipelinesize(static_cast<std::uint32_t>(block.locs_size()));
  op.set_minbytesrcvd(target.acknowledged_bytes);
  op.set_maxbytesrcvd(target.sent_bytes);
  op.set_latestgenerationstamp(target.new_stamp);
  *op.mutable_requestedchecksum() = transfer::ToProto(target.checksum);
  if (block.storagetypes_size() > 0) op.set_storagetype(block.storagetypes(0));
  if (block.storageids_size() > 0) op.set_storageid(block.storageids(0));
  for (int i = 1; i < block.locs_size(); ++i) {
    *op.add_targets() = block.locs(i);
    op.add_targetstoragetypes(i < block.storagetypes_size() ? block.storagetypes(i) : DISK);
    if (i < block.storageids_size()) op.add_targetstorageids(block.storageids(i));
  }
  return op;
}

int IndexOf(const LocatedBlockProto& block, const std::string& address) {
  for (int i = 0; i < block.locs_size(); ++i) {
    const auto& id = block.locs(i).id();
    if (transfer::TransferAddress(id) == address) return i;
    if (fmt::format("{}:{}", id.hostname(), id.xferport()) == address) return i;
  }
  return 0;
}

}  // namespace

void PipelineTarget::Drop(int server) {
  block.mutable_locs()->DeleteSubrange(server, 1);
  if (server < block.storageids_size()) block.mutable_storageids()->DeleteSubrange(server, 1);
  if (server >= block.storagetypes_size()) return;
  for (int i = server; i + 1 < block.storagetypes_size(); ++i) {
    block.set_storagetypes(i, block.storagetypes(i + 1));
  }
  block.mutable_storagetypes()->RemoveLast();
}

void PipelineTarget::Add(const LocatedBlockProto& from, int server) {
  *block.add_locs() = from.locs(server);
  if (server < from.storageids_size()) block.add_storageids(from.storageids(server));
  if (server < from.storagetypes_size()) block.add_storagetypes(from.storagetypes(server));
}

std::expected<std::unique_ptr<WritePipeline>, WritePipeline::Failure> WritePipeline::Open(
    const PipelineTarget& target) {
  const auto& first = target.block.locs(0).id();
  const int servers = target.block.locs_size();
  auto socket = transfer::StartWrite(first, OperationFor(target));
  if (!socket) return std::unexpected(Failure{std::move(socket).error(), 0});
  BlockOpResponseProto response;
  {
    SocketReader reader(*socket, 1);
    auto read = transfer::ReadMessage(reader, response, transfer::PipelineTimeout(servers));
    if (!read) {
      return std::unexpected(Failure{
          transfer::WithPeer(transfer::TransferAddress(first), std::move(read).error()), 0});
    }
  }
  const std::string& bad = response.firstbadlink();
  auto checked = transfer::CheckResponse(response, bad.empty() ? socket->peer() : bad,
                                         target.block.b().blockid(), "write");
  if (!checked) {
    return std::unexpected(Failure{std::move(checked).error(), IndexOf(target.block, bad)});
  }
  return std::unique_ptr<WritePipeline>(new WritePipeline(std::move(*socket), target));
}

WritePipeline::WritePipeline(Socket socket, const PipelineTarget& target)
    : socket_(std::move(socket)),
      reader_(socket_),
      block_id_(target.block.b().blockid()),
      servers_(target.block.locs_size()),
      window_(target.window),
      thread_([this] { ReadLoop(); }) {}

WritePipeline::~WritePipeline() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  socket_.Shutdown();
  thread_.join();
}

Status WritePipeline::Send(PacketPointer packet) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || unacknowledged_.size() < window_; });
    if (unacknowledged_.empty()) last_heard_ = Clock::now();
    // Even if the pipeline is broken: the packet is to be sent through the next one.
    unacknowledged_.push_back(packet);
    if (failure_) return std::unexpected(failure_->error);
    last_sent_ = Clock::now();
  }
  auto sent = [&] {
    const std::lock_guard sending(sending_);
    return packet->Send(socket_, transfer::PipelineTimeout(servers_));
  }();
  if (sent) return sent;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kBlameWait, [&] { return failure_.has_value(); });
  if (!failure_) failure_ = Failure{std::move(sent).error(), 0};
  return std::unexpected(failure_->error);
}

Status WritePipeline::AwaitAll() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || unacknowledged_.empty(); });
  if (unacknowledged_.empty()) return {};
  return std::unexpected(failure_->error);
}

int WritePipeline::failed_server() {
  const std::lock_guard lock(mutex_);
  return failure_ ? failure_->server : 0;
}

std::deque<PacketPointer> WritePipeline::TakeUnacknowledged() {
  const std::lock_guard lock(mutex_);
  return std::exchange(unacknowledged_, {});
}

void WritePipeline::Break(Error error, int server) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = Failure{std::move(error), server};
  socket_.Shutdown();
  changed_.notify_all();
}

void WritePipeline::ReadLoop() {
  for (;;) {
    const auto ready = reader_.buffered() > 0 ? Result<bool>(true) : socket_.WaitReadable(kTick);
    auto status = !ready   ? Status(std::unexpected(ready.error()))
                  : *ready ? TakeAcknowledgement()
                           : OnSilence();
    if (!status) return Break(std::move(status).error(), 0);
    const std::lock_guard lock(mutex_);
    if (closing_ || failure_) return;
  }
}

Status WritePipeline::OnSilence() {
  const auto now = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (!unacknowledged_.empty() && now - last_heard_ > transfer::PipelineTimeout(servers_)) {
      return Fail(ErrorCode::kTimeout, fmt::format("{} acknowledges nothing of block {} any more",
                                                   socket_.peer(), block_id_));
    }
    if (now - last_sent_ < kHeartbeatInterval) return {};
    last_sent_ = now;
  }
  // A writer that is sending needs no heartbeat.
  const std::unique_lock sending(sending_, std::try_to_lock);
  if (!sending.owns_lock()) return {};
  std::string heartbeat;
  transfer::AppendPacketPrefix(heartbeat, {.sequence = transfer::kHeartbeatSequence});
  return transfer::WriteString(socket_, heartbeat, transfer::kPeerTimeout);
}

Status WritePipeline::TakeAcknowledgement() {
  PipelineAckProto ack;
  EBB_TRY(transfer::ReadMessage(reader_, ack, transfer::PipelineTimeout(servers_)));
  for (int i = 0; i < ack.reply_size(); ++i) {
    if (ack.reply(i) == SUCCESS) continue;
    auto error =
        Fail(ErrorCode::kNetwork,
             fmt::format("server {} of the pipeline of block {} answered {}", i + 1, block_id_,
                         Status_Name(static_cast<hadoop::hdfs::Status>(ack.reply(i)))));
    Break(error.error(), i);
    return error;
  }
  if (ack.seqno() == transfer::kHeartbeatSequence) return {};
  const std::lock_guard lock(mutex_);
  if (unacknowledged_.empty() || unacknowledged_.front()->sequence() != ack.seqno()) {
    return Fail(ErrorCode::kNetwork, fmt::format("{} acknowledged packet {} of block {}, which is "
                                                 "not the oldest one",
                                                 socket_.peer(), ack.seqno(), block_id_));
  }
  unacknowledged_.pop_front();
  last_heard_ = Clock::now();
  changed_.notify_all();
  return {};
}

}  // namespace ebb::client
