// A namenode and DataNodes for tests of streams: they hold bytes in memory and fail on order.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ClientNamenodeProtocol.pb.h"
#include "client/write_packet.h"
#include "coding.pb.h"
#include "common/socket.h"
#include "common/socket_reader.h"
#include "common/thread_group.h"
#include "rpc/address.h"
#include "rpc/server.h"
#include "transfer/peer.h"
#include "transfer/wire.h"

namespace ebb::client::testing {

constexpr Timeout kPatience = std::chrono::seconds(20);

// Accepts writes and reads of blocks. Acknowledges for all servers of a pipeline: the packets are
// not forwarded, so that the bytes of a block are those that its first server got. Copies replicas
// to other servers.
class FakeDatanode {
 public:
  FakeDatanode() : listener_(Listener::Listen("127.0.0.1", 0).value()) {
    acceptor_ = std::thread([this] { AcceptLoop(); });
  }
  ~FakeDatanode() {
    listener_.Shutdown();
    acceptor_.join();
  }

  hadoop::hdfs::DatanodeInfoProto info() const {
    hadoop::hdfs::DatanodeInfoProto info;
    auto& id = *info.mutable_id();
    id.set_ipaddr("127.0.0.1");
    id.set_hostname("127.0.0.1");
    id.set_datanodeuuid("server-" + std::to_string(listener_.port()));
    id.set_xferport(listener_.port());
    id.set_infoport(0);
    id.set_ipcport(0);
    return info;
  }

  // The connection ends after so many packets.
  std::atomic<int> packets_until_end = 1'000'000;
  // The acknowledgement of the packet after so many says that server `blamed` is broken, and those
  // of later ones until so many have said so.
  std::atomic<int> packets_until_blame = 1'000'000;
  std::atomic<int> blames = 1;
  std::atomic<int> blamed = 0;
  // New blocks are refused, with this server as the bad link.
  std::string refused_link;
  // Of reads: the bytes of a checksum, the bytes of a packet, which are a multiple of those, and
  // after how many packets the connection ends.
  std::uint32_t chunk_bytes = 512;
  std::size_t read_packet_bytes = std::size_t{1} << 20;
  std::atomic<int> read_packets_until_end = 1'000'000;
  // Connections end at once.
  std::atomic<bool> dead = false;
  std::atomic<bool> damages_reads = false;
  std::atomic<int> reads_to_damage = 0;
  std::atomic<bool> refuses_reads = false;
  // Reads wait before their answer: for so long, or for ever.
  std::atomic<int> read_delay_millis = 0;
  std::atomic<bool> stalls_reads = false;
  // Reads send a packet of so many bytes, and nothing more. A multiple of 512.
  std::atomic<int> bytes_until_stall = 1'000'000'000;
  // Serves record appends, on the thread of their connection. Set before the first connection.
  std::function<Status(Socket&, SocketReader&)> append_records;

  std::string Bytes(std::uint64_t block) {
    const std::lock_guard lock(mutex_);
    return blocks_[block];
  }
  void Put(std::uint64_t block, std::string bytes) {
    const std::lock_guard lock(mutex_);
    blocks_[block] = std::move(bytes);
  }
  void Remove(std::uint64_t block) {
    const std::lock_guard lock(mutex_);
    blocks_.erase(block);
  }
  std::vector<hadoop::hdfs::OpReadBlockProto> TakeReads() {
    const std::lock_guard lock(mutex_);
    return std::exchange(reads_, {});
  }
  std::vector<hadoop::hdfs::OpWriteBlockProto> Writes() {
    const std::lock_guard lock(mutex_);
    return writes_;
  }
  // Copies that were asked for.
  std::vector<hadoop::hdfs::OpTransferBlockProto> Transfers() {
    const std::lock_guard lock(mutex_);
    return transfers_;
  }
  std::vector<hadoop::hdfs::OpReadBlockProto> Reads() {
    const std::lock_guard lock(mutex_);
    return reads_;
  }

 private:
  void AcceptLoop() {
    for (;;) {
      auto socket = listener_.Accept();
      if (!socket) return;
      threads_.Start([this, s = std::make_shared<Socket>(std::move(*socket))] { (void)Serve(*s); });
    }
  }

