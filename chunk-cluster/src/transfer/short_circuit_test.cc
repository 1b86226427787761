// Short-circuit reads, by a client that uses sockets, files and memory as HDFS's client does.
#include "transfer/short_circuit.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>

#include "common/domain_socket.h"
#include "disk/faulty_file_system.h"
#include "disk/test_support.h"
#include "transfer/server.h"
#include "transfer/wire.h"

namespace ebb::transfer::short_circuit {
namespace {

using namespace ebb::testing;
using namespace hadoop::hdfs;

constexpr Timeout kPatience = std::chrono::seconds(20);
using Registry = ShortCircuitRegistry;

// The directories above a socket belong to nobody else: /tmp does not qualify.
std::string SafeDirectory() {
  const auto base = std::filesystem::exists("/run/user") && geteuid() != 0
                        ? fmt::format("/run/user/{}", geteuid())
                        : std::string("/run");
  std::string path = base + "/ebbfs-test-XXXXXX";
  return mkdtemp(path.data()) == nullptr ? "" : path;
}

class ShortCircuitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    sockets_ = SafeDirectory();
    if (sockets_.empty()) GTEST_SKIP() << "no directory that only this user may write to";
    store_ = OpenStore(RealFileSystem(), {directory_ / "a"});
    store_->SetWatcher(&registry_);
    TransferServer::Options options;
    options.domain_socket = sockets_ + "/dn_PORT";
    server_ = std::make_unique<TransferServer>(options, *store_, nullptr);
    server_->SetShortCircuit(&registry_);
    const auto listening = server_->Listen();
    ASSERT_TRUE(listening.has_value()) << listening.error().message;
    server_->Serve();
  }
  void TearDown() override {
    server_.reset();
    if (!sockets_.empty()) std::filesystem::remove_all(sockets_);
  }
  std::string path() const { return fmt::format("{}/dn{}", sockets_, server_->port()); }

  Registry registry_;
  TemporaryDirectory directory_;
  std::string sockets_;
  std::unique_ptr<BlockStore> store_;
  std::unique_ptr<TransferServer> server_;
};

class Client {
 public:
  explicit Client(const std::string& path)
      : socket_(Socket::ConnectToPath(path).value()), reader_(socket_, 1) {}

  template <typename Response>
  Response Ask(Operation operation, const google::protobuf::MessageLite& op) {
    std::string bytes;
    AppendOperation(bytes, operation, op);
    EXPECT_TRUE(WriteString(socket_, bytes, kPatience));
    Response response;
    const auto read = ReadMessage(reader_, response, kPatience);
    EXPECT_TRUE(read.has_value()) << read.error().message;
    return response;
  }
  // The byte and the files that come with it.
  std::pair<int, std::vector<int>> Receive() {
    EXPECT_TRUE(*socket_.WaitReadable(kPatience));
    char byte = 0;
    iovec part = {&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    EXPECT_EQ(recvmsg(socket_.fd(), &message, 0), 1);
    std::vector<int> files;
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header != nullptr) {
      files.resize((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
      std::memcpy(files.data(), CMSG_DATA(header), files.size() * sizeof(int));
    }
    return {byte, files};
  }
  void Write(const std::string& bytes) { EXPECT_TRUE(WriteString(socket_, bytes, kPatience)); }
  void Close() { socket_.Close(); }
  bool AtEnd() {
    const auto end = reader_.AtEnd(kPatience);
    return end && *end;
  }

 private:
  Socket socket_;
  SocketReader reader_;
};

// The segment of a client, mapped as the client does.
class Memory {
 public:
  explicit Memory(const std::string& path) : client_(path) {
    ShortCircuitShmRequestProto op;
    op.set_clientname("test");
    const auto response =
        client_.Ask<ShortCircuitShmResponseProto>(Operation::kRequestShortCircuitShm, op);
    EXPECT_EQ(response.status(), SUCCESS) << response.error();
    id_ = response.id();
    const auto [byte, files] = client_.Receive();
    EXPECT_EQ(byte, 0);
    EXPECT_EQ(files.size(), 1);
    file_ = files.at(0);
    memory_ = static_cast<std::byte*>(mmap(nullptr, Registry::kSegmentBytes,
                                           PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0));
    EXPECT_NE(memory_, MAP_FAILED);
  }
  ~Memory() {
    munmap(memory_, Registry::kSegmentBytes);
    close(file_);
  }
  std::uint64_t flags(int slot) const {
    return std::atomic_ref<std::uint64_t>(word(slot)).load();
  }
  bool IsValid(int slot) const { return (flags(slot) & Registry::kValid) != 0; }
  void Allocate(int slot) { std::atomic_ref<std::uint64_t>(word(slot)).store(Registry::kValid); }
  ShortCircuitShmSlotProto Slot(int slot) const {
    ShortCircuitShmSlotProto id;
    *id.mutable_shmid() = id_;
    id.set_slotidx(slot);
    return id;
  }
  int file() const { return file_; }
  void Close() { client_.Close(); }
  bool AwaitsEnd() { return client_.AtEnd(); }

 private:
  std::uint64_t& word(int slot) const {
    return *reinterpret_cast<std::uint64_t*>(memory_ +
                                             static_cast<std::size_t>(slot) * Registry::kSlotBytes);
  }
  Client client_;
  ShortCircuitShmIdProto id_;
  int file_ = -1;
  std::byte* memory_ = nullptr;
};

OpRequestShortCircuitAccessProto Files(std::uint64_t block, std::uint64_t stamp = 1001) {
  OpRequestShortCircuitAccessProto op;
  op.mutable_header()->mutable_block()->set_poolid("BP-1");
  op.mutable_header()->mutable_block()->set_blockid(block);
  op.mutable_header()->mutable_block()->set_generationstamp(stamp);
  op.set_maxversion(1);
  return op;
}

std::vector<std::byte> Content(int file) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(lseek(file, 0, SEEK_END)));
  EXPECT_EQ(pread(file, bytes.data(), bytes.size(), 0), bytes.size());
  return bytes;
}

