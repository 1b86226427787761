#include "client/group_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ClientNamenodeProtocol.pb.h"
#include "transfer/peer.h"

namespace ebb::client {

using namespace hadoop::hdfs;
using ebb::Status;

namespace {

// HDFS names the server of a block that is written no more so.
void SetNoServer(DatanodeIDProto& id) {
  id.set_ipaddr("null");
  id.set_hostname("null");
  id.set_datanodeuuid("null");
  id.set_xferport(0);
  id.set_infoport(0);
  id.set_ipcport(0);
}

}  // namespace

GroupWriter::GroupWriter(NamenodeConnection& namenode, const WrittenFile& file,
                         const GroupCode& code, const format::Checksum& checksum,
                         std::size_t window, std::vector<DatanodeInfoProto>& excluded)
    : namenode_(namenode),
      file_(file),
      code_(code),
      checksum_(checksum),
      window_(window),
      excluded_(excluded),
      units_(code.units()) {}

Result<LocatedBlockProto> GroupWriter::AskForGroup(const ExtendedBlockProto* previous) {
  auto group = AddBlock(namenode_, file_, previous, excluded_);
  if (group || excluded_.empty() || group.error().code != ErrorCode::kRemote) return group;
  excluded_.clear();
  return AddBlock(namenode_, file_, previous, excluded_);
}

Status GroupWriter::Allocate(const ExtendedBlockProto* previous) {
  EBB_ASSIGN(const auto group, AskForGroup(previous));
  if (group.blockindices().empty()) {
    return Fail(ErrorCode::kNetwork,
                fmt::format("the namenode answers no block group for {}, which has the policy {}; "
                            "write the file again",
                            file_.path, code_.policy().name));
  }
  group_ = group.b();
  group_.set_numbytes(0);
  TakeTargets(group);
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (units_[i].target.block.locs_size() > 0) continue;
    units_[i].failure = Error{ErrorCode::kNoSpace, "the namenode names no server for it"};
    units_[i].settled = true;
  }
  return CheckEnough();
}

void GroupWriter::TakeTargets(const LocatedBlockProto& group) {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    auto& target = units_[i].target;
    *target.block.mutable_b() = group_;
    target.block.mutable_b()->set_blockid(group_.blockid() + i);
    target.client_name = file_.client_name;
    target.checksum = checksum_;
    target.block_bytes = file_.block_bytes;
    target.new_stamp = group_.generationstamp();
    target.window = window_;
  }
  for (int i = 0; i < group.locs_size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (at >= group.blockindices().size()) return;
    const auto index = static_cast<unsigned char>(group.blockindices()[at]);
    if (index >= units_.size()) continue;
    auto& block = units_[index].target.block;
    *block.add_locs() = group.locs(i);
    if (i < group.storageids_size()) block.add_storageids(group.storageids(i));
    if (i < group.storagetypes_size()) block.add_storagetypes(group.storagetypes(i));
    *block.mutable_blocktoken() =
        i < group.blocktokens_size() ? group.blocktokens(i) : group.blocktoken();
  }
}

bool GroupWriter::Open(Unit& unit) {
  auto opened = WritePipeline::Open(unit.target);
  if (opened) {
    unit.pipeline = std::move(opened).value();
    return true;
  }
  FailUnit(unit, std::move(opened).error().error);
  return false;
}

void GroupWriter::FailUnit(Unit& unit, Error error) {
  const auto& server = unit.target.block.locs(0);
  unit.pipeline = nullptr;
  unit.failure = transfer::WithPeer(transfer::TransferAddress(server.id()), std::move(error));
  excluded_.push_back(server);
}

bool GroupWriter::WritesParities() const {
  return std::any_of(units_.begin() + static_cast<std::ptrdiff_t>(code_.data_units()), units_.end(),
                     [](const Unit& unit) { return !unit.failure; });
}

void GroupWriter::Send(std::size_t index, const std::shared_ptr<WritePacket>& packet) {
  Unit& unit = units_[index];
  if (unit.failure || (!unit.pipeline && !Open(unit))) return;
  packet->Seal(unit.sequence++, checksum_, packet->empty(), false);
  unit.target.sent_bytes = packet->end();
  auto sent = unit.pipeline->Send(packet);
  if (!sent) FailUnit(unit, std::move(sent).error());
}