  Status Serve(Socket& socket) {
    if (dead) return {};
    SocketReader reader(socket);
    EBB_ASSIGN(const auto head, reader.Take(3, kPatience));
    const auto operation = static_cast<transfer::Operation>(head[2]);
    if (operation == transfer::Operation::kReadBlock) return ServeRead(socket, reader);
    if (operation == transfer::Operation::kTransferBlock) return ServeTransfer(socket, reader);
    if (operation == transfer::Operation::kAppendRecords && append_records) {
      return append_records(socket, reader);
    }
    hadoop::hdfs::OpWriteBlockProto op;
    EBB_TRY(transfer::ReadMessage(reader, op, kPatience));
    {
      const std::lock_guard lock(mutex_);
      writes_.push_back(op);
    }
    if (op.stage() == hadoop::hdfs::OpWriteBlockProto::TRANSFER_RBW) {
      return TakeCopy(socket, reader, op);
    }
    hadoop::hdfs::BlockOpResponseProto response;
    response.set_status(refused_link.empty() ? hadoop::hdfs::SUCCESS : hadoop::hdfs::ERROR);
    response.set_firstbadlink(refused_link);
    EBB_TRY(transfer::WriteMessage(socket, response, kPatience));
    if (!refused_link.empty()) return {};
    if (op.stage() == hadoop::hdfs::OpWriteBlockProto::PIPELINE_CLOSE_RECOVERY) return {};
    return ServePackets(socket, reader, op);
  }

  Status ServePackets(Socket& socket, SocketReader& reader,
                      const hadoop::hdfs::OpWriteBlockProto& op) {
    const auto id = op.header().baseheader().block().blockid();
    for (;;) {
      EBB_ASSIGN(const auto packet, transfer::ReadPacket(reader, kPatience));
      if (packets_until_end-- <= 0) {
        socket.Shutdown();
        return {};
      }
      Store(id, packet);
      const bool last = packet.last;
      const int until_blame = packets_until_blame--;
      const bool blaming = until_blame <= 0 && until_blame > -blames;
      hadoop::hdfs::PipelineAckProto ack;
      ack.set_seqno(packet.sequence);
      for (std::uint32_t i = 0; i < op.pipelinesize(); ++i) {
        ack.add_reply(blaming && static_cast<int>(i) == blamed ? hadoop::hdfs::ERROR
                                                              : hadoop::hdfs::SUCCESS);
      }
      EBB_TRY(transfer::WriteMessage(socket, ack, kPatience));
      if (last) return {};
    }
  }

  void Store(std::uint64_t id, const transfer::Packet& packet) {
    const std::lock_guard lock(mutex_);
    auto& bytes = blocks_[id];
    bytes.resize(packet.offset);
    bytes.append(reinterpret_cast<const char*>(packet.data.data()), packet.data.size());
  }

  Status TakeCopy(Socket& socket, SocketReader& reader,
                  const hadoop::hdfs::OpWriteBlockProto& op) {
    for (bool last = false; !last;) {
      EBB_ASSIGN(const auto packet, transfer::ReadPacket(reader, kPatience));
      if (!packet.last) Store(op.header().baseheader().block().blockid(), packet);
      last = packet.last;
    }
    hadoop::hdfs::BlockOpResponseProto response;
    response.set_status(hadoop::hdfs::SUCCESS);
    return transfer::WriteMessage(socket, response, kPatience);
  }

  Status ServeTransfer(Socket& socket, SocketReader& reader) {
    hadoop::hdfs::OpTransferBlockProto op;
    EBB_TRY(transfer::ReadMessage(reader, op, kPatience));
    {
      const std::lock_guard lock(mutex_);
      transfers_.push_back(op);
    }
    const auto copied = SendCopy(op);
    hadoop::hdfs::BlockOpResponseProto response;
    response.set_status(copied ? hadoop::hdfs::SUCCESS : hadoop::hdfs::ERROR);
    return transfer::WriteMessage(socket, response, kPatience);
  }

