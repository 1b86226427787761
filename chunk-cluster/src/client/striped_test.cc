// Files that clients encode, over a namenode and DataNodes that fail on order. Cells have 8 bytes,
// so that all lengths up to several groups can be tried.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <bit>
#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "client/fake_cluster.h"
#include "client/file_system.h"

namespace ebb::client {
namespace {

using testing::FakeDatanode;
using testing::FakeNamenode;

class StripedTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kData = 3;
  static constexpr std::size_t kUnits = 5;
  static constexpr std::uint64_t kCell = 8;
  // Two rows.
  static constexpr std::uint64_t kGroupBytes = 2 * kData * kCell;

  void SetUp() override {
    std::vector<hadoop::hdfs::DatanodeInfoProto> infos;
    for (std::size_t i = 0; i < kUnits; ++i) {
      nodes_.push_back(std::make_unique<FakeDatanode>());
      infos.push_back(nodes_.back()->info());
    }
    namenode_ = std::make_unique<FakeNamenode>(infos);
    namenode_->block_bytes = 2 * kCell;
    auto& policy = namenode_->policy;
    policy.set_id(70);
    policy.set_name("RS-3-2-8");
    policy.mutable_schema()->set_codecname("rs");
    policy.mutable_schema()->set_dataunits(kData);
    policy.mutable_schema()->set_parityunits(kUnits - kData);
    policy.set_cellsize(kCell);
    namenode_->Start();
    Open(Timeout(2000));
  }

  void Open(Timeout straggler) {
    Configuration configuration;
    configuration.Set("dfs.bytes-per-checksum", "4");
    configuration.Set("dfs.client-write-packet-size", "4");
    configuration.Set("dfs.client.max.block.acquire.failures", "0");
    configuration.Set("ebbfs.client.straggler.millis", std::to_string(straggler.count()));
    auto opened = FileSystem::Open(configuration, fmt::format("127.0.0.1:{}", namenode_->port()));
    ASSERT_TRUE(opened) << opened.error().message;
    files_ = std::move(*opened);
  }

  static std::string Text(std::size_t size) {
    std::mt19937 random(static_cast<unsigned>(size));
    std::string text(size, '\0');
    for (auto& c : text) c = static_cast<char>(random());
    return text;
  }

  std::unique_ptr<OutputStream> Create() {
    namenode_->names.erase("/f");
    namenode_->located.Clear();
    auto stream = files_->Create("/f", {});
    EXPECT_TRUE(stream) << stream.error().message;
    return std::move(*stream);
  }

  static Status Write(OutputStream& stream, std::string_view text) {
    for (std::size_t at = 0; at < text.size(); at += 7) {
      EBB_TRY(stream.Write(std::as_bytes(std::span(text.substr(at, 7)))));
    }
    return {};
  }

  // Writes a file, and lets the namenode tell where it is.
  void WriteFile(const std::string& text) {
    const std::size_t before = namenode_->finished().size();
    const auto stream = Create();
    const auto written = Write(*stream, text);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(stream->length(), text.size());
    const auto closed = stream->Close();
    ASSERT_TRUE(closed) << closed.error().message;
    groups_.assign(namenode_->finished().begin() + static_cast<std::ptrdiff_t>(before),
                   namenode_->finished().end());
    Locate({});
  }

  // The file is what was written, without the servers of these units.
  void Locate(const std::set<std::size_t>& missing) {
    auto& located = namenode_->located;
    located.Clear();
    located.set_underconstruction(false);
    located.set_islastblockcomplete(true);
    *located.mutable_ecpolicy() = namenode_->policy;
    std::uint64_t offset = 0;
    for (const auto& group : groups_) {
      auto& block = *located.add_blocks();
      block = namenode_->groups().at(group.blockid());
      *block.mutable_b() = group;
      block.set_offset(offset);
      offset += group.numbytes();
      std::string indices;
      const auto all = block;
      block.clear_locs();
      for (int i = 0; i < all.locs_size(); ++i) {
        if (missing.contains(static_cast<std::size_t>(i))) continue;
        *block.add_locs() = all.locs(i);
        indices.push_back(static_cast<char>(i));
      }
      block.set_blockindices(indices);
    }
    located.set_filelength(offset);
  }

