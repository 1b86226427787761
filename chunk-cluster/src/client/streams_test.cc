// Streams over a namenode and DataNodes that fail on order.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <random>
#include <thread>

#include "ClientDatanodeProtocol.pb.h"
#include "client/fake_cluster.h"
#include "client/file_system.h"

namespace ebb::client {
namespace {

using testing::FakeDatanode;
using testing::FakeNamenode;

std::string RandomText(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(size, '\0');
  for (auto& c : text) c = static_cast<char>(random());
  return text;
}

class StreamsTest : public ::testing::Test {
 protected:
  void SetUp() override { MakeServers(3); }

  void MakeServers(std::size_t count) {
    std::vector<hadoop::hdfs::DatanodeInfoProto> infos;
    for (std::size_t i = 0; i < count; ++i) {
      nodes_.push_back(std::make_unique<FakeDatanode>());
      infos.push_back(nodes_.back()->info());
    }
    namenode_ = std::make_unique<FakeNamenode>(infos);
  }

  void Open() {
    const auto address = namenode_->Start()[0];
    configuration_.Set("dfs.client-write-packet-size", "4096");
    auto opened = FileSystem::Open(configuration_, address.Text());
    ASSERT_TRUE(opened) << opened.error().message;
    files_ = std::move(*opened);
  }

  std::unique_ptr<OutputStream> Create() {
    auto stream = files_->Create("/f", {});
    EXPECT_TRUE(stream) << stream.error().message;
    return std::move(*stream);
  }

  static void Write(OutputStream& stream, const std::string& text) {
    // In pieces that align with neither chunks nor packets.
    for (std::size_t at = 0; at < text.size(); at += 1009) {
      const auto piece = std::string_view(text).substr(at, 1009);
      const auto written = stream.Write(std::as_bytes(std::span(piece)));
      ASSERT_TRUE(written) << written.error().message;
    }
  }

  void WriteAndClose(const std::string& text) {
    const auto stream = Create();
    Write(*stream, text);
    const auto closed = stream->Close();
    ASSERT_TRUE(closed) << closed.error().message;
  }

