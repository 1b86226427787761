#include "client/server_replacement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "transfer/peer.h"

namespace ebb::client {

using namespace hadoop::hdfs;
using ebb::Status;

namespace {

constexpr char kPrefix[] = "dfs.client.block.write.replace-datanode-on-failure.";
// Below this replication the default rule adds no server.
constexpr int kLeastReplication = 3;
// The source answers when the copy is complete; 5 s more for each so many bytes.
constexpr std::uint64_t kBytesPerHop = 16 << 20;

OpTransferBlockProto OperationFor(const PipelineTarget& target, const LocatedBlockProto& offer,
                                  int added) {
  OpTransferBlockProto op;
  transfer::FillHeader(*op.mutable_header(), target.block.b(), target.client_name);
  op.mutable_header()->mutable_baseheader()->mutable_block()->set_numbytes(
      target.acknowledged_bytes);
  *op.mutable_header()->mutable_baseheader()->mutable_token() = offer.blocktoken();
  *op.add_targets() = offer.locs(added);
  op.add_targetstoragetypes(added < offer.storagetypes_size() ? offer.storagetypes(added) : DISK);
  if (added < offer.storageids_size()) op.add_targetstorageids(offer.storageids(added));
  return op;
}

}  // namespace

bool ReplacementPolicy::Wants(int replication, int live, bool visible) const {
  if (live == 0 || live >= replication || rule == Rule::kNever) return false;
  if (rule == Rule::kAlways) return true;
  return replication >= kLeastReplication && (live <= replication / 2 || visible);
}

Result<ReplacementPolicy> ReplacementPolicyOf(const Configuration& configuration) {
  using Rule = ReplacementPolicy::Rule;
  const std::string name = std::string(kPrefix) + "policy";
  const std::string text = configuration.Get(name, "DEFAULT");
  std::string upper = text;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  ReplacementPolicy policy;
  if (upper == "NEVER") {
    policy.rule = Rule::kNever;
  } else if (upper == "ALWAYS") {
    policy.rule = Rule::kAlways;
  } else if (upper != "DEFAULT") {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} is '{}'; write DEFAULT, ALWAYS or NEVER", name, text));
  }
  if (!configuration.Flag(std::string(kPrefix) + "enable", true)) policy.rule = Rule::kNever;
  policy.best_effort = configuration.Flag(std::string(kPrefix) + "best-effort", false);
  return policy;
}

std::expected<void, CopyFailure> CopyToNewServer(PipelineTarget& target, int source,
                                                 const LocatedBlockProto& offer, int added) {
  const auto& server = target.block.locs(source).id();
  bool by_source = true;
  const auto copied = [&]() -> Status {
    EBB_ASSIGN(auto socket, transfer::ConnectTo(server));
    std::string request;
    transfer::AppendOperation(request, transfer::Operation::kTransferBlock,
                              OperationFor(target, offer, added));
    EBB_TRY(transfer::WriteString(socket, request, transfer::kPeerTimeout));
    SocketReader reader(socket);
    BlockOpResponseProto response;
    const int hops = 2 + static_cast<int>(target.sent_bytes / kBytesPerHop);
    const auto answered =
        transfer::ReadMessage(reader, response, transfer::PipelineTimeout(hops));
    // A source that is silent may wait for the new server.
    by_source = !answered && answered.error().code != ErrorCode::kTimeout;
    EBB_TRY(answered);
    return transfer::CheckResponse(response, socket.peer(), target.block.b().blockid(), "copy");
  }();
  if (!copied) {
    return std::unexpected(CopyFailure{
        transfer::WithPeer(transfer::TransferAddress(server), copied.error()), by_source});
  }
  target.Add(offer, added);
  return {};
}

}  // namespace ebb::client