  Status SendCopy(const hadoop::hdfs::OpTransferBlockProto& op) {
    const auto checksum = transfer::FromProto(Crc()).value();
    hadoop::hdfs::OpWriteBlockProto write;
    *write.mutable_header() = op.header();
    write.set_stage(hadoop::hdfs::OpWriteBlockProto::TRANSFER_RBW);
    write.set_pipelinesize(0);
    write.set_minbytesrcvd(0);
    write.set_maxbytesrcvd(0);
    write.set_latestgenerationstamp(0);
    *write.mutable_requestedchecksum() = Crc();
    EBB_ASSIGN(auto socket, transfer::StartWrite(op.targets(0).id(), write));
    const auto bytes = Bytes(op.header().baseheader().block().blockid());
    WritePacket data(0, bytes.size());
    data.Append(std::as_bytes(std::span(bytes)));
    data.Seal(0, checksum, false, false);
    EBB_TRY(data.Send(socket, kPatience));
    WritePacket end(bytes.size(), 0);
    end.Seal(1, checksum, true, false);
    EBB_TRY(end.Send(socket, kPatience));
    SocketReader reader(socket);
    hadoop::hdfs::BlockOpResponseProto response;
    EBB_TRY(transfer::ReadMessage(reader, response, kPatience));
    return transfer::CheckResponse(response, socket.peer(), 0, "take");
  }

  Status ServeRead(Socket& socket, SocketReader& reader) {
    hadoop::hdfs::OpReadBlockProto op;
    EBB_TRY(transfer::ReadMessage(reader, op, kPatience));
    {
      const std::lock_guard lock(mutex_);
      reads_.push_back(op);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(read_delay_millis));
    // Until the reader goes away.
    if (stalls_reads) (void)reader.Peek(1, kPatience);
    const auto id = op.header().baseheader().block().blockid();
    hadoop::hdfs::BlockOpResponseProto response;
    response.set_status(hadoop::hdfs::SUCCESS);
    std::string bytes;
    {
      const std::lock_guard lock(mutex_);
      if (blocks_.contains(id) && !refuses_reads) {
        bytes = blocks_[id];
      } else {
        response.set_status(hadoop::hdfs::ERROR);
      }
    }
    if (response.status() != hadoop::hdfs::SUCCESS) {
      return transfer::WriteMessage(socket, response, kPatience);
    }
    const auto checksum = transfer::FromProto(Crc()).value();
    *response.mutable_readopchecksuminfo()->mutable_checksum() = Crc();
    const std::uint64_t begin = op.offset() / chunk_bytes * chunk_bytes;
    response.mutable_readopchecksuminfo()->set_chunkoffset(begin);
    std::string out;
    transfer::AppendMessage(out, response);
    std::string all = bytes.substr(begin, op.offset() + op.len() - begin);
    const bool stalls = all.size() > static_cast<std::size_t>(bytes_until_stall);
    if (stalls) all.resize(bytes_until_stall);
    const bool damages = damages_reads || reads_to_damage-- > 0;
    int packets = 0;
    for (std::size_t at = 0; at < all.size(); at += read_packet_bytes) {
      if (packets++ == read_packets_until_end) return transfer::WriteString(socket, out, kPatience);
      std::string data = all.substr(at, read_packet_bytes);
      std::string sums(checksum.BytesFor(data.size()), '\0');
      checksum.ComputeAll(std::as_bytes(std::span(data)),
                          reinterpret_cast<std::byte*>(sums.data()));
      if (damages && at + data.size() == all.size()) data.back() ^= 1;
      transfer::AppendPacketPrefix(out, {.offset = begin + at,
                                         .sequence = packets - 1,
                                         .sums_bytes = sums.size(),
                                         .data_bytes = data.size()});
      out += sums + data;
    }
    if (!stalls) {
      transfer::AppendPacketPrefix(
          out, {.offset = begin + all.size(), .sequence = packets, .last = true});
    }
    EBB_TRY(transfer::WriteString(socket, out, kPatience));
    (void)reader.Peek(1, kPatience);
    return {};
  }

  hadoop::hdfs::ChecksumProto Crc() const {
    hadoop::hdfs::ChecksumProto proto;
    proto.set_type(hadoop::hdfs::CHECKSUM_CRC32C);
    proto.set_bytesperchecksum(chunk_bytes);
    return proto;
  }