  std::vector<std::unique_ptr<FakeDatanode>> nodes_;
  std::unique_ptr<FakeNamenode> namenode_;
  Configuration configuration_;
  std::unique_ptr<FileSystem> files_;
};

class UnusedAuthenticator final : public Authenticator {
 public:
  Result<std::unique_ptr<SaslExchange>> Begin(const SaslOffer& /*offer*/,
                                              const std::string& /*server*/) override {
    return nullptr;
  }
};

TEST_F(StreamsTest, AClusterThatWantsProofNeedsAnAuthenticator) {
  const auto address = namenode_->Start()[0].Text();
  configuration_.Set("hadoop.security.authentication", "kerberos");
  const auto refused = FileSystem::Open(configuration_, address);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(refused.error().message.contains("brings no authenticator"));
  const auto authenticator = std::make_shared<UnusedAuthenticator>();
  // This namenode knows nobody but those who tell their names.
  for (const char* allowed : {"false", "true"}) {
    configuration_.Set("ipc.client.fallback-to-simple-auth-allowed", allowed);
    auto files = FileSystem::Open(configuration_, address, "alice", authenticator);
    ASSERT_TRUE(files) << files.error().message;
    const auto status = (*files)->Stat("/");
    EXPECT_EQ(status.has_value(), std::string(allowed) == "true");
    if (!status) {
      EXPECT_EQ(status.error().code, ErrorCode::kUnsupported) << status.error().message;
    }
  }
}

TEST_F(StreamsTest, BlocksHaveTheLengthThatWasWritten) {
  namenode_->block_bytes = 10'240;
  namenode_->incomplete_answers = 3;
  Open();
  const auto text = RandomText(25'000, 1);
  WriteAndClose(text);
  ASSERT_EQ(namenode_->finished().size(), 3U);
  EXPECT_EQ(namenode_->finished()[0].numbytes(), 10'240U);
  EXPECT_EQ(namenode_->finished()[2].numbytes(), 25'000U - 2 * 10'240U);
  EXPECT_EQ(nodes_[0]->Bytes(101) + nodes_[0]->Bytes(102) + nodes_[0]->Bytes(103), text);
  EXPECT_TRUE(namenode_->updates().empty());
}

TEST_F(StreamsTest, AFileWithoutBytesHasNoBlock) {
  Open();
  WriteAndClose("");
  EXPECT_TRUE(namenode_->finished().empty());
  EXPECT_TRUE(nodes_[0]->Writes().empty());
}

TEST_F(StreamsTest, TheBlockGoesOnWithoutTheServerThatIsBlamed) {
  Open();
  nodes_[0]->packets_until_blame = 3;
  nodes_[0]->blamed = 1;
  const auto text = RandomText(60'000, 2);
  WriteAndClose(text);
  ASSERT_EQ(namenode_->updates().size(), 1U);
  const auto& update = namenode_->updates()[0];
  ASSERT_EQ(update.newnodes_size(), 2);
  EXPECT_EQ(update.newnodes(0).xferport(), nodes_[0]->info().id().xferport());
  EXPECT_EQ(update.newnodes(1).xferport(), nodes_[2]->info().id().xferport());
  EXPECT_EQ(nodes_[0]->Bytes(101), text);
}

TEST_F(StreamsTest, TheNextServerTakesOverFromOneThatEndsTheConnection) {
  Open();
  nodes_[0]->packets_until_end = 5;
  const auto text = RandomText(60'000, 3);
  WriteAndClose(text);
  ASSERT_EQ(namenode_->updates().size(), 1U);
  const auto& update = namenode_->updates()[0];
  EXPECT_EQ(update.newnodes_size(), 2);
  EXPECT_EQ(update.newnodes(0).xferport(), nodes_[1]->info().id().xferport());
  EXPECT_EQ(update.storageids_size(), 2);
  EXPECT_GT(update.newblock().generationstamp(), update.oldblock().generationstamp());
  const auto write = nodes_[1]->Writes().at(0);
  EXPECT_EQ(write.stage(), hadoop::hdfs::OpWriteBlockProto::PIPELINE_SETUP_STREAMING_RECOVERY);
  EXPECT_LE(write.minbytesrcvd(), 5U * 4096);
  EXPECT_EQ(write.latestgenerationstamp(), update.newblock().generationstamp());
  // The second server holds what came after the bytes that the first one had acknowledged.
  const auto held = nodes_[1]->Bytes(101);
  EXPECT_EQ(held.size(), text.size());
  EXPECT_EQ(held.substr(write.minbytesrcvd()), text.substr(write.minbytesrcvd()));
  EXPECT_EQ(namenode_->finished().at(0).numbytes(), text.size());
}

TEST_F(StreamsTest, ABlockOfWhichOnlyTheEndIsMissingIsClosedByTheOthers) {
  Open();
  // Two packets of data; the connection ends at the empty packet.
  nodes_[0]->packets_until_end = 2;
  WriteAndClose(RandomText(2 * 4096 - 300, 4));
  const auto write = nodes_[1]->Writes().at(0);
  EXPECT_EQ(write.stage(), hadoop::hdfs::OpWriteBlockProto::PIPELINE_CLOSE_RECOVERY);
  EXPECT_EQ(write.minbytesrcvd(), 2U * 4096 - 300);
}

TEST_F(StreamsTest, AWriteFailsWhenAllServersHaveFailed) {
  Open();
  for (auto& node : nodes_) node->packets_until_end = 1;
  const auto stream = Create();
  Write(*stream, RandomText(3 * 4096, 5));
  const auto closed = stream->Close();
  ASSERT_FALSE(closed);
  EXPECT_NE(closed.error().message.find("all servers"), std::string::npos);
  const auto again = stream->Write(std::as_bytes(std::span("x")));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, closed.error().message);
}

TEST_F(StreamsTest, ABlockThatCannotBeOpenedIsAbandonedAndItsBadServerExcluded) {
  nodes_[0]->refused_link = "127.0.0.1:" + std::to_string(nodes_[0]->info().id().xferport());
  Open();
  const auto text = RandomText(5000, 6);
  WriteAndClose(text);
  EXPECT_EQ(namenode_->abandoned(), 1);
  EXPECT_EQ(nodes_[1]->Bytes(102), text);
}

TEST_F(StreamsTest, AFlushSendsWhatIsThereAndTheNextPacketEndsTheChunk) {
  Open();
  const auto text = RandomText(5000, 7);
  const auto stream = Create();
  Write(*stream, text.substr(0, 700));
  ASSERT_TRUE(stream->Flush());
  EXPECT_EQ(nodes_[0]->Bytes(101), text.substr(0, 700));
  EXPECT_EQ(namenode_->synced(), 700);
  Write(*stream, text.substr(700));
  ASSERT_TRUE(stream->Sync());
  EXPECT_EQ(nodes_[0]->Bytes(101), text);
  ASSERT_TRUE(stream->Close());
}

TEST_F(StreamsTest, AnAppendGoesOnWhenAServerCannotBeOpened) {
  auto& block = *namenode_->located.mutable_lastblock();
  namenode_->Locate(7, {}, block);
  block.mutable_b()->set_numbytes(700);
  namenode_->located.set_filelength(700);
  // Says so each time, until it is blamed itself.
  nodes_[0]->refused_link = "127.0.0.1:" + std::to_string(nodes_[1]->info().id().xferport());
  const auto text = RandomText(900, 9);
  for (auto& node : nodes_) node->Put(7, text.substr(0, 700));
  Open();
  auto stream = files_->Append("/f");
  ASSERT_TRUE(stream) << stream.error().message;
  Write(**stream, text.substr(700));
  ASSERT_TRUE((*stream)->Close());
  using Op = hadoop::hdfs::OpWriteBlockProto;
  ASSERT_EQ(nodes_[0]->Writes().size(), 2U);
  EXPECT_EQ(nodes_[0]->Writes()[0].stage(), Op::PIPELINE_SETUP_APPEND);
  // A server that has opened its replica for the first attempt accepts no second append.
  EXPECT_EQ(nodes_[0]->Writes()[1].stage(), Op::PIPELINE_SETUP_APPEND_RECOVERY);
  EXPECT_EQ(nodes_[2]->Writes().at(0).stage(), Op::PIPELINE_SETUP_APPEND_RECOVERY);
  EXPECT_EQ(nodes_[2]->Bytes(7), text);
}

TEST_F(StreamsTest, AFileThatClientsEncryptCanBeEmptyOnly) {
  namenode_->encrypted = true;
  Open();
  WriteAndClose("");
  namenode_->names.erase("/f");
  const auto stream = Create();
  ASSERT_TRUE(stream->Write(std::as_bytes(std::span("x", 1))));
  const auto closed = stream->Close();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, ErrorCode::kUnsupported);
  namenode_->names["/f"] = false;
  EXPECT_FALSE(files_->Append("/f"));
  EXPECT_EQ(namenode_->Calls(), (std::vector<std::string>{"create /f", "create /f"}));
}

// Blocks have three replicas, and there are more servers. The first server blames another one when
// it is told to, and has the bytes itself.
class ReplacementTest : public StreamsTest {
 protected:
  static constexpr char kKey[] = "dfs.client.block.write.replace-datanode-on-failure.";

  void SetUp() override {
    MakeServers(5);
    namenode_->replication = 3;
  }

  void Set(const std::string& name, const std::string& value) {
    configuration_.Set(kKey + name, value);
  }

  // The first server blames the server of this index in the pipeline at its next packet.
  void BlameNext(int server) {
    nodes_[0]->blamed = server;
    nodes_[0]->packets_until_blame = 0;
  }

  // The servers of the last pipeline that the namenode was told of.
  std::vector<std::size_t> Servers() {
    std::vector<std::size_t> servers;
    if (namenode_->updates().empty()) return servers;
    for (const auto& id : namenode_->updates().back().newnodes()) {
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (nodes_[i]->info().id().xferport() == id.xferport()) servers.push_back(i);
      }
    }
    return servers;
  }
  using List = std::vector<std::size_t>;
};

TEST_F(ReplacementTest, ThePolicyIsThatOfHdfs) {
  using Rule = ReplacementPolicy::Rule;
  const ReplacementPolicy usual;
  EXPECT_FALSE(usual.Wants(3, 2, false));
  EXPECT_TRUE(usual.Wants(3, 2, true));
  EXPECT_TRUE(usual.Wants(3, 1, false));
  EXPECT_TRUE(usual.Wants(4, 2, false));
  EXPECT_FALSE(usual.Wants(5, 3, false));
  EXPECT_FALSE(usual.Wants(3, 3, true));
  EXPECT_FALSE(usual.Wants(2, 1, true));
  EXPECT_FALSE(usual.Wants(3, 0, true));
  EXPECT_TRUE((ReplacementPolicy{Rule::kAlways}.Wants(2, 1, false)));
  EXPECT_FALSE((ReplacementPolicy{Rule::kAlways}.Wants(2, 2, true)));
  EXPECT_FALSE((ReplacementPolicy{Rule::kNever}.Wants(3, 1, true)));
}

TEST_F(ReplacementTest, TheKeysAreThoseOfHdfs) {
  EXPECT_EQ(ReplacementPolicyOf(configuration_)->rule, ReplacementPolicy::Rule::kDefault);
  EXPECT_FALSE(ReplacementPolicyOf(configuration_)->best_effort);
  Set("best-effort", "true");
  Set("policy", "always");
  EXPECT_EQ(ReplacementPolicyOf(configuration_)->rule, ReplacementPolicy::Rule::kAlways);
  EXPECT_TRUE(ReplacementPolicyOf(configuration_)->best_effort);
  Set("enable", "false");
  EXPECT_EQ(ReplacementPolicyOf(configuration_)->rule, ReplacementPolicy::Rule::kNever);
  Set("policy", "SOMETIMES");
  const auto unknown = ReplacementPolicyOf(configuration_);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("SOMETIMES"), std::string::npos);
}

TEST_F(ReplacementTest, AFlushedBlockGetsAnotherServerWithItsBytes) {
  Open();
  const auto text = RandomText(60'000, 20);
  const auto stream = Create();
  Write(*stream, text.substr(0, 20'000));
  ASSERT_TRUE(stream->Flush());
  BlameNext(1);
  Write(*stream, text.substr(20'000));
  ASSERT_TRUE(stream->Close());
  EXPECT_EQ(Servers(), (List{0, 2, 3}));
  ASSERT_EQ(nodes_[0]->Transfers().size(), 1U);
  const auto copy = nodes_[0]->Transfers()[0];
  EXPECT_EQ(copy.header().baseheader().block().blockid(), 101U);
  EXPECT_EQ(copy.targetstorageids(0), "storage-" + nodes_[3]->info().id().datanodeuuid());
  // The server that failed is not asked for again.
  ASSERT_EQ(namenode_->additions().size(), 1U);
  EXPECT_EQ(namenode_->additions()[0].excludes(0).id().xferport(),
            nodes_[1]->info().id().xferport());
  // The new server has what was acknowledged, at least, before the pipeline begins.
  const auto held = nodes_[3]->Bytes(101);
  EXPECT_GE(held.size(), 20'000U);
  EXPECT_EQ(held, text.substr(0, held.size()));
  const auto write = nodes_[0]->Writes().back();
  EXPECT_EQ(write.stage(), hadoop::hdfs::OpWriteBlockProto::PIPELINE_SETUP_STREAMING_RECOVERY);
  EXPECT_LE(write.minbytesrcvd(), held.size());
  ASSERT_EQ(write.targets_size(), 2);
  EXPECT_EQ(write.targets(1).id().xferport(), nodes_[3]->info().id().xferport());
  EXPECT_EQ(nodes_[0]->Bytes(101), text);
}

TEST_F(ReplacementTest, ABlockThatWasNotFlushedGetsOneForTheSecondFailure) {
  Open();
  const auto text = RandomText(1'000'000, 21);
  const auto stream = Create();
  BlameNext(1);
  std::size_t at = 0;
  for (; namenode_->updates().empty() && at + 5000 < text.size(); at += 5000) {
    Write(*stream, text.substr(at, 5000));
    // The failure is seen by a packet after the acknowledgement that tells of it.
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(Servers(), (List{0, 2}));
  EXPECT_TRUE(namenode_->additions().empty());
  BlameNext(1);
  Write(*stream, text.substr(at));
  ASSERT_TRUE(stream->Close());
  EXPECT_EQ(Servers(), (List{0, 3}));
  EXPECT_EQ(nodes_[0]->Bytes(101), text);
}

TEST_F(ReplacementTest, ServersThatCannotTakeTheCopyAreNotAdded) {
  Open();
  nodes_[3]->dead = true;
  const auto text = RandomText(60'000, 22);
  const auto stream = Create();
  Write(*stream, text.substr(0, 20'000));
  ASSERT_TRUE(stream->Flush());
  BlameNext(1);
  Write(*stream, text.substr(20'000));
  ASSERT_TRUE(stream->Close());
  EXPECT_EQ(Servers(), (List{0, 2, 4}));
  // Another server copies, since the first one may be at fault.
  EXPECT_EQ(nodes_[0]->Transfers().size(), 1U);
  EXPECT_EQ(nodes_[2]->Transfers().size(), 1U);
  EXPECT_EQ(nodes_[0]->Bytes(101), text);
}

// The first two servers die together, so that the first source of a copy is dead.
TEST_F(ReplacementTest, ADeadSourceDoesNotUseUpTheOtherServers) {
  for (const std::size_t spare : {1, 2}) {
    SCOPED_TRACE(spare);
    files_.reset();
    nodes_.clear();
    MakeServers(3 + spare);
    namenode_->replication = 3;
    Set("best-effort", spare < 2 ? "true" : "false");
    Open();
    const auto text = RandomText(60'000, 27);
    const auto stream = Create();
    Write(*stream, text.substr(0, 20'000));
    ASSERT_TRUE(stream->Flush());
    // The bytes of the fake cluster are at the first server only.
    nodes_[2]->Put(101, text.substr(0, 20'000));
    nodes_[0]->packets_until_end = 0;
    for (const int i : {0, 1}) nodes_[i]->dead = true;
    Write(*stream, text.substr(20'000));
    const auto closed = stream->Close();
    ASSERT_TRUE(closed) << closed.error().message;
    EXPECT_EQ(Servers(), spare < 2 ? (List{2, 3}) : (List{2, 3, 4}));
    EXPECT_EQ(nodes_[2]->Bytes(101), text);
  }
}

TEST_F(ReplacementTest, ANewServerThatFailsIsReplacedToo) {
  Open();
  const auto text = RandomText(60'000, 23);
  const auto stream = Create();
  Write(*stream, text.substr(0, 20'000));
  ASSERT_TRUE(stream->Flush());
  BlameNext(1);
  Write(*stream, text.substr(20'000, 20'000));
  ASSERT_TRUE(stream->Flush());
  EXPECT_EQ(Servers(), (List{0, 2, 3}));
  BlameNext(2);
  Write(*stream, text.substr(40'000));
  ASSERT_TRUE(stream->Close());
  EXPECT_EQ(Servers(), (List{0, 2, 4}));
  const auto held = nodes_[4]->Bytes(101);
  EXPECT_GE(held.size(), 40'000U);
  EXPECT_EQ(held, text.substr(0, held.size()));
  EXPECT_EQ(nodes_[0]->Bytes(101), text);
}

TEST_F(ReplacementTest, WithoutAnotherServerTheWriteFailsUnlessItMayGoOn) {
  for (const bool refuses : {false, true}) {
    for (const bool best_effort : {false, true}) {
      files_.reset();
      nodes_.clear();
      MakeServers(refuses ? 5 : 3);
      namenode_->replication = 3;
      if (refuses) namenode_->exceptions["getAdditionalDatanode"] = "java.io.IOException";
      Set("best-effort", best_effort ? "true" : "false");
      Open();
      const auto text = RandomText(60'000, 24);
      const auto stream = Create();
      Write(*stream, text.substr(0, 20'000));
      ASSERT_TRUE(stream->Flush());
      BlameNext(1);
      auto status = stream->Write(std::as_bytes(std::span(text).subspan(20'000)));
      if (status) status = stream->Close();
      EXPECT_EQ(status.has_value(), best_effort) << refuses;
      if (best_effort) {
        EXPECT_EQ(Servers(), (List{0, 2}));
        EXPECT_EQ(nodes_[0]->Bytes(101), text);
      } else {
        EXPECT_NE(status.error().message.find("best-effort"), std::string::npos);
      }
    }
  }
}

TEST_F(ReplacementTest, APacketThatNoServerTakesDoesNotGoThroughTheCluster) {
  nodes_.clear();
  MakeServers(12);
  namenode_->replication = 3;
  Set("policy", "ALWAYS");
  Open();
  const auto stream = Create();
  nodes_[0]->blames = 1000;
  BlameNext(1);
  Write(*stream, RandomText(4096, 25));
  const auto closed = stream->Close();
  ASSERT_FALSE(closed);
  EXPECT_NE(closed.error().message.find("without progress"), std::string::npos)
      << closed.error().message;
  EXPECT_EQ(namenode_->additions().size(), 5U);
}

TEST_F(ReplacementTest, AnAppendGetsTheServersThatAreMissing) {
  auto& block = *namenode_->located.mutable_lastblock();
  namenode_->replication = 2;
  namenode_->Locate(7, {}, block);
  namenode_->replication = 3;
  block.mutable_b()->set_numbytes(700);
  namenode_->located.set_filelength(700);
  const auto text = RandomText(900, 26);
  for (const int i : {0, 1}) nodes_[i]->Put(7, text.substr(0, 700));
  Open();
  auto stream = files_->Append("/f");
  ASSERT_TRUE(stream) << stream.error().message;
  EXPECT_EQ(Servers(), (List{0, 1, 2}));
  EXPECT_EQ(nodes_[2]->Bytes(7), text.substr(0, 700));
  Write(**stream, text.substr(700));
  ASSERT_TRUE((*stream)->Close());
  EXPECT_EQ(nodes_[0]->Bytes(7), text);
}

TEST_F(StreamsTest, ADirectoryIsListedInBatches) {
  for (const char* name : {"/d/a", "/d/b", "/d/c", "/d/d", "/d/e"}) namenode_->names[name] = false;
  namenode_->most_listed = 2;
  Open();
  const auto batch = files_->ListAfter("/d", "b");
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->entries.size(), 2U);
  EXPECT_EQ(batch->entries[0].name, "c");
  EXPECT_TRUE(batch->more);
  EXPECT_FALSE(files_->ListAfter("/d", "d")->more);
  EXPECT_TRUE(files_->ListAfter("/d", "e")->entries.empty());
  std::string all;
  int batches = 0;
  ASSERT_TRUE(files_->List("/d", [&](std::vector<FileStatus>& entries) {
    ++batches;
    for (const auto& entry : entries) all += entry.name;
    return true;
  }));
  EXPECT_EQ(all, "abcde");
  EXPECT_EQ(batches, 3);
}

class ReadTest : public StreamsTest {
 protected:
  void SetUp() override {
    StreamsTest::SetUp();
    text_ = RandomText(3000, 8);
    auto& block = *namenode_->located.add_blocks();
    namenode_->Locate(7, {}, block);
    block.mutable_b()->set_numbytes(text_.size());
    namenode_->located.set_filelength(text_.size());
    namenode_->located.set_underconstruction(false);
    namenode_->located.set_islastblockcomplete(true);
    for (auto& node : nodes_) node->Put(7, text_);
    Open();
  }

  std::string Read() {
    auto in = files_->OpenFile("/f");
    EXPECT_TRUE(in) << in.error().message;
    std::string out(text_.size(), '\0');
    const auto read = (*in)->Read(std::as_writable_bytes(std::span(out)));
    EXPECT_TRUE(read) << read.error().message;
    return out;
  }

  // A file of one block.
  hadoop::hdfs::LocatedBlocksProto Located(std::uint64_t id, std::uint64_t offset) {
    hadoop::hdfs::LocatedBlocksProto located;
    auto& block = *located.add_blocks();
    namenode_->Locate(id, {}, block);
    block.set_offset(offset);
    block.mutable_b()->set_numbytes(text_.size());
    located.set_filelength(offset + text_.size());
    located.set_underconstruction(false);
    located.set_islastblockcomplete(true);
    return located;
  }

  // A service of all DataNodes, which tells this length of a block, or, without one, that there is
  // no such replica.
  void TellVisibleLength(std::optional<std::uint64_t> length) {
    using namespace hadoop::hdfs;
    RpcHandlers handlers;
    handlers["getReplicaVisibleLength"] = MakeRpcHandler<GetReplicaVisibleLengthRequestProto>(
        [length](const RpcCaller&, const auto&) -> Result<GetReplicaVisibleLengthResponseProto> {
          if (!length) {
            return std::unexpected(
                Error{ErrorCode::kNotFound, "no replica",
                      "org.apache.hadoop.hdfs.server.datanode.ReplicaNotFoundException"});
          }
          GetReplicaVisibleLengthResponseProto answer;
          answer.set_length(*length);
          return answer;
        });
    service_ = std::make_unique<RpcServer>(RpcServerOptions{});
    service_->RegisterService("org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol", 1,
                              handlers);
    ASSERT_TRUE(service_->Start());
  }

  // The block is being written, and the namenode knows no byte of it.
  hadoop::hdfs::LocatedBlocksProto Unfinished(std::uint64_t id) {
    auto located = Located(id, 0);
    auto& block = *located.mutable_blocks(0);
    block.mutable_b()->set_numbytes(0);
    for (auto& server : *block.mutable_locs()) {
      server.mutable_id()->set_ipcport(service_ ? service_->port() : 0);
    }
    *located.mutable_lastblock() = block;
    located.set_filelength(0);
    located.set_underconstruction(true);
    located.set_islastblockcomplete(false);
    return located;
  }

  std::string text_;
  std::unique_ptr<RpcServer> service_;
};

TEST_F(ReadTest, BlocksThatAreAskedForLaterAreThoseOfTheSameFile) {
  const auto more = RandomText(text_.size(), 10);
  for (auto& node : nodes_) node->Put(9, more);
  namenode_->located.set_filelength(2 * text_.size());
  namenode_->next_located = {Located(9, text_.size()), Located(7, 0)};
  auto in = files_->OpenFile("/f");
  ASSERT_TRUE(in);
  std::string out(2 * text_.size(), '\0');
  const auto read = (*in)->Read(std::as_writable_bytes(std::span(out)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(out, text_ + more);
}

TEST_F(ReadTest, AFileThatReplacesAnotherDoesNotEndIt) {
  for (auto& node : nodes_) node->Put(9, text_);
  namenode_->located.set_filelength(2 * text_.size());
  namenode_->next_located = {Located(9, text_.size()), Located(8, 0)};
  auto in = files_->OpenFile("/f");
  ASSERT_TRUE(in);
  std::string out(2 * text_.size(), '\0');
  const auto read = (*in)->Read(std::as_writable_bytes(std::span(out)));
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("replaced"), std::string::npos);
}

TEST_F(ReadTest, AFileWhoseBlocksAreGoneIsNotContinuedByItsSuccessor) {
  for (auto& node : nodes_) {
    node->reads_to_damage = 1;
    node->Put(8, RandomText(text_.size(), 11));
  }
  namenode_->next_located = {Located(8, 0)};
  auto in = files_->OpenFile("/f");
  ASSERT_TRUE(in);
  std::string out(text_.size(), '\0');
  const auto read = (*in)->Read(std::as_writable_bytes(std::span(out)));
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("replaced"), std::string::npos);
}

TEST_F(ReadTest, AnOpenBlockIsEmptyOnlyIfNoServerHasIt) {
  namenode_->located = Unfinished(7);
  // Nobody answers: the block may have bytes.
  const auto unknown = files_->OpenFile("/f");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNetwork);
  TellVisibleLength(std::nullopt);
  namenode_->located = Unfinished(7);
  const auto empty = files_->OpenFile("/f");
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_EQ((*empty)->length(), 0U);
}

TEST_F(ReadTest, AnOpenBlockKeepsItsLengthWhenLocationsAreAskedForAgain) {
  TellVisibleLength(text_.size());
  namenode_->located = Unfinished(7);
  for (auto& node : nodes_) node->reads_to_damage = 1;
  EXPECT_EQ(Read(), text_);
}

// The writer has replaced the server that the block was at.
TEST_F(ReadTest, AnOpenBlockIsReadWhereItIsNow) {
  TellVisibleLength(text_.size());
  nodes_[0]->damages_reads = true;
  for (const bool told_as_last_only : {false, true}) {
    namenode_->located = Unfinished(7);
    auto later = Unfinished(7);
    for (auto* located : {&namenode_->located, &later}) {
      for (auto* block : {located->mutable_blocks(0), located->mutable_lastblock()}) {
        const int server = located == &later ? 1 : 0;
        block->mutable_locs()->SwapElements(0, server);
        block->mutable_locs()->DeleteSubrange(1, block->locs_size() - 1);
        block->mutable_storageids()->SwapElements(0, server);
        block->mutable_storageids()->DeleteSubrange(1, block->storageids_size() - 1);
        block->mutable_storagetypes()->Truncate(1);
      }
    }
    if (told_as_last_only) later.clear_blocks();
    namenode_->next_located = {later};
    EXPECT_EQ(Read(), text_) << told_as_last_only;
  }
}

TEST_F(ReadTest, FailuresOfLongAgoDoNotCount) {
  auto in =
      InputStream::Open(files_->namenode(), "/f", {.prefetch_bytes = 1 << 20, .most_failures = 1});
  ASSERT_TRUE(in);
  std::string out(text_.size(), '\0');
  for (int round = 0; round < 2; ++round) {
    for (auto& node : nodes_) node->reads_to_damage = 1;
    const auto read = (*in)->ReadAt(0, std::as_writable_bytes(std::span(out)));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(out, text_);
  }
}

TEST_F(ReadTest, BytesComeBackFromAnywhere) {
  EXPECT_EQ(Read(), text_);
  auto in = files_->OpenFile("/f");
  ASSERT_TRUE(in);
  std::string part(700, '\0');
  EXPECT_EQ(*(*in)->ReadAt(1111, std::as_writable_bytes(std::span(part))), 700U);
  EXPECT_EQ(part, text_.substr(1111, 700));
  EXPECT_EQ(*(*in)->ReadAt(2900, std::as_writable_bytes(std::span(part))), 100U);
  EXPECT_EQ(*(*in)->ReadAt(3000, std::as_writable_bytes(std::span(part))), 0U);
  EXPECT_FALSE((*in)->Seek(3001));
}

TEST_F(ReadTest, AnotherStreamIsOfTheSameFile) {
  auto in = files_->OpenFile("/f");
  ASSERT_TRUE(in);
  // The name stands for another file now.
  namenode_->located = Located(8, 0);
  for (auto& node : nodes_) node->Put(8, RandomText(text_.size(), 12));
  const auto another = (*in)->Another();
  std::string part(700, '\0');
  EXPECT_EQ(*(*in)->ReadAt(100, std::as_writable_bytes(std::span(part))), 700U);
  EXPECT_EQ(*another->Read(std::as_writable_bytes(std::span(part))), 700U);
  EXPECT_EQ(part, text_.substr(0, 700));
  EXPECT_EQ((*in)->position(), 0U);
  another->Unbuffer();
  EXPECT_EQ(*another->Read(std::as_writable_bytes(std::span(part))), 700U);
  EXPECT_EQ(part, text_.substr(700, 700));
  EXPECT_EQ(another->counts().bytes, 1400U);
  EXPECT_EQ(another->counts().local_bytes, 1400U);
}

TEST_F(ReadTest, WrongBytesAreReportedAndReadElsewhere) {
  nodes_[0]->damages_reads = true;
  EXPECT_EQ(Read(), text_);
  ASSERT_EQ(namenode_->bad().blocks_size(), 1);
  const auto& bad = namenode_->bad().blocks(0);
  ASSERT_EQ(bad.locs_size(), 1);
  EXPECT_EQ(bad.locs(0).id().xferport(), nodes_[0]->info().id().xferport());
  EXPECT_EQ(bad.storageids(0), "storage-" + nodes_[0]->info().id().datanodeuuid());
}

TEST_F(ReadTest, ACancelledReadFails) {
  auto in = files_->OpenFile("/f");
  ASSERT_TRUE(in);
  (*in)->Cancel();
  const auto bytes = (*in)->Next(10);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::kShutdown);
}

TEST_F(ReadTest, AReadThatWaitsForNewLocationsIsCancelled) {
  for (auto& node : nodes_) node->dead = true;
  auto in = InputStream::Open(
      files_->namenode(), "/f",
      {.prefetch_bytes = 1 << 20, .failure_wait = std::chrono::seconds(30)});
  ASSERT_TRUE(in);
  const auto started = std::chrono::steady_clock::now();
  const std::jthread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    (*in)->Cancel();
  });
  const auto bytes = (*in)->Next(10);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::kShutdown);
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(20));
}

}  // namespace
}  // namespace ebb::client