TEST_F(ShortCircuitTest, AClientGetsDataAndChecksumsForReading) {
  const auto data = RandomBytes(3000, 1);
  StoreBlock(*store_, 1, data);
  Client client(path());
  for (int again = 0; again < 2; ++again) {
    const auto response =
        client.Ask<BlockOpResponseProto>(Operation::kRequestShortCircuitFds, Files(1));
    ASSERT_EQ(response.status(), SUCCESS) << response.message();
    EXPECT_EQ(response.shortcircuitaccessversion(), 1);
    const auto [receipt, files] = client.Receive();
    EXPECT_EQ(receipt, DO_NOT_USE_RECEIPT_VERIFICATION);
    ASSERT_EQ(files.size(), 2);
    EXPECT_EQ(Content(files[0]), data);
    const auto meta = Content(files[1]);
    ASSERT_GE(meta.size(), format::kMetaHeaderBytes);
    EXPECT_TRUE(format::DecodeMetaHeader(std::span(meta).first(format::kMetaHeaderBytes)));
    EXPECT_FALSE(format::Checksum()
                     .FirstMismatch(data, std::span(meta).subspan(format::kMetaHeaderBytes))
                     .has_value());
    EXPECT_EQ(write(files[0], "x", 1), -1);
    for (const int file : files) close(file);
  }
  EXPECT_EQ(server_->counters().short_circuit_requests.load(), 2);
}