  Listener listener_;
  std::thread acceptor_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::string> blocks_;
  std::vector<hadoop::hdfs::OpWriteBlockProto> writes_;
  std::vector<hadoop::hdfs::OpTransferBlockProto> transfers_;
  // Requests of reads, in their order.
  std::vector<hadoop::hdfs::OpReadBlockProto> reads_;
  // The last member: its threads use the others.
  ThreadGroup threads_;
};

// Answers what one file needs, and knows the names of others. Every block is at all servers that
// are not excluded.
class FakeNamenode {
 public:
  explicit FakeNamenode(std::vector<hadoop::hdfs::DatanodeInfoProto> servers)
      : servers_(std::move(servers)), server_(RpcServerOptions{}) {
    using namespace hadoop::hdfs;
    handlers_["create"] = MakeRpcHandler<CreateRequestProto>(
        [this](const RpcCaller&, const auto& request) { return Create(request); });
    On<AppendRequestProto, AppendResponseProto>(
        "append", [this](const auto& request, auto& answer) {
          calls_.push_back("append " + request.src());
          *answer.mutable_block() = located.lastblock();
          *answer.mutable_stat() = FileStatus();
          answer.mutable_stat()->set_length(located.filelength());
        });
    On<RecoverLeaseRequestProto, RecoverLeaseResponseProto>(
        "recoverLease", [this](const auto& request, auto& answer) {
          calls_.push_back("recoverLease " + request.src());
          answer.set_result(true);
        });
    ServeNames();
    ServeAttributes();
    handlers_["addBlock"] = MakeRpcHandler<AddBlockRequestProto>(
        [this](const RpcCaller&, const auto& request) { return AddBlock(request); });
    On<CompleteRequestProto, CompleteResponseProto>(
        "complete", [this](const auto& request, auto& answer) {
          if (request.has_last() && !completed_) finished_.push_back(request.last());
          answer.set_result(++completions_ > incomplete_answers);
          completed_ = true;
        });
    On<AbandonBlockRequestProto, AbandonBlockResponseProto>(
        "abandonBlock", [this](const auto&, auto&) { ++abandoned_; });
    On<FsyncRequestProto, FsyncResponseProto>(
        "fsync", [this](const auto& request, auto&) { synced_ = request.lastblocklength(); });
    On<UpdateBlockForPipelineRequestProto, UpdateBlockForPipelineResponseProto>(
        "updateBlockForPipeline", [this](const auto& request, auto& answer) {
          *answer.mutable_block()->mutable_b() = request.block();
          answer.mutable_block()->mutable_b()->set_generationstamp(++stamp_);
          Fill(*answer.mutable_block());
        });
    On<GetAdditionalDatanodeRequestProto, GetAdditionalDatanodeResponseProto>(
        "getAdditionalDatanode", [this](const auto& request, auto& answer) {
          additions_.push_back(request);
          AddServer(request, *answer.mutable_block());
        });
    On<UpdatePipelineRequestProto, UpdatePipelineResponseProto>(
        "updatePipeline", [this](const auto& request, auto&) { updates_.push_back(request); });
    On<GetBlockLocationsRequestProto, GetBlockLocationsResponseProto>(
        "getBlockLocations", [this](const auto&, auto& answer) {
          *answer.mutable_locations() = located;
          if (next_located.empty()) return;
          located = std::move(next_located.front());
          next_located.pop_front();
        });
    On<ReportBadBlocksRequestProto, ReportBadBlocksResponseProto>(
        "reportBadBlocks", [this](const auto& request, auto&) { bad_ = request; });
  }

  std::vector<RpcAddress> Start() {
    server_.RegisterService("org.apache.hadoop.hdfs.protocol.ClientProtocol", 1, handlers_);
    if (plan) {
      RpcHandlers coding;
      coding["getReadPlan"] = MakeRpcHandler<ebbfs::GetReadPlanRequestProto>(
          [this](const RpcCaller&, const auto& request) { return plan(request); });
      server_.RegisterService("io.ebbfs.protocol.CodingProtocol", 1, std::move(coding));
    }
    EXPECT_TRUE(server_.Start());
    return {{"127.0.0.1", server_.port()}};
  }

  [[nodiscard]] std::uint16_t port() const { return server_.port(); }