  std::unique_ptr<InputStream> OpenFile() {
    auto in = files_->OpenFile("/f");
    EXPECT_TRUE(in) << in.error().message;
    return std::move(*in);
  }

  Result<std::string> Read() {
    const auto in = OpenFile();
    std::string out(in->length(), '\0');
    EBB_ASSIGN(const auto n, in->Read(std::as_writable_bytes(std::span(out))));
    EXPECT_EQ(n, out.size());
    return out;
  }

  void ExpectRead(const std::string& text, const std::string& what) {
    const auto read = Read();
    ASSERT_TRUE(read) << what << ": " << read.error().message;
    ASSERT_EQ(*read, text) << what;
  }

  std::vector<std::unique_ptr<FakeDatanode>> nodes_;
  std::unique_ptr<FakeNamenode> namenode_;
  std::unique_ptr<FileSystem> files_;
  std::vector<hadoop::hdfs::ExtendedBlockProto> groups_;
};

TEST_F(StripedTest, AFileOfAnyLengthComesBack) {
  const ErasurePolicy policy{"p", "rs", kData, kUnits - kData, kCell};
  for (std::size_t size = 0; size <= 2 * kGroupBytes + 3; ++size) {
    const auto text = Text(size);
    WriteFile(text);
    ASSERT_EQ(groups_.size(), (size + kGroupBytes - 1) / kGroupBytes) << size;
    std::size_t left = size;
    for (const auto& group : groups_) {
      ASSERT_EQ(group.numbytes(), std::min<std::size_t>(left, kGroupBytes));
      left -= group.numbytes();
      for (std::size_t i = 0; i < kUnits; ++i) {
        ASSERT_EQ(nodes_[i]->Bytes(group.blockid() + i).size(),
                  policy.BlockBytes(group.numbytes(), i))
            << size << " " << i;
      }
    }
    ExpectRead(text, std::to_string(size));
  }
}

TEST_F(StripedTest, CellsGoRoundOverTheDataBlocks) {
  const auto text = Text(24 + 10);
  WriteFile(text);
  const auto id = groups_.at(0).blockid();
  EXPECT_EQ(nodes_[0]->Bytes(id), text.substr(0, 8) + text.substr(24, 8));
  EXPECT_EQ(nodes_[1]->Bytes(id + 1), text.substr(8, 8) + text.substr(32));
  EXPECT_EQ(nodes_[2]->Bytes(id + 2), text.substr(16, 8));
  EXPECT_TRUE(namenode_->updates().empty());
}

TEST_F(StripedTest, ReadsFromAnywhere) {
  const auto text = Text(2 * kGroupBytes - 11);
  WriteFile(text);
  for (const std::set<std::size_t>& missing :
       {std::set<std::size_t>{}, std::set<std::size_t>{1}, std::set<std::size_t>{0, 2}}) {
    Locate(missing);
    const auto in = OpenFile();
    for (std::size_t at = 0; at < text.size(); at += 3) {
      for (const std::size_t n : {1, 5, 9, 30, 100}) {
        std::string out(n, '\0');
        const auto read = in->ReadAt(at, std::as_writable_bytes(std::span(out)));
        ASSERT_TRUE(read) << read.error().message;
        out.resize(*read);
        ASSERT_EQ(out, text.substr(at, n)) << at << " " << n;
      }
    }
    ASSERT_TRUE(in->Seek(50));
    std::string rest(text.size() - 50, '\0');
    ASSERT_TRUE(in->Read(std::as_writable_bytes(std::span(rest))));
    EXPECT_EQ(rest, text.substr(50));
    EXPECT_TRUE(in->Next(1)->empty());
  }
}

TEST_F(StripedTest, EachLossOfTwoBlocksIsDecoded) {
  for (const std::size_t size : {1, 8, 9, 16, 20, 24, 25, 41, 48, 49, 70, 95}) {
    const auto text = Text(size);
    WriteFile(text);
    for (unsigned pattern = 0; pattern < 1U << kUnits; ++pattern) {
      if (std::popcount(pattern) > 2) continue;
      std::set<std::size_t> missing;
      for (std::size_t i = 0; i < kUnits; ++i) {
        if ((pattern >> i & 1) != 0) missing.insert(i);
      }
      const auto what = fmt::format("{} bytes, loss {:b}", size, pattern);
      Locate(missing);
      ExpectRead(text, "no location: " + what);
      Locate({});
      for (const std::size_t i : missing) nodes_[i]->dead = true;
      ExpectRead(text, "dead: " + what);
      for (const std::size_t i : missing) {
        nodes_[i]->dead = false;
        nodes_[i]->damages_reads = true;
      }
      ExpectRead(text, "corrupt: " + what);
      for (const std::size_t i : missing) nodes_[i]->damages_reads = false;
    }
  }
}

TEST_F(StripedTest, AServerThatFailsInTheMiddleOfItsBlockIsReplaced) {
  for (auto& node : nodes_) {
    node->chunk_bytes = 4;
    node->read_packet_bytes = 4;
  }
  namenode_->block_bytes = 5 * kCell;
  const auto text = Text(5 * kData * kCell - 3);
  WriteFile(text);
  for (std::size_t i = 0; i < kUnits; ++i) {
    for (std::size_t j = i; j < kUnits; ++j) {
      for (const int packets : {1, 2, 3, 5, 8}) {
        nodes_[i]->read_packets_until_end = packets;
        nodes_[j]->read_packets_until_end = packets + 1;
        const auto what = fmt::format("servers {} and {} after {} packets", i, j, packets);
        ExpectRead(text, what);
        // The last byte of the block is wrong.
        nodes_[j]->read_packets_until_end = 1'000'000;
        nodes_[j]->damages_reads = true;
        ExpectRead(text, "wrong: " + what);
        nodes_[j]->damages_reads = false;
        nodes_[i]->read_packets_until_end = 1'000'000;
      }
    }
  }
}

TEST_F(StripedTest, OnlyWhatIsNeededIsRead) {
  const auto text = Text(kGroupBytes);
  WriteFile(text);
  const auto in = OpenFile();
  std::string out(4, '\0');
  ASSERT_TRUE(in->ReadAt(26, std::as_writable_bytes(std::span(out))));
  EXPECT_EQ(nodes_[0]->TakeReads().size(), 1U);
  for (std::size_t i = 1; i < kUnits; ++i) EXPECT_TRUE(nodes_[i]->TakeReads().empty());
  nodes_[0]->Remove(groups_[0].blockid());
  ASSERT_TRUE(in->ReadAt(26, std::as_writable_bytes(std::span(out))));
  EXPECT_EQ(out, text.substr(26, 4));
  EXPECT_EQ(nodes_[0]->TakeReads().size(), 1U);
  for (std::size_t i = 1; i <= kData; ++i) EXPECT_EQ(nodes_[i]->TakeReads().size(), 1U);
  EXPECT_TRUE(nodes_[kUnits - 1]->TakeReads().empty());
  // The reader knows now.
  ASSERT_TRUE(in->ReadAt(0, std::as_writable_bytes(std::span(out))));
  EXPECT_TRUE(nodes_[0]->TakeReads().empty());
}

TEST_F(StripedTest, TooManyLostBlocksAreNamed) {
  WriteFile(Text(60));
  Locate({1});
  nodes_[0]->dead = true;
  nodes_[3]->dead = true;
  const auto read = Read();
  ASSERT_FALSE(read);
  const auto& message = read.error().message;
  const auto id = groups_[0].blockid();
  EXPECT_NE(message.find("/f"), std::string::npos) << message;
  EXPECT_NE(message.find(fmt::format("group {}", id)), std::string::npos) << message;
  for (const std::size_t i : {0, 1, 3}) {
    EXPECT_NE(message.find(fmt::format("block {}:", id + i)), std::string::npos) << message;
  }
}

// The kernel drops connections to a listener whose queue is full.
TEST_F(StripedTest, AServerThatIsSlowToConnectCountsAsLost) {
  const auto text = Text(40);
  WriteFile(text);
  const Socket listener(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener.fd(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener.fd(), 0), 0);
  ASSERT_EQ(getsockname(listener.fd(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::uint16_t port = ntohs(address.sin_port);
  std::vector<Result<Socket>> queue;
  do {
    queue.push_back(Socket::Connect("127.0.0.1", port, std::chrono::milliseconds(300)));
  } while (queue.back());
  namenode_->located.mutable_blocks(0)->mutable_locs(1)->mutable_id()->set_xferport(port);
  const auto started = std::chrono::steady_clock::now();
  ExpectRead(text, "one server is slow");
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(12));
}

// A silent server of the fake cluster would answer after 20 s.
TEST_F(StripedTest, ASilentServerIsReadAround) {
  Open(Timeout(300));
  const auto text = Text(3 * kGroupBytes);
  WriteFile(text);
  for (const bool answers : {false, true}) {
    nodes_[1]->stalls_reads = !answers;
    nodes_[1]->bytes_until_stall = answers ? static_cast<int>(kCell) : 1'000'000'000;
    (void)nodes_[1]->TakeReads();
    const auto started = std::chrono::steady_clock::now();
    ExpectRead(text, answers ? "silent after its first cell" : "silent from the beginning");
    EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(12));
    // Later rows and groups leave it out.
    EXPECT_EQ(nodes_[1]->TakeReads().size(), 1U);
  }
}

TEST_F(StripedTest, SilentServersThatAreNeededAreWaitedFor) {
  Open(Timeout(300));
  const auto text = Text(2 * kGroupBytes);
  WriteFile(text);
  for (const std::size_t i : {0, 1, 3}) nodes_[i]->read_delay_millis = 1500;
  ExpectRead(text, "three servers are slow");
}

// Two servers end their connections, at once or after a silence, and a third one is slow.
TEST_F(StripedTest, AServerThatIsDeadIsNotWaitedForByEachGroup) {
  const auto text = Text(3 * kGroupBytes);
  WriteFile(text);
  for (const std::size_t i : {0, 1}) nodes_[i]->read_packets_until_end = 0;
  nodes_[3]->read_delay_millis = 1000;
  for (const bool silent : {false, true}) {
    SCOPED_TRACE(silent);
    Open(Timeout(300));
    for (const std::size_t i : {0, 1}) nodes_[i]->read_delay_millis = silent ? 1000 : 0;
    for (auto& node : nodes_) (void)node->TakeReads();
    const auto in = OpenFile();
    std::string out(text.size(), '\0');
    const auto read = in->Read(std::as_writable_bytes(std::span(out)));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(out, text);
    out.resize(4);
    ASSERT_TRUE(in->ReadAt(50, std::as_writable_bytes(std::span(out))));
    EXPECT_EQ(out, text.substr(50, 4));
    // A server that was silent was asked once more.
    for (const std::size_t i : {0, 1}) EXPECT_EQ(nodes_[i]->Reads().size(), silent ? 2U : 1U) << i;
  }
}

// A silent server of the fake cluster would answer after 20 s.
TEST_F(StripedTest, ASeekDoesNotWaitForARowThatNobodyWants) {
  Open(Timeout(300));
  namenode_->block_bytes = 3 * kCell;
  const auto text = Text(3 * kData * kCell);
  WriteFile(text);
  for (const std::size_t i : {0, 1, 3}) nodes_[i]->bytes_until_stall = static_cast<int>(kCell);
  const auto in = OpenFile();
  ASSERT_TRUE(in->Next(1));
  for (const std::size_t i : {0, 1, 3}) nodes_[i]->stalls_reads = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  for (const std::size_t i : {0, 1, 3}) {
    nodes_[i]->stalls_reads = false;
    nodes_[i]->bytes_until_stall = 1'000'000'000;
  }
  const auto started = std::chrono::steady_clock::now();
  ASSERT_TRUE(in->Seek(2 * kData * kCell));
  std::string row(kData * kCell, '\0');
  const auto read = in->Read(std::as_writable_bytes(std::span(row)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(row, text.substr(2 * kData * kCell));
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(10));
}

TEST_F(StripedTest, WithoutAStragglersTimeServersAreWaitedFor) {
  Open(Timeout(0));
  const auto text = Text(kGroupBytes);
  WriteFile(text);
  nodes_[1]->read_delay_millis = 1500;
  ExpectRead(text, "one server is slow");
  EXPECT_TRUE(nodes_[kData]->TakeReads().empty());
}

TEST_F(StripedTest, WrongBytesAreReported) {
  const auto text = Text(40);
  WriteFile(text);
  nodes_[2]->damages_reads = true;
  ExpectRead(text, "one block is wrong");
  ASSERT_EQ(namenode_->bad().blocks_size(), 1);
  const auto& bad = namenode_->bad().blocks(0);
  EXPECT_EQ(bad.b().blockid(), groups_[0].blockid() + 2);
  ASSERT_EQ(bad.locs_size(), 1);
  EXPECT_EQ(bad.locs(0).id().xferport(), nodes_[2]->info().id().xferport());
  EXPECT_EQ(bad.storageids(0), "storage-" + nodes_[2]->info().id().datanodeuuid());
}

TEST_F(StripedTest, WrongBytesThatOnlyTheNextRowHasAreReported) {
  WriteFile(Text(kGroupBytes));
  nodes_[1]->chunk_bytes = 4;
  nodes_[1]->read_packet_bytes = kCell;
  nodes_[1]->damages_reads = true;
  auto in = OpenFile();
  ASSERT_TRUE(in->Next(1));
  // The parity is read once the cell of the second row is wrong.
  for (int i = 0; i < 1000 && nodes_[kData]->Reads().empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ASSERT_EQ(nodes_[kData]->Reads().size(), 1U);
  in.reset();
  ASSERT_EQ(namenode_->bad().blocks_size(), 1);
  EXPECT_EQ(namenode_->bad().blocks(0).b().blockid(), groups_[0].blockid() + 1);
}

TEST_F(StripedTest, AGroupThatIsBeingWrittenIsNotRead) {
  const auto text = Text(kGroupBytes + 10);
  WriteFile(text);
  auto& located = namenode_->located;
  *located.mutable_lastblock() = located.blocks(1);
  located.mutable_blocks()->RemoveLast();
  located.mutable_lastblock()->mutable_b()->set_numbytes(0);
  located.set_filelength(kGroupBytes);
  located.set_underconstruction(true);
  located.set_islastblockcomplete(false);
  ExpectRead(text.substr(0, kGroupBytes), "the first group");
}

TEST_F(StripedTest, ACancelledReadFails) {
  WriteFile(Text(40));
  const auto in = OpenFile();
  ASSERT_TRUE(in->Next(3));
  in->Cancel();
  const auto bytes = in->Next(10);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::kShutdown);
}

TEST_F(StripedTest, OneRowIsReadAhead) {
  namenode_->block_bytes = 4 * kCell;
  const auto text = Text(4 * kData * kCell);
  WriteFile(text);
  nodes_[0]->chunk_bytes = 4;
  nodes_[0]->read_packet_bytes = kCell;
  // The server has the cells of two rows, and whoever wants a third one needs a parity.
  nodes_[0]->read_packets_until_end = 2;
  const auto in = OpenFile();
  ASSERT_TRUE(in->Next(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(nodes_[kData]->Reads().empty());
  std::string row(kData * kCell, '\0');
  ASSERT_TRUE(in->Read(std::as_writable_bytes(std::span(row))));
  EXPECT_EQ(row, text.substr(1, row.size()));
  // Now the first byte of the second row is read, and nothing of the third one.
  for (int i = 0; i < 1000 && nodes_[kData]->Reads().empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(nodes_[kData]->Reads().size(), 1U);
  std::string rest(text.size() - row.size() - 1, '\0');
  ASSERT_TRUE(in->Read(std::as_writable_bytes(std::span(rest))));
  EXPECT_EQ(rest, text.substr(row.size() + 1));
}

// Each server sends one cell. A silent server of the fake cluster would end after 20 s.
TEST_F(StripedTest, ARowThatIsReadAheadEndsWithItsStream) {
  Open(Timeout(0));
  WriteFile(Text(kGroupBytes));
  for (auto& node : nodes_) node->bytes_until_stall = static_cast<int>(kCell);
  for (const bool cancels : {false, true}) {
    const auto started = std::chrono::steady_clock::now();
    auto in = OpenFile();
    ASSERT_TRUE(in->Next(1));
    if (cancels) {
      const std::jthread canceller([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        in->Cancel();
      });
      std::string rest(kGroupBytes - 1, '\0');
      const auto read = in->Read(std::as_writable_bytes(std::span(rest)));
      ASSERT_FALSE(read);
      EXPECT_EQ(read.error().code, ErrorCode::kShutdown);
    }
    in.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(12)) << cancels;
  }
}

TEST_F(StripedTest, TheWriteGoesOnWithoutTheServersThatFail) {
  const auto text = Text(2 * kGroupBytes - 5);
  for (const std::set<std::size_t>& failing :
       {std::set<std::size_t>{0}, {2}, {4}, {0, 1}, {1, 3}, {3, 4}}) {
    for (const int packets : {0, 1, 2, 3, 4}) {
      const std::size_t updates = namenode_->updates().size();
      for (const std::size_t i : failing) nodes_[i]->packets_until_end = packets;
      WriteFile(text);
      const auto what =
          fmt::format("servers {} fail after {} packets", fmt::join(failing, ","), packets);
      // The last packet of a block ends it: a server that fails then has missed no bytes.
      if (packets < 4) {
        ASSERT_GT(namenode_->updates().size(), updates) << what;
        const auto& update = namenode_->updates().back();
        ASSERT_EQ(update.newnodes_size(), static_cast<int>(kUnits)) << what;
        EXPECT_EQ(update.newblock().generationstamp(), groups_[0].generationstamp()) << what;
        for (std::size_t i = 0; i < kUnits; ++i) {
          const bool gone = failing.contains(i);
          EXPECT_EQ(update.storageids(static_cast<int>(i)).empty(), gone) << what;
          EXPECT_EQ(update.newnodes(static_cast<int>(i)).datanodeuuid() == "null", gone) << what;
        }
      }
      for (const std::size_t i : failing) {
        nodes_[i]->packets_until_end = 1'000'000;
        nodes_[i]->dead = true;
      }
      ExpectRead(text, what);
      for (const std::size_t i : failing) nodes_[i]->dead = false;
    }
  }
}

TEST_F(StripedTest, AServerThatRefusesIsLeftOut) {
  nodes_[1]->refused_link = "127.0.0.1:" + std::to_string(nodes_[1]->info().id().xferport());
  const auto text = Text(2 * kGroupBytes);
  WriteFile(text);
  // The second group is allocated without that server, and lacks its last parity.
  EXPECT_EQ(namenode_->updates().size(), 1U);
  EXPECT_EQ(nodes_[2]->Writes().back().stage(),
            hadoop::hdfs::OpWriteBlockProto::PIPELINE_SETUP_CREATE);
  EXPECT_EQ(namenode_->groups().at(groups_[1].blockid()).locs_size(), 4);
  EXPECT_TRUE(nodes_[1]->Bytes(groups_[0].blockid() + 1).empty());
  nodes_[1]->dead = true;
  ExpectRead(text, "without the server that refused");
}

TEST_F(StripedTest, ServersThatAreBackAreUsedBeforeTheWriteFails) {
  const auto text = Text(3 * kGroupBytes);
  const auto stream = Create();
  for (const std::size_t group : {0, 1, 2}) {
    // In each of two groups another server fails. Then both are back, and the namenode loses one
    // that has not failed.
    if (group > 0) nodes_[group - 1]->dead = false;
    nodes_[group]->dead = group < 2;
    if (group == 2) namenode_->lost_port = nodes_[group]->info().id().xferport();
    const auto written = Write(*stream, text.substr(group * kGroupBytes, kGroupBytes));
    ASSERT_TRUE(written) << group << ": " << written.error().message;
  }
  ASSERT_TRUE(stream->Close());
  groups_ = namenode_->finished();
  ASSERT_EQ(groups_.size(), 3U);
  EXPECT_EQ(namenode_->groups().at(groups_[1].blockid()).locs_size(), 4);
  EXPECT_EQ(namenode_->groups().at(groups_[2].blockid()).locs_size(), 4);
  Locate({});
  ExpectRead(text, "three groups");
}

TEST_F(StripedTest, TooManyFailuresOfServersAreNamed) {
  for (const std::size_t i : {0, 3, 4}) nodes_[i]->packets_until_end = 2;
  const auto stream = Create();
  auto status = Write(*stream, Text(3 * kGroupBytes));
  if (status) status = stream->Close();
  ASSERT_FALSE(status);
  const auto& message = status.error().message;
  EXPECT_NE(message.find("/f"), std::string::npos) << message;
  EXPECT_NE(message.find("3 of its 5 servers"), std::string::npos) << message;
  for (const std::size_t i : {0, 3, 4}) {
    EXPECT_NE(message.find(std::to_string(nodes_[i]->info().id().xferport())), std::string::npos)
        << message;
  }
  EXPECT_FALSE(stream->Write(std::as_bytes(std::span("x"))));
}

TEST_F(StripedTest, AFlushDoesNothingAsInHdfs) {
  const auto stream = Create();
  const auto text = Text(29);
  ASSERT_TRUE(Write(*stream, text.substr(0, 13)));
  ASSERT_TRUE(stream->Flush());
  ASSERT_TRUE(stream->Sync());
  EXPECT_EQ(namenode_->synced(), -1);
  ASSERT_TRUE(Write(*stream, text.substr(13)));
  ASSERT_TRUE(stream->Close());
  groups_ = namenode_->finished();
  Locate({});
  ExpectRead(text, "after a flush");
}

TEST_F(StripedTest, TheNamenodeRefusesAnAppend) {
  WriteFile(Text(5));
  namenode_->exceptions["append"] = "java.lang.UnsupportedOperationException";
  const auto stream = files_->Append("/f");
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().exception_class, "java.lang.UnsupportedOperationException");
}

TEST_F(StripedTest, ChecksumsThatDoNotDivideCellsAreRefused) {
  Configuration configuration;
  configuration.Set("dfs.bytes-per-checksum", "16");
  const auto files =
      FileSystem::Open(configuration, fmt::format("127.0.0.1:{}", namenode_->port()));
  ASSERT_TRUE(files);
  const auto stream = (*files)->Create("/g", {});
  ASSERT_TRUE(stream);
  auto status = Write(**stream, Text(20));
  if (status) status = (*stream)->Close();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("dfs.bytes-per-checksum"), std::string::npos);
}

}  // namespace
}  // namespace ebb::client