TEST_F(ShortCircuitTest, ASlotIsValidUntilTheReplicaIsDeleted) {
  StoreBlock(*store_, 1, RandomBytes(3000, 1));
  StoreBlock(*store_, 2, RandomBytes(3000, 2));
  Memory memory(path());
  Client client(path());
  for (const int slot : {0, 127}) {
    memory.Allocate(slot);
    auto op = Files(slot == 0 ? 1 : 2);
    *op.mutable_slotid() = memory.Slot(slot);
    op.set_supportsreceiptverification(true);
    ASSERT_EQ(
        client.Ask<BlockOpResponseProto>(Operation::kRequestShortCircuitFds, op).status(),
        SUCCESS);
    const auto [receipt, files] = client.Receive();
    EXPECT_EQ(receipt, USE_RECEIPT_VERIFICATION);
    client.Write(std::string(1, '\0'));
    for (const int file : files) close(file);
  }
  EXPECT_EQ(registry_.slots(), 2);
  EXPECT_TRUE(store_->Delete(1, 1001));
  EXPECT_FALSE(memory.IsValid(0));
  EXPECT_TRUE(memory.IsValid(127));
  EXPECT_TRUE(store_->ReportCorrupt(*store_->Find(2), "a test"));
  EXPECT_FALSE(memory.IsValid(127));
  ReleaseShortCircuitAccessRequestProto release;
  *release.mutable_slotid() = memory.Slot(127);
  const auto ask = [&] {
    return client
        .Ask<ReleaseShortCircuitAccessResponseProto>(Operation::kReleaseShortCircuitFds, release)
        .status();
  };
  EXPECT_EQ(ask(), SUCCESS);
  EXPECT_EQ(ask(), ERROR_INVALID);
  EXPECT_EQ(registry_.slots(), 1);
  memory.Close();
  // The client learns the same from the end of its other connection.
  while (registry_.segments() > 0) std::this_thread::yield();
  EXPECT_EQ(registry_.slots(), 0);
}

TEST_F(ShortCircuitTest, AnAppendMakesTheSlotInvalid) {
  StoreBlock(*store_, 1, RandomBytes(3000, 1));
  Memory memory(path());
  Client client(path());
  memory.Allocate(5);
  auto op = Files(1);
  *op.mutable_slotid() = memory.Slot(5);
  ASSERT_EQ(client.Ask<BlockOpResponseProto>(Operation::kRequestShortCircuitFds, op).status(),
            SUCCESS);
  for (const int file : client.Receive().second) close(file);
  EXPECT_TRUE(memory.IsValid(5));
  ASSERT_TRUE(store_->Append(1, 1001, 1002, 3000).has_value());
  EXPECT_FALSE(memory.IsValid(5));
}

TEST_F(ShortCircuitTest, ARefusalTellsWhetherToAskAgain) {
  StoreBlock(*store_, 1, RandomBytes(3000, 1));
  Memory memory(path());
  Client client(path());
  const auto ask = [&](const OpRequestShortCircuitAccessProto& op) {
    return client.Ask<BlockOpResponseProto>(Operation::kRequestShortCircuitFds, op);
  };
  auto old = Files(1);
  old.set_maxversion(0);
  auto lost = Files(404);
  *lost.mutable_slotid() = memory.Slot(3);
  memory.Allocate(3);
  for (const auto& op : {old, lost, Files(1, 1002)}) {
    const auto response = ask(op);
    EXPECT_EQ(response.status(), ERROR_UNSUPPORTED) << response.message();
    EXPECT_EQ(response.shortcircuitaccessversion(), 1);
  }
  EXPECT_EQ(registry_.slots(), 0);
  EXPECT_FALSE(memory.IsValid(3));
  auto foreign = Files(1);
  foreign.mutable_header()->mutable_block()->set_poolid("BP-of-another");
  EXPECT_EQ(ask(foreign).status(), ERROR);
  for (const int slot : {4, 128, -1}) {
    auto unmarked = Files(1);
    *unmarked.mutable_slotid() = memory.Slot(slot);
    EXPECT_EQ(ask(unmarked).status(), ERROR) << slot;
  }
}