  // complete is answered with false so often.
  int incomplete_answers = 0;
  std::uint64_t block_bytes = 1 << 20;
  hadoop::hdfs::LocatedBlocksProto located;
  // What becomes of `located` with each answer.
  std::deque<hadoop::hdfs::LocatedBlocksProto> next_located;
  // The policy by which clients encode all files, if it has an id. All blocks are groups then.
  hadoop::hdfs::ErasureCodingPolicyProto policy;
  // If it is not 0, so many servers get a block.
  int replication = 0;
  // The server at this port gets no block.
  std::uint32_t lost_port = 0;
  // Whether clients encrypt all files.
  bool encrypted = false;
  // Whether each name is a directory.
  std::map<std::string, bool> names = {{"/", true}};
  // Entries in an answer to a listing.
  int most_listed = 1000;
  // Another client makes a file of this name once its status was asked for.
  std::string appears;
  // So many appends find the lease of another client.
  int appends_to_refuse = 0;
  // Calls of these methods end with an exception of this class.
  std::map<std::string, std::string> exceptions;

  // Answers getReadPlan, on threads of the server. Empty: the namenode does not know the call.
  std::function<Result<ebbfs::GetReadPlanResponseProto>(const ebbfs::GetReadPlanRequestProto&)>
      plan;

  // The calls that change names.
  std::vector<std::string> Calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  // The last call that made a file.
  const auto& created() const { return created_; }
  const auto& finished() const { return finished_; }
  // Groups that were allocated, by id, with the server of each block.
  const auto& groups() const { return groups_; }
  const auto& updates() const { return updates_; }
  // Requests for one more server of a block.
  const auto& additions() const { return additions_; }
  const auto& bad() const { return bad_; }
  int abandoned() const { return abandoned_; }
  std::int64_t synced() const { return synced_; }

  void Locate(std::uint64_t id,
              const google::protobuf::RepeatedPtrField<hadoop::hdfs::DatanodeInfoProto>& excluded,
              hadoop::hdfs::LocatedBlockProto& block) {
    block.mutable_b()->set_poolid("BP-1");
    block.mutable_b()->set_blockid(id);
    block.mutable_b()->set_generationstamp(stamp_);
    for (const auto& server : servers_) {
      bool out = server.id().xferport() == lost_port;
      for (const auto& one : excluded) out |= one.id().xferport() == server.id().xferport();
      if (out || (replication > 0 && block.locs_size() == replication)) continue;
      *block.add_locs() = server;
      block.add_storagetypes(hadoop::hdfs::DISK);
      block.add_storageids("storage-" + server.id().datanodeuuid());
    }
    Fill(block);
  }

 private:
  template <typename Request, typename Response>
  void On(const char* method, std::function<void(const Request&, Response&)> run) {
    handlers_[method] = MakeRpcHandler<Request>(
        [this, run, name = std::string(method)](const RpcCaller&,
                                                const Request& request) -> Result<Response> {
          const std::lock_guard lock(mutex_);
          if (const auto at = exceptions.find(name); at != exceptions.end()) {
            return std::unexpected(Error{ErrorCode::kRemote, "as ordered", at->second});
          }
          if (name == "append" && appends_to_refuse-- > 0) {
            return std::unexpected(
                Error{ErrorCode::kRemote, "another client writes it",
                      "org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException"});
          }
          Response response;
          run(request, response);
          return response;
        });
  }

  Result<hadoop::hdfs::CreateResponseProto> Create(
      const hadoop::hdfs::CreateRequestProto& request) {
    const std::lock_guard lock(mutex_);
    constexpr std::uint32_t kOverwrite = 2;
    const bool overwrites = (request.createflag() & kOverwrite) != 0;
    if (names.contains(request.src()) && !overwrites) {
      return std::unexpected(Error{ErrorCode::kRemote, request.src() + " exists",
                                   "org.apache.hadoop.fs.FileAlreadyExistsException"});
    }
    calls_.push_back("create " + request.src());
    created_ = request;
    completed_ = false;
    completions_ = 0;
    names[request.src()] = false;
    hadoop::hdfs::CreateResponseProto answer;
    *answer.mutable_fs() = FileStatus();
    return answer;
  }

  // A group has a server for each of its blocks, as far as there are servers.
  void MakeGroup(hadoop::hdfs::LocatedBlockProto& block) {
    const auto units = policy.schema().dataunits() + policy.schema().parityunits();
    block.mutable_b()->set_blockid(block.b().blockid() / 16 * 16);
    const int most = std::min<int>(static_cast<int>(units), block.locs_size());
    block.mutable_locs()->DeleteSubrange(most, block.locs_size() - most);
    block.mutable_storageids()->DeleteSubrange(most, block.storageids_size() - most);
    block.mutable_storagetypes()->Truncate(most);
    std::string indices;
    for (int i = 0; i < most; ++i) {
      indices.push_back(static_cast<char>(i));
      *block.add_blocktokens() = block.blocktoken();
    }
    block.set_blockindices(indices);
    groups_[block.b().blockid()] = block;
  }