void GroupWriter::AwaitAll() {
  for (auto& unit : units_) {
    if (!unit.pipeline) continue;
    auto all = unit.pipeline->AwaitAll();
    if (all) {
      unit.target.acknowledged_bytes = unit.target.sent_bytes;
    } else {
      FailUnit(unit, std::move(all).error());
    }
  }
}

Status GroupWriter::CheckEnough() const {
  std::size_t failed = 0;
  std::string failures;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (!units_[i].failure) continue;
    ++failed;
    failures +=
        fmt::format("; block {}: {}", ShownId(group_.blockid() + i), units_[i].failure->message);
  }
  if (failed <= code_.policy().parity_units) return {};
  return Fail(
      ErrorCode::kNetwork,
      fmt::format("group {} of {} cannot be written: {} of its {} servers have failed, and {} "
                  "may at most{}",
                  ShownId(group_.blockid()), file_.path, failed, units_.size(),
                  code_.policy().parity_units, failures));
}

bool GroupWriter::HasUnsettled() const {
  return std::ranges::any_of(units_, [](const Unit& u) { return u.failure && !u.settled; });
}

Status GroupWriter::Settle(std::uint64_t group_bytes) {
  group_.set_numbytes(group_bytes);
  if (!HasUnsettled()) return {};
  AwaitAll();
  while (HasUnsettled()) {
    EBB_TRY(CheckEnough());
    for (auto& unit : units_) unit.settled = unit.failure.has_value();
    EBB_TRY(Renew(group_bytes));
  }
  return {};
}

Status GroupWriter::Renew(std::uint64_t group_bytes) {
  UpdateBlockForPipelineRequestProto request;
  *request.mutable_block() = group_;
  request.set_clientname(file_.client_name);
  EBB_ASSIGN(const auto answer,
             namenode_.Ask<UpdateBlockForPipelineResponseProto>("updateBlockForPipeline", request));
  const auto& renewed = answer.block();
  const std::uint64_t new_stamp = renewed.b().generationstamp();
  for (std::size_t i = 0; i < renewed.blockindices().size(); ++i) {
    const auto index = static_cast<unsigned char>(renewed.blockindices()[i]);
    if (index >= units_.size() || static_cast<int>(i) >= renewed.blocktokens_size()) continue;
    *units_[index].target.block.mutable_blocktoken() = renewed.blocktokens(static_cast<int>(i));
  }
  for (auto& unit : units_) {
    unit.target.new_stamp = new_stamp;
    if (!unit.pipeline) continue;
    unit.pipeline = nullptr;
    unit.target.stage = OpWriteBlockProto::PIPELINE_SETUP_STREAMING_RECOVERY;
    (void)Open(unit);
  }
  return HasUnsettled() ? Status() : Publish(new_stamp, group_bytes);
}

Status GroupWriter::Publish(std::uint64_t new_stamp, std::uint64_t group_bytes) {
  UpdatePipelineRequestProto request;
  request.set_clientname(file_.client_name);
  *request.mutable_oldblock() = group_;
  group_.set_generationstamp(new_stamp);
  *request.mutable_newblock() = group_;
  request.mutable_newblock()->set_numbytes(group_bytes);
  for (auto& unit : units_) {
    auto& block = unit.target.block;
    block.mutable_b()->set_generationstamp(new_stamp);
    if (unit.pipeline) {
      *request.add_newnodes() = block.locs(0).id();
      request.add_storageids(block.storageids_size() > 0 ? block.storageids(0) : "");
    } else {
      SetNoServer(*request.add_newnodes());
      request.add_storageids("");
    }
  }
  UpdatePipelineResponseProto response;
  return namenode_.Call("updatePipeline", request, response);
}

Status GroupWriter::Finish() {
  // Servers end their blocks with an empty packet, which leaves when they have everything else.
  AwaitAll();
  EBB_TRY(Settle(group_.numbytes()));
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (!units_[i].pipeline) continue;
    Send(i, std::make_shared<WritePacket>(units_[i].target.sent_bytes, 0));
  }
  // As in HDFS, a block whose end fails needs no new stamp: its server has all bytes, or has no
  // finished block.
  AwaitAll();
  EBB_TRY(CheckEnough());
  for (auto& unit : units_) unit.pipeline = nullptr;
  return {};
}

}  // namespace ebb::client