// HDFS's client never frees the slot of such a request.
TEST_F(ShortCircuitTest, ASegmentOfRefusedSlotsEnds) {
  StoreBlock(*store_, 1, RandomBytes(3000, 1));
  Memory memory(path());
  const auto ask = [&](Client&& asking, std::uint64_t block, int slot) {
    memory.Allocate(slot);
    auto op = Files(block);
    *op.mutable_slotid() = memory.Slot(slot);
    return asking.Ask<BlockOpResponseProto>(Operation::kRequestShortCircuitFds, op);
  };
  const auto take = [&](int slot) {
    Client taking(path());
    ASSERT_EQ(ask(std::move(taking), 1, slot).status(), SUCCESS);
    for (const int file : taking.Receive().second) close(file);
  };
  take(127);
  const int most = static_cast<int>(Registry::kMaxRefused);
  for (int slot = 0; slot < most; ++slot) {
    ASSERT_EQ(ask(Client(path()), 404, slot).status(), ERROR_UNSUPPORTED);
  }
  EXPECT_EQ(registry_.segments(), 1) << "one slot is in use";
  EXPECT_TRUE(memory.IsValid(127));
  // A client that frees the slot after all uses it again.
  take(0);
  for (const int slot : {0, 127}) {
    ReleaseShortCircuitAccessRequestProto release;
    *release.mutable_slotid() = memory.Slot(slot);
    EXPECT_EQ(Client(path())
                  .Ask<ReleaseShortCircuitAccessResponseProto>(Operation::kReleaseShortCircuitFds,
                                                               release)
                  .status(),
              SUCCESS);
  }
  EXPECT_EQ(registry_.segments(), 1) << "63 slots are refused";
  ASSERT_EQ(ask(Client(path()), 404, 0).status(), ERROR_UNSUPPORTED);
  EXPECT_TRUE(memory.AwaitsEnd());
  while (registry_.segments() > 0) std::this_thread::yield();
  // A request that was under way meanwhile does not turn the client away from the socket.
  const auto late = ask(Client(path()), 1, 1);
  EXPECT_EQ(late.status(), ERROR_UNSUPPORTED) << late.message();
  EXPECT_EQ(late.shortcircuitaccessversion(), 1);
  EXPECT_EQ(Memory(path()).flags(0), 0) << "the next segment";
}

TEST_F(ShortCircuitTest, AClientThatGetsNoSegmentKeepsItsConnection) {
  StoreBlock(*store_, 1, RandomBytes(3000, 1));
  std::vector<std::unique_ptr<Registry::Segment>> held;
  while (auto segment = registry_.Create()) held.push_back(std::move(*segment));
  Client client(path());
  ShortCircuitShmRequestProto op;
  op.set_clientname("test");
  const auto refused =
      client.Ask<ShortCircuitShmResponseProto>(Operation::kRequestShortCircuitShm, op);
  EXPECT_EQ(refused.status(), ERROR_UNSUPPORTED);
  EXPECT_NE(refused.error().find("get no more"), std::string::npos) << refused.error();
  EXPECT_EQ(
      client.Ask<BlockOpResponseProto>(Operation::kRequestShortCircuitFds, Files(404)).status(),
      ERROR_UNSUPPORTED);
  Client next(path());
  EXPECT_EQ(next.Ask<BlockOpResponseProto>(Operation::kRequestShortCircuitFds, Files(1)).status(),
            SUCCESS);
  for (const int file : next.Receive().second) close(file);
}

TEST_F(ShortCircuitTest, SegmentsLeaveConnectionsToOtherOperations) {
  EXPECT_EQ(Registry::SegmentsFor(4), 1);
  EXPECT_EQ(Registry::SegmentsFor(100), 25);
  EXPECT_EQ(Registry::SegmentsFor(65536), Registry::kMaxSegments);
  Registry small(Registry::SegmentsFor(4));
  const auto first = small.Create();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(small.Create().error().code, ErrorCode::kBusy);
}

TEST_F(ShortCircuitTest, AClientThatNeverTakesTheFilesKeepsNoSlot) {
  StoreBlock(*store_, 1, RandomBytes(3000, 1));
  Memory memory(path());
  memory.Allocate(0);
  {
    Client client(path());
    auto op = Files(1);
    *op.mutable_slotid() = memory.Slot(0);
    op.set_supportsreceiptverification(true);
    ASSERT_EQ(client.Ask<BlockOpResponseProto>(Operation::kRequestShortCircuitFds, op).status(),
              SUCCESS);
  }
  while (registry_.slots() > 0) std::this_thread::yield();
  EXPECT_FALSE(memory.IsValid(0));
}

TEST_F(ShortCircuitTest, AClientCannotTakeTheMemoryAway) {
  Memory memory(path());
  EXPECT_EQ(ftruncate(memory.file(), 0), -1);
}