  Result<hadoop::hdfs::AddBlockResponseProto> AddBlock(
      const hadoop::hdfs::AddBlockRequestProto& request) {
    const std::lock_guard lock(mutex_);
    const bool group = policy.id() != 0;
    hadoop::hdfs::AddBlockResponseProto answer;
    auto& block = *answer.mutable_block();
    Locate(last_block_ + (group ? 16 : 1), request.excludenodes(), block);
    if (group && block.locs_size() < static_cast<int>(policy.schema().dataunits())) {
      return std::unexpected(
          Error{ErrorCode::kRemote, "too few servers for a group", "java.io.IOException"});
    }
    last_block_ = block.b().blockid();
    if (request.has_previous()) finished_.push_back(request.previous());
    if (group) MakeGroup(block);
    return answer;
  }

  // The servers that the block has, and another one if there is one.
  void AddServer(const hadoop::hdfs::GetAdditionalDatanodeRequestProto& request,
                 hadoop::hdfs::LocatedBlockProto& block) {
    *block.mutable_b() = request.blk();
    Fill(block);
    auto out = request.excludes();
    for (int i = 0; i < request.existings_size(); ++i) {
      *block.add_locs() = request.existings(i);
      block.add_storagetypes(hadoop::hdfs::DISK);
      block.add_storageids(request.existingstorageuuids(i));
      *out.Add() = request.existings(i);
    }
    for (const auto& server : servers_) {
      const auto is_server = [&](const auto& one) {
        return one.id().xferport() == server.id().xferport();
      };
      if (std::ranges::any_of(out, is_server)) continue;
      *block.add_locs() = server;
      block.add_storagetypes(hadoop::hdfs::DISK);
      block.add_storageids("storage-" + server.id().datanodeuuid());
      return;
    }
  }

  static void Fill(hadoop::hdfs::LocatedBlockProto& block) {
    block.set_offset(0);
    block.set_corrupt(false);
    auto& token = *block.mutable_blocktoken();
    token.set_identifier("");
    token.set_password("");
    token.set_kind("");
    token.set_service("");
  }

  void ServeNames() {
    using namespace hadoop::hdfs;
    On<GetFileInfoRequestProto, GetFileInfoResponseProto>(
        "getFileInfo", [this](const auto& request, auto& answer) {
          const auto at = names.find(request.src());
          if (at != names.end()) *answer.mutable_fs() = StatusOf(at->second, "");
          if (request.src() == appears) names[appears] = false;
        });
    On<GetListingRequestProto, GetListingResponseProto>(
        "getListing", [this](const auto& request, auto& answer) {
          const std::string directory = request.src() == "/" ? "/" : request.src() + "/";
          auto& list = *answer.mutable_dirlist();
          list.set_remainingentries(0);
          for (const auto& [name, is_directory] : names) {
            if (name.size() <= directory.size() || !name.starts_with(directory)) continue;
            const auto rest = name.substr(directory.size());
            if (rest.contains('/') || rest <= request.startafter()) continue;
            if (list.partiallisting_size() < most_listed) {
              *list.add_partiallisting() = StatusOf(is_directory, rest);
            } else {
              list.set_remainingentries(list.remainingentries() + 1);
            }
          }
        });
    On<MkdirsRequestProto, MkdirsResponseProto>("mkdirs",
                                                [this](const auto& request, auto& answer) {
                                                  names[request.src()] = true;
                                                  answer.set_result(true);
                                                });
    On<DeleteRequestProto, DeleteResponseProto>("delete",
                                                [this](const auto& request, auto& answer) {
                                                  calls_.push_back("delete " + request.src());
                                                  answer.set_result(names.erase(request.src()) > 0);
                                                });
    On<RenameRequestProto, RenameResponseProto>(
        "rename", [this](const auto& request, auto& answer) {
          calls_.push_back("rename " + request.src() + " " + request.dst());
          answer.set_result(true);
        });
    On<Rename2RequestProto, Rename2ResponseProto>("rename2", [this](const auto& request, auto&) {
      calls_.push_back("rename2 " + request.src() + " " + request.dst() +
                       (request.overwritedest() ? " overwrite" : ""));
    });
  }

