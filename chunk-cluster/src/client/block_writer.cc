#include "client/block_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <numeric>
#include <thread>
#include <utility>

#include "ClientNamenodeProtocol.pb.h"

namespace ebb::client {

using namespace hadoop::hdfs;
using ebb::Status;

namespace {

// While the namenode waits for the replicas of the block before.
constexpr char kNotReplicatedYet[] =
    "org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException";
constexpr auto kFirstBlockWait = std::chrono::milliseconds(50);
constexpr int kMostBlockWaits = 8;
// So many servers are added without progress. A packet that no server can take would go through the
// whole cluster otherwise.
constexpr int kMostAdditions = 5;
// So many servers are tried each time.
constexpr int kMostCopies = 3;

bool Has(const LocatedBlockProto& block, const DatanodeInfoProto& server) {
  return std::ranges::any_of(block.locs(), [&](const DatanodeInfoProto& present) {
    return present.id().datanodeuuid() == server.id().datanodeuuid();
  });
}

}  // namespace

Result<LocatedBlockProto> AddBlock(NamenodeConnection& namenode, const WrittenFile& file,
                                   const ExtendedBlockProto* previous,
                                   const std::vector<DatanodeInfoProto>& excluded) {
  AddBlockRequestProto request;
  request.set_src(file.path);
  request.set_clientname(file.client_name);
  request.set_fileid(file.file_id);
  if (previous != nullptr) *request.mutable_previous() = *previous;
  for (const auto& server : excluded) *request.add_excludenodes() = server;
  for (int waits = 0;; ++waits) {
    auto answer = namenode.Ask<AddBlockResponseProto>("addBlock", request);
    if (answer) return std::move(*answer->mutable_block());
    if (answer.error().exception_class != kNotReplicatedYet || waits == kMostBlockWaits) {
      return std::unexpected(std::move(answer).error());
    }
    std::this_thread::sleep_for(kFirstBlockWait * (1 << waits));
  }
}

BlockWriter::BlockWriter(NamenodeConnection& namenode, const WrittenFile& file,
                         const format::Checksum& checksum, int most_retries,
                         const ReplacementPolicy& replacement)
    : namenode_(namenode),
      file_(file),
      most_retries_(most_retries),
      replacement_(replacement) {
  target_.client_name = file.client_name;
  target_.checksum = checksum;
  target_.block_bytes = file.block_bytes;
}

Status BlockWriter::Allocate(const ExtendedBlockProto* previous) {
  for (int retries = 0;; ++retries) {
    EBB_ASSIGN(target_.block, AddBlock(namenode_, file_, previous, excluded_));
    if (target_.block.blockindices().size() > 0) {
      return Fail(
          ErrorCode::kUnsupported,
          fmt::format("the namenode answers a block group for {}, which had no erasure coding "
                      "policy when it was made; write it again",
                      file_.path));
    }
    if (target_.block.locs_size() == 0) {
      return Fail(ErrorCode::kNoSpace,
                  fmt::format("the namenode names no server for a block of {}", file_.path));
    }
    target_.new_stamp = target_.block.b().generationstamp();
    auto opened = WritePipeline::Open(target_);
    if (opened) {
      pipeline_ = std::move(opened).value();
      return {};
    }
    Abandon();
    if (retries >= most_retries_) return std::unexpected(std::move(opened).error().error);
    excluded_.push_back(target_.block.locs(opened.error().server));
  }
}

void BlockWriter::Abandon() {
  AbandonBlockRequestProto request;
  *request.mutable_b() = target_.block.b();
  request.set_src(file_.path);
  request.set_holder(file_.client_name);
  request.set_fileid(file_.file_id);
  AbandonBlockResponseProto response;
  // If the call fails, the namenode frees the block with the lease.
  (void)namenode_.Call("abandonBlock", request, response);
}

Status BlockWriter::Reopen(const LocatedBlockProto& last) {
  target_.block = last;
  visible_ = true;
  target_.acknowledged_bytes = target_.sent_bytes = last.b().numbytes();
  return OpenAgain(OpWriteBlockProto::PIPELINE_SETUP_APPEND,
                   Error{ErrorCode::kNotFound, "the namenode names no server"});
}

Status BlockWriter::Send(PacketPointer packet) {
  target_.sent_bytes = std::max(target_.sent_bytes, packet->end());
  auto sent = pipeline_->Send(std::move(packet));
  return sent ? sent : Recover(std::move(sent).error());
}

Status BlockWriter::Flush() {
  visible_ = true;
  return AwaitAll();
}

Status BlockWriter::AwaitAll() {
  for (;;) {
    auto all = pipeline_->AwaitAll();
    if (all) break;
    EBB_TRY(Recover(std::move(all).error()));
  }
  target_.acknowledged_bytes = target_.sent_bytes;
  return {};
}

Status BlockWriter::Finish(PacketPointer end) {
  // Servers make the block final with its last packet. So that all of them can do so after a
  // failure, the packet leaves when they have everything else.
  EBB_TRY(AwaitAll());
  auto done = pipeline_->Send(std::move(end));
  if (done) done = pipeline_->AwaitAll();
  if (!done) {
    Lose(pipeline_->failed_server());
    EBB_TRY(OpenAgain(OpWriteBlockProto::PIPELINE_CLOSE_RECOVERY, std::move(done).error()));
  }
  pipeline_ = nullptr;
  return {};
}

Status BlockWriter::Recover(Error error) {
  const auto pending = pipeline_->TakeUnacknowledged();
  if (!pending.empty()) target_.acknowledged_bytes = pending.front()->begin();
  for (;;) {
    Lose(pipeline_->failed_server());
    EBB_TRY(OpenAgain(OpWriteBlockProto::PIPELINE_SETUP_STREAMING_RECOVERY, error));
    bool sent = true;
    for (const auto& packet : pending) {
      auto status = pipeline_->Send(packet);
      if (status) continue;
      error = std::move(status).error();
      sent = false;
      break;
    }
    if (sent) return {};
  }
}

Status BlockWriter::OpenAgain(OpWriteBlockProto::BlockConstructionStage stage, Error error) {
  target_.stage = stage;
  while (target_.block.locs_size() > 0) {
    // The namenode has replicas of a complete block made.
    if (stage != OpWriteBlockProto::PIPELINE_CLOSE_RECOVERY) EBB_TRY(Replenish());
    UpdateBlockForPipelineRequestProto request;
    *request.mutable_block() = target_.block.b();
    request.set_clientname(file_.client_name);
    EBB_ASSIGN(const auto answer, namenode_.Ask<UpdateBlockForPipelineResponseProto>(
                                      "updateBlockForPipeline", request));
    target_.new_stamp = answer.block().b().generationstamp();
    *target_.block.mutable_blocktoken() = answer.block().blocktoken();
    auto opened = WritePipeline::Open(target_);
    if (!opened) {
      Lose(opened.error().server);
      error = std::move(opened).error().error;
      // Some servers may have opened their finished replicas already, under the stamp that failed.
      if (target_.stage == OpWriteBlockProto::PIPELINE_SETUP_APPEND) {
        target_.stage = OpWriteBlockProto::PIPELINE_SETUP_APPEND_RECOVERY;
      }
      continue;
    }
    pipeline_ = std::move(opened).value();
    return PublishServers(target_.new_stamp);
  }
  return Fail(ErrorCode::kNetwork,
              fmt::format("all servers of block {} of {} have failed, the last one so: {}",
                          target_.block.b().blockid(), file_.path, error.message));
}

void BlockWriter::Lose(int server) {
  excluded_.push_back(target_.block.locs(server));
  target_.Drop(server);
}

Status BlockWriter::Replenish() {
  const int live = target_.block.locs_size();
  if (!replacement_.Wants(file_.replication, live, visible_)) return {};
  const auto added = AddServer();
  if (added || replacement_.best_effort) return {};
  return Fail(added.error().code,
              fmt::format("block {} of {} has {} servers left of {}, and no other one can be "
                          "added: {}; to go on without one, set "
                          "dfs.client.block.write.replace-datanode-on-failure.best-effort to true",
                          target_.block.b().blockid(), file_.path, live, file_.replication,
                          added.error().message));
}

Status BlockWriter::AddServer() {
  if (target_.acknowledged_bytes > additions_from_) additions_ = 0;
  additions_from_ = target_.acknowledged_bytes;
  if (additions_ == kMostAdditions) {
    return Fail(ErrorCode::kNetwork,
                fmt::format("{} servers were added without progress", additions_));
  }
  ++additions_;
  // Those whose copies have failed are left out of this call only.
  auto excluded = excluded_;
  std::deque<int> sources(static_cast<std::size_t>(target_.block.locs_size()));
  std::iota(sources.begin(), sources.end(), 0);
  Error error{ErrorCode::kNetwork, "no server of the block can copy it"};
  for (int tries = 0; tries < kMostCopies && !sources.empty(); ++tries) {
    EBB_ASSIGN(const auto offer, OneMoreServer(excluded));
    const auto fresh = std::ranges::find_if(
        offer.locs(), [&](const DatanodeInfoProto& server) { return !Has(target_.block, server); });
    if (fresh == offer.locs().end()) {
      return Fail(ErrorCode::kNoSpace, "the namenode names no other server");
    }
    const int added = static_cast<int>(fresh - offer.locs().begin());
    for (bool by_source = true; by_source && !sources.empty();) {
      const int source = sources.front();
      auto copied = CopyToNewServer(target_, source, offer, added);
      if (copied) return {};
      by_source = copied.error().by_source;
      error = std::move(copied).error().error;
      sources.pop_front();
      // The next server gets its copy from another source first.
      if (!by_source) sources.push_back(source);
    }
    excluded.push_back(*fresh);
  }
  return std::unexpected(std::move(error));
}

Result<LocatedBlockProto> BlockWriter::OneMoreServer(
    const std::vector<DatanodeInfoProto>& excluded) {
  GetAdditionalDatanodeRequestProto request;
  request.set_src(file_.path);
  *request.mutable_blk() = target_.block.b();
  *request.mutable_existings() = target_.block.locs();
  *request.mutable_existingstorageuuids() = target_.block.storageids();
  for (const auto& server : excluded) *request.add_excludes() = server;
  request.set_numadditionalnodes(1);
  request.set_clientname(file_.client_name);
  request.set_fileid(file_.file_id);
  EBB_ASSIGN(auto answer, namenode_.Ask<GetAdditionalDatanodeResponseProto>(
                              "getAdditionalDatanode", request));
  return std::move(*answer.mutable_block());
}

Status BlockWriter::PublishServers(std::uint64_t new_stamp) {
  UpdatePipelineRequestProto request;
  request.set_clientname(file_.client_name);
  *request.mutable_oldblock() = target_.block.b();
  target_.block.mutable_b()->set_generationstamp(new_stamp);
  *request.mutable_newblock() = target_.block.b();
  request.mutable_newblock()->set_numbytes(target_.acknowledged_bytes);
  for (const auto& server : target_.block.locs()) *request.add_newnodes() = server.id();
  for (const auto& storage : target_.block.storageids()) request.add_storageids(storage);
  UpdatePipelineResponseProto response;
  return namenode_.Call("updatePipeline", request, response);
}

ExtendedBlockProto BlockWriter::block() const {
  ExtendedBlockProto block = target_.block.b();
  block.set_numbytes(target_.sent_bytes);
  return block;
}

}  // namespace ebb::client
