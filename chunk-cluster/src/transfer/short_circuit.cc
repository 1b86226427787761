#include "transfer/short_circuit.h"

#include <fmt/core.h>

#include <array>
#include <optional>

#include "common/domain_socket.h"
#include "transfer/wire.h"

namespace ebb::transfer {

namespace {

using namespace hadoop::hdfs;

ShortCircuitRegistry::SlotId FromProto(const ShortCircuitShmSlotProto& slot) {
  return {{static_cast<std::uint64_t>(slot.shmid().hi()),
           static_cast<std::uint64_t>(slot.shmid().lo())},
          slot.slotidx()};
}

}  // namespace

ebb::Status ShortCircuit::Send(const google::protobuf::MessageLite& message) {
  return WriteMessage(socket_, message, kPeerTimeout);
}

ebb::Status ShortCircuit::Refuse(const std::optional<ShortCircuitRegistry::SlotId>& slot,
                                 const std::string& message) {
  // Before the answer: after it the client may use the slot again, if it frees it after all.
  if (slot) registry_.Refuse(*slot);
  BlockOpResponseProto response;
  response.set_status(ERROR_UNSUPPORTED);
  response.set_shortcircuitaccessversion(kBlockFilesVersion);
  response.set_message(message);
  return Send(response);
}

ebb::Status ShortCircuit::SendFiles(const OpRequestShortCircuitAccessProto& op) {
  const auto& block = op.header().block();
  std::optional<ShortCircuitRegistry::SlotId> slot;
  if (op.has_slotid()) slot = FromProto(op.slotid());
  if (op.maxversion() < kBlockFilesVersion) {
    return Refuse(slot, fmt::format("the files of a block have version {}, and this client reads "
                                    "up to version {}; use a newer client",
                                    kBlockFilesVersion, op.maxversion()));
  }
  if (slot) {
    // Before the files are opened: else the replica could be deleted unnoticed in between.
    if (auto registered = registry_.Register(*slot, block.blockid()); !registered) {
      return RefuseSlot(registered.error());
    }
  }
  const auto replica = store_.OpenReader(block.blockid(), block.generationstamp());
  if (!replica || (*replica)->descriptor() < 0) {
    return Refuse(slot,
                  replica ? "the files of this server cannot be shared" : replica.error().message);
  }
  auto sent = SendFilesOf(**replica, op.supportsreceiptverification());
  if (slot && !sent) (void)registry_.Unregister(*slot);
  return sent;
}

ebb::Status ShortCircuit::RefuseSlot(const Error& error) {
  // A segment may have ended while its client chose a slot of it.
  if (error.code == ErrorCode::kNotFound) return Refuse(std::nullopt, error.message);
  BlockOpResponseProto response;
  response.set_status(ERROR);
  response.set_message(error.message);
  return Send(response);
}

ebb::Status ShortCircuit::SendFilesOf(const ReplicaReader& replica, bool wants_receipt) {
  BlockOpResponseProto response;
  response.set_status(SUCCESS);
  response.set_shortcircuitaccessversion(kBlockFilesVersion);
  EBB_TRY(Send(response));
  const std::array files = {replica.descriptor(), replica.meta_descriptor()};
  const auto receipt = static_cast<std::byte>(wants_receipt ? USE_RECEIPT_VERIFICATION
                                                            : DO_NOT_USE_RECEIPT_VERIFICATION);
  EBB_TRY(SendDescriptors(socket_, files, receipt, kPeerTimeout));
  // A client that went away before it got the files does not release the slot.
  if (wants_receipt) EBB_TRY(reader_.Take(1, kPeerTimeout));
  return {};
}

Result<bool> ShortCircuit::ServeSegment() {
  ShortCircuitShmResponseProto response;
  const auto segment = registry_.Create([this] { socket_.Shutdown(); });
  if (!segment) {
    response.set_status(ERROR_UNSUPPORTED);
    response.set_error(segment.error().message);
    EBB_TRY(Send(response));
    return true;
  }
  response.set_status(SUCCESS);
  response.mutable_id()->set_hi(static_cast<std::int64_t>((*segment)->id().first));
  response.mutable_id()->set_lo(static_cast<std::int64_t>((*segment)->id().second));
  EBB_TRY(Send(response));
  const int memory = (*segment)->descriptor();
  EBB_TRY(SendDescriptors(socket_, std::span(&memory, 1), std::byte{0}, kPeerTimeout));
  for (;;) {
    EBB_ASSIGN(const bool ended, socket_.WaitReadable(std::chrono::hours(24)));
    if (ended) return false;
  }
}

ebb::Status ShortCircuit::ReleaseSlot(const ReleaseShortCircuitAccessRequestProto& request) {
  ReleaseShortCircuitAccessResponseProto response;
  response.set_status(SUCCESS);
  if (auto freed = registry_.Unregister(FromProto(request.slotid())); !freed) {
    response.set_status(ERROR_INVALID);
    response.set_error(freed.error().message);
  }
  return Send(response);
}

}  // namespace ebb::transfer