  void ServeAttributes() {
    using namespace hadoop::hdfs;
    On<SetPermissionRequestProto, SetPermissionResponseProto>(
        "setPermission", [this](const auto& request, auto&) {
          calls_.push_back(
              fmt::format("setPermission {} {:o}", request.src(), request.permission().perm()));
        });
    On<SetOwnerRequestProto, SetOwnerResponseProto>("setOwner", [this](const auto& request, auto&) {
      calls_.push_back(fmt::format("setOwner {} {}:{}", request.src(), request.username(),
                                   request.groupname()));
    });
    On<SetTimesRequestProto, SetTimesResponseProto>("setTimes", [this](const auto& request, auto&) {
      calls_.push_back(fmt::format("setTimes {} {} {}", request.src(),
                                   static_cast<std::int64_t>(request.mtime()),
                                   static_cast<std::int64_t>(request.atime())));
    });
    On<SetReplicationRequestProto, SetReplicationResponseProto>(
        "setReplication", [this](const auto& request, auto& answer) {
          calls_.push_back(
              fmt::format("setReplication {} {}", request.src(), request.replication()));
          answer.set_result(names.contains(request.src()));
        });
    On<TruncateRequestProto, TruncateResponseProto>(
        "truncate", [this](const auto& request, auto& answer) {
          calls_.push_back(fmt::format("truncate {} {}", request.src(), request.newlength()));
          answer.set_result(request.newlength() == 0);
        });
    On<GetFsStatusRequestProto, GetFsStatsResponseProto>(
        "getFsStats", [](const auto&, auto& answer) {
          answer.set_capacity(1000);
          answer.set_used(10);
          answer.set_remaining(990);
          answer.set_under_replicated(0);
          answer.set_corrupt_blocks(0);
          answer.set_missing_blocks(0);
        });
  }

  hadoop::hdfs::HdfsFileStatusProto StatusOf(bool directory, const std::string& name) const {
    auto status = FileStatus();
    status.set_path(name);
    if (directory) status.set_filetype(hadoop::hdfs::HdfsFileStatusProto::IS_DIR);
    return status;
  }

  hadoop::hdfs::HdfsFileStatusProto FileStatus() const {
    hadoop::hdfs::HdfsFileStatusProto status;
    if (policy.id() != 0) *status.mutable_ecpolicy() = policy;
    if (encrypted) {
      auto& encryption = *status.mutable_fileencryptioninfo();
      encryption.set_suite(hadoop::hdfs::AES_CTR_NOPADDING);
      encryption.set_cryptoprotocolversion(hadoop::hdfs::ENCRYPTION_ZONES);
      encryption.set_key("key");
      encryption.set_iv("iv");
      encryption.set_keyname("name");
      encryption.set_ezkeyversionname("version");
    }
    status.set_filetype(hadoop::hdfs::HdfsFileStatusProto::IS_FILE);
    status.set_path("");
    status.set_length(located.filelength());
    status.mutable_permission()->set_perm(0644);
    status.set_owner("o");
    status.set_group("g");
    status.set_modification_time(1);
    status.set_access_time(1);
    status.set_blocksize(block_bytes);
    status.set_block_replication(replication);
    status.set_fileid(17);
    return status;
  }

  const std::vector<hadoop::hdfs::DatanodeInfoProto> servers_;
  RpcHandlers handlers_;
  std::mutex mutex_;
  std::uint64_t last_block_ = 100;
  std::map<std::uint64_t, hadoop::hdfs::LocatedBlockProto> groups_;
  std::uint64_t stamp_ = 1000;
  int completions_ = 0;
  bool completed_ = false;
  int abandoned_ = 0;
  std::int64_t synced_ = -1;
  std::vector<std::string> calls_;
  hadoop::hdfs::CreateRequestProto created_;
  std::vector<hadoop::hdfs::ExtendedBlockProto> finished_;
  std::vector<hadoop::hdfs::UpdatePipelineRequestProto> updates_;
  std::vector<hadoop::hdfs::GetAdditionalDatanodeRequestProto> additions_;
  hadoop::hdfs::ReportBadBlocksRequestProto bad_;
  // The last member: its threads use the others.
  RpcServer server_;
};

}  // namespace ebb::client::testing