TEST_F(ShortCircuitTest, OtherOperationsWorkThereTooAndTheseOnlyThere) {
  const auto data = RandomBytes(3000, 1);
  StoreBlock(*store_, 1, data);
  Client local(path());
  OpReadBlockProto read;
  *read.mutable_header()->mutable_baseheader() = Files(1).header();
  read.mutable_header()->set_clientname("test");
  read.set_offset(0);
  read.set_len(3000);
  EXPECT_EQ(local.Ask<BlockOpResponseProto>(Operation::kReadBlock, read).status(), SUCCESS);
  auto socket = Socket::Connect("127.0.0.1", server_->port(), kPatience);
  ASSERT_TRUE(socket.has_value());
  SocketReader reader(*socket);
  std::string bytes;
  AppendOperation(bytes, Operation::kRequestShortCircuitFds, Files(1));
  ShortCircuitShmRequestProto memory;
  memory.set_clientname("test");
  AppendOperation(bytes, Operation::kRequestShortCircuitShm, memory);
  ASSERT_TRUE(WriteString(*socket, bytes, kPatience));
  BlockOpResponseProto response;
  ASSERT_TRUE(ReadMessage(reader, response, kPatience));
  EXPECT_EQ(response.status(), ERROR_UNSUPPORTED);
  ShortCircuitShmResponseProto refused;
  ASSERT_TRUE(ReadMessage(reader, refused, kPatience));
  EXPECT_EQ(refused.status(), ERROR_INVALID);
  EXPECT_EQ(registry_.segments(), 0);
}

TEST_F(ShortCircuitTest, SegmentsAreLimited) {
  std::vector<std::unique_ptr<Registry::Segment>> held;
  for (std::size_t i = 0; i < Registry::kMaxSegments; ++i) {
    auto segment = registry_.Create();
    ASSERT_TRUE(segment.has_value()) << segment.error().message;
    held.push_back(std::move(*segment));
  }
  EXPECT_EQ(registry_.Create().error().code, ErrorCode::kBusy);
  held.pop_back();
  EXPECT_TRUE(registry_.Create().has_value());
}

TEST_F(ShortCircuitTest, ASocketIsNotMadeWhereOthersCouldReplaceIt) {
  EXPECT_TRUE(CheckSocketPath(sockets_ + "/dn"));
  EXPECT_FALSE(CheckSocketPath("dn"));
  EXPECT_FALSE(CheckSocketPath(sockets_ + "/"));
  EXPECT_FALSE(CheckSocketPath(sockets_ + "/missing/dn"));
  const std::string open = sockets_ + "/open";
  ASSERT_EQ(mkdir(open.c_str(), 0755), 0);
  EXPECT_TRUE(CheckSocketPath(open + "/dn"));
  ASSERT_EQ(chmod(open.c_str(), 0757), 0);
  const auto everybody = CheckSocketPath(open + "/dn");
  ASSERT_FALSE(everybody.has_value());
  EXPECT_NE(everybody.error().message.find("chmod o-w"), std::string::npos);
  ASSERT_EQ(chmod(open.c_str(), 0755), 0);
  std::filesystem::create_directory_symlink(open, sockets_ + "/link");
  EXPECT_FALSE(CheckSocketPath(sockets_ + "/link/dn"));
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(open.c_str(), 12345, 0), 0);
  EXPECT_FALSE(CheckSocketPath(open + "/dn"));
  ASSERT_EQ(chown(open.c_str(), 0, 12345), 0);
  ASSERT_EQ(chmod(open.c_str(), 0775), 0);
  EXPECT_FALSE(CheckSocketPath(open + "/dn"));
}

TEST_F(ShortCircuitTest, AnotherServerAndAFileAtThePathAreNotReplaced) {
  const auto taken = Listener::ListenAtPath(path());
  ASSERT_FALSE(taken.has_value());
  EXPECT_NE(taken.error().message.find("another process"), std::string::npos);
  const std::string file = sockets_ + "/file";
  std::ofstream(file) << "precious";
  EXPECT_FALSE(Listener::ListenAtPath(file).has_value());
  EXPECT_TRUE(std::filesystem::exists(file));
  // What a server that was killed has left gives way.
  const std::string left = path();
  server_.reset();
  EXPECT_TRUE(std::filesystem::exists(left));
  EXPECT_TRUE(Listener::ListenAtPath(left).has_value());
  EXPECT_FALSE(Listener::ListenAtPath(sockets_ + "/" + std::string(200, 'x')).has_value());
}

}  // namespace
}  // namespace ebb::transfer::short_circuit
