#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "ProtobufRpcEngine2.pb.h"
#include "RpcHeader.pb.h"
#include "chunk.pb.h"
#include "common/thread_shortage.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "rpc/wire.h"

namespace ebb {
namespace {

using namespace std::chrono_literals;

constexpr char kProtocol[] = "io.ebbfs.protocol.ChunkProtocol";

// A gate that blocks calls until it is opened.
class Gate {
 public:
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void AwaitWaiting(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

// "combine" echoes the id unless it asks for an error; "status" waits at the gate.
class RpcTest : public testing::Test {
 protected:
  void StartServer(RpcServerOptions options = {}) {
    server_ = std::make_unique<RpcServer>(options);
    RpcHandlers handlers;
    handlers["combine"] = MakeRpcHandler<ebbfs::CombineRequestProto>(
        [this](const RpcCaller& caller,
               const ebbfs::CombineRequestProto& request) -> Result<ebbfs::CombineResponseProto> {
          if (request.id() == "fail") return Fail(ErrorCode::kIo, "the disk is full");
          if (request.id() == "fail as") {
            return std::unexpected(Error{ErrorCode::kNotFound, "no such block",
                                         "org.apache.hadoop.hdfs.protocol.ReplicaNotFound"});
          }
          if (request.id() == "throw") throw std::bad_alloc();
          ebbfs::CombineResponseProto response;
          response.set_status(ebbfs::COMBINE_OK);
          response.set_message(request.id() == "user" ? caller.user : request.id());
          return response;
        });
    handlers["status"] = MakeRpcHandler<ebbfs::ChunkStatusRequestProto>(
        [this](const RpcCaller&,
               const ebbfs::ChunkStatusRequestProto&) -> Result<ebbfs::ChunkStatusResponseProto> {
          gate_.Pass();
          return ebbfs::ChunkStatusResponseProto();
        });
    server_->RegisterService(kProtocol, 1, std::move(handlers));
    const auto started = server_->Start();
    ASSERT_TRUE(started) << started.error().message;
    client_ = std::make_unique<RpcClient>("127.0.0.1", server_->port(), kProtocol, 1, "alice");
  }

  void TearDown() override {
    gate_.Open();
    client_.reset();
    server_.reset();
  }

  static ebbfs::CombineRequestProto Request(const std::string& id) {
    ebbfs::CombineRequestProto request;
    request.set_id(id);
    request.set_coefficients("");
    return request;
  }

  Result<std::string> Echo(RpcClient& client, const std::string& id) {
    ebbfs::CombineResponseProto response;
    EBB_TRY(client.Call("combine", Request(id), response));
    return response.message();
  }

  Socket RawConnection() {
    auto socket = Socket::Connect("127.0.0.1", server_->port(), 5s);
    EXPECT_TRUE(socket) << socket.error().message;
    return std::move(*socket);
  }

  // A request frame with the given call id and header.
  static std::string Frame(
      std::int32_t call_id, std::string_view rest,
      std::function<void(hadoop::common::RpcRequestHeaderProto&)> change = {}) {
    hadoop::common::RpcRequestHeaderProto header;
    header.set_rpckind(hadoop::common::RPC_PROTOCOL_BUFFER);
    header.set_rpcop(hadoop::common::RpcRequestHeaderProto::RPC_FINAL_PACKET);
    header.set_callid(call_id);
    header.set_clientid(std::string(16, 'x'));
    if (change) change(header);
    std::string frame = rpc_wire::BeginFrame();
    rpc_wire::AppendDelimited(frame, header);
    frame.append(rest);
    rpc_wire::EndFrame(frame);
    return frame;
  }

  static std::string Hello() {
    const auto preamble = rpc_wire::Preamble();
    std::string context;
    rpc_wire::AppendDelimitedBytes(context, "");
    return std::string(preamble.data(), preamble.size()) +
           Frame(rpc_wire::kCallIdConnectionContext, context);
  }

  static hadoop::common::RpcResponseHeaderProto ReadHeader(Socket& socket) {
    hadoop::common::RpcResponseHeaderProto header;
    auto frame = rpc_wire::ReadFrame(socket, 1 << 20, 10s);
    EXPECT_TRUE(frame) << frame.error().message;
    if (frame) {
      EXPECT_TRUE(rpc_wire::Cursor(*frame).Next(header, "header"));
    }
    return header;
  }

  Gate gate_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<RpcClient> client_;
};

TEST_F(RpcTest, CallsAndNamesTheUser) {
  StartServer();
  const auto answer = Echo(*client_, "first");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(*answer, "first");
  EXPECT_EQ(Echo(*client_, "user").value(), "alice");
}

TEST_F(RpcTest, LargeMessagesPassAndTooLargeOnesCostTheConnection) {
  RpcServerOptions options;
  options.max_request_bytes = std::size_t{4} << 20;
  StartServer(options);
  const std::string large(std::size_t{3} << 20, 'a');
  EXPECT_EQ(Echo(*client_, large).value(), large);
  const auto refused = Echo(*client_, std::string(std::size_t{5} << 20, 'a'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNetwork);
  EXPECT_EQ(Echo(*client_, "again").value(), "again");
}

TEST_F(RpcTest, ErrorsAreRemoteExceptions) {
  StartServer();
  auto plain = Echo(*client_, "fail");
  ASSERT_FALSE(plain);
  EXPECT_EQ(plain.error().code, ErrorCode::kRemote);
  EXPECT_EQ(plain.error().exception_class, "java.io.IOException");
  EXPECT_NE(plain.error().message.find("the disk is full"), std::string::npos);
  EXPECT_EQ(Echo(*client_, "fail as").error().exception_class,
            "org.apache.hadoop.hdfs.protocol.ReplicaNotFound");
  EXPECT_EQ(Echo(*client_, "throw").error().exception_class, "java.io.IOException");
  EXPECT_EQ(Echo(*client_, "fine").value(), "fine");
}

TEST_F(RpcTest, UnknownMethodProtocolAndVersionAreToldApart) {
  StartServer();
  ebbfs::CombineResponseProto response;
  EXPECT_EQ(client_->Call("nothing", Request("x"), response).error().exception_class,
            "org.apache.hadoop.ipc.RpcNoSuchMethodException");
  RpcClient other("127.0.0.1", server_->port(), "io.ebbfs.Other", 1);
  EXPECT_EQ(Echo(other, "x").error().exception_class,
            "org.apache.hadoop.ipc.RpcNoSuchProtocolException");
  RpcClient newer("127.0.0.1", server_->port(), kProtocol, 2);
  EXPECT_EQ(Echo(newer, "x").error().exception_class, "org.apache.hadoop.ipc.RPC$VersionMismatch");
}

TEST_F(RpcTest, AnIncompleteRequestIsRefusedBeforeItIsSent) {
  StartServer();
  ebbfs::CombineResponseProto response;
  const auto status = client_->Call("combine", ebbfs::CombineRequestProto(), response);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalid);
}

TEST_F(RpcTest, AnswersOvertakeASlowCallOnTheSameConnection) {
  StartServer();
  auto slow = std::async(std::launch::async, [&] {
    ebbfs::ChunkStatusResponseProto response;
    return client_->Call("status", ebbfs::ChunkStatusRequestProto(), response);
  });
  gate_.AwaitWaiting(1);
  EXPECT_EQ(Echo(*client_, "quick").value(), "quick");
  EXPECT_EQ(server_->connections(), 1u);
  gate_.Open();
  EXPECT_TRUE(slow.get());
}

TEST_F(RpcTest, ManyThreadsShareOneClient) {
  StartServer();
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const std::string id = fmt::format("{}/{}", t, i);
        const auto answer = Echo(*client_, id);
        if (!answer || *answer != id) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_F(RpcTest, ATimedOutCallFailsAndTheClientGoesOn) {
  StartServer();
  ebbfs::ChunkStatusResponseProto response;
  const auto late = client_->Call("status", ebbfs::ChunkStatusRequestProto(), response, 50ms);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(Echo(*client_, "next").value(), "next");
}

TEST_F(RpcTest, AClosedClientEndsItsCallsAndStartsNoOther) {
  StartServer();
  auto running = std::async(std::launch::async, [&] {
    ebbfs::ChunkStatusResponseProto response;
    return client_->Call("status", ebbfs::ChunkStatusRequestProto(), response);
  });
  gate_.AwaitWaiting(1);
  client_->Close();
  const auto ended = running.get();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kShutdown);
  const auto later = Echo(*client_, "later");
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, ErrorCode::kShutdown);
}

TEST_F(RpcTest, ALostConnectionIsToldWithoutACall) {
  StartServer();
  std::promise<void> lost;
  RpcClientOptions options;
  options.on_lost = [&] { lost.set_value(); };
  RpcClient client("127.0.0.1", server_->port(), kProtocol, 1, "alice", options);
  ASSERT_TRUE(Echo(client, "before"));
  server_.reset();
  EXPECT_EQ(lost.get_future().wait_for(60s), std::future_status::ready);
}

// The server was not asked: nobody may take it for silent.
TEST_F(RpcTest, WithoutAThreadForItsConnectionACallIsRefusedAsBusy) {
  StartServer();
  {
    const ThreadShortage shortage;
    const auto refused = Echo(*client_, "early");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kBusy) << refused.error().message;
  }
  const auto later = Echo(*client_, "later");
  EXPECT_TRUE(later) << later.error().message;
}

TEST_F(RpcTest, ReconnectsAfterTheServerWasStartedAnew) {
  StartServer();
  ASSERT_TRUE(Echo(*client_, "before"));
  RpcServerOptions options;
  options.port = server_->port();
  server_.reset();
  EXPECT_FALSE(Echo(*client_, "between"));
  auto client = std::move(client_);
  StartServer(options);
  const auto after = Echo(*client, "after");
  ASSERT_TRUE(after) << after.error().message;
}

TEST_F(RpcTest, AConnectionAboveTheLimitIsClosed) {
  RpcServerOptions options;
  options.max_connections = 1;
  StartServer(options);
  ASSERT_TRUE(Echo(*client_, "one"));
  auto running = std::async(std::launch::async, [&] {
    ebbfs::ChunkStatusResponseProto response;
    return client_->Call("status", ebbfs::ChunkStatusRequestProto(), response);
  });
  gate_.AwaitWaiting(1);
  RpcClient second("127.0.0.1", server_->port(), kProtocol, 1);
  const auto refused = Echo(second, "two");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNetwork);
  gate_.Open();
  EXPECT_TRUE(running.get());
  EXPECT_TRUE(Echo(*client_, "still"));
}

TEST_F(RpcTest, HalfOpenConnectionsByTheThousandShutNobodyOut) {
  constexpr std::size_t kHalfOpen = 2'000;
  rlimit descriptors = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &descriptors), 0);
  descriptors.rlim_cur = descriptors.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &descriptors), 0);
  ASSERT_GT(descriptors.rlim_cur, kHalfOpen + 500) << "raise ulimit -n";

  RpcServerOptions options;
  options.max_connections = 64;
  StartServer(options);
  ASSERT_TRUE(Echo(*client_, "before"));
  // A call that runs all the time, on a connection of its own.
  RpcClient patient("127.0.0.1", server_->port(), kProtocol, 1);
  auto running = std::async(std::launch::async, [&] {
    ebbfs::ChunkStatusResponseProto response;
    return patient.Call("status", ebbfs::ChunkStatusRequestProto(), response);
  });
  gate_.AwaitWaiting(1);
  const std::string beginnings[] = {"",
                                    "hrp",
                                    Hello().substr(0, 9),
                                    Hello(),
                                    Hello() + std::string("\0\0\x01", 3),
                                    Hello() + std::string("\0\x20\0\0abc", 7)};
  std::vector<Socket> half_open;
  for (std::size_t i = 0; i < kHalfOpen; ++i) {
    half_open.push_back(RawConnection());
    auto ignored =
        rpc_wire::WriteBytes(half_open.back(), beginnings[i % std::size(beginnings)], 5s);
    if (i % 200 != 199) continue;
    // A client that has called before keeps its connection, and a new one gets in.
    const auto old_client = Echo(*client_, "old");
    ASSERT_TRUE(old_client) << i << ": " << old_client.error().message;
    RpcClient fresh("127.0.0.1", server_->port(), kProtocol, 1);
    const auto new_client = Echo(fresh, "new");
    ASSERT_TRUE(new_client) << i << ": " << new_client.error().message;
    EXPECT_LE(server_->connections(), options.max_connections);
  }
  gate_.Open();
  EXPECT_TRUE(running.get());
}

TEST_F(RpcTest, AFullQueueHoldsCallersBackAndLosesNothing) {
  RpcServerOptions options;
  options.handler_threads = 1;
  options.max_queued_calls = 2;
  StartServer(options);
  std::vector<std::future<Status>> calls;
  for (int i = 0; i < 20; ++i) {
    calls.push_back(std::async(std::launch::async, [&] {
      ebbfs::ChunkStatusResponseProto response;
      return client_->Call("status", ebbfs::ChunkStatusRequestProto(), response);
    }));
  }
  gate_.AwaitWaiting(1);
  gate_.Open();
  for (auto& call : calls) {
    const Status status = call.get();
    EXPECT_TRUE(status) << status.error().message;
  }
}

TEST_F(RpcTest, PingsAreSwallowed) {
  StartServer();
  Socket socket = RawConnection();
  std::string bytes = Hello();
  for (int i = 0; i < 3; ++i) bytes += Frame(rpc_wire::kCallIdPing, "");
  ASSERT_TRUE(rpc_wire::WriteBytes(socket, bytes, 5s));
  std::string call;
  rpc_wire::AppendDelimitedBytes(call, "");
  ASSERT_TRUE(rpc_wire::WriteBytes(socket, Frame(7, call), 5s));
  const auto header = ReadHeader(socket);
  EXPECT_EQ(header.callid(), 7u);
  EXPECT_EQ(header.status(), hadoop::common::RpcResponseHeaderProto::ERROR);
  EXPECT_EQ(header.clientid(), std::string(16, 'x'));
}

TEST_F(RpcTest, ASaslClientIsToldToGoOnWithoutIt) {
  StartServer();
  Socket socket = RawConnection();
  hadoop::common::RpcSaslProto negotiate;
  negotiate.set_state(hadoop::common::RpcSaslProto::NEGOTIATE);
  std::string message;
  rpc_wire::AppendDelimited(message, negotiate);
  std::string bytes = "hrpc\x09";
  bytes += std::string("\0\xDF", 2);
  bytes += Frame(rpc_wire::kCallIdSasl, message);
  ASSERT_TRUE(rpc_wire::WriteBytes(socket, bytes, 5s));
  const auto header = ReadHeader(socket);
  EXPECT_EQ(header.status(), hadoop::common::RpcResponseHeaderProto::SUCCESS);
  EXPECT_EQ(static_cast<std::int32_t>(header.callid()), rpc_wire::kCallIdSasl);
}

TEST_F(RpcTest, InvalidCallsAreAnsweredAsFatalAndClosed) {
  StartServer();
  std::string call;
  rpc_wire::AppendDelimitedBytes(call, "");
  const std::string preamble = Hello().substr(0, rpc_wire::kPreambleBytes);
  using Header = hadoop::common::RpcRequestHeaderProto;
  const std::vector<std::string> bad = {
      std::string("hrpc\x08\0\0", 7),
      std::string("hrpc\x09\0\x07", 7),
      preamble + Frame(1, call),
      preamble + std::string("\0\0\0\x03\x7F\x01\x02", 7),
      Hello() + Hello().substr(rpc_wire::kPreambleBytes),
      Hello() + Frame(-9, call),
      Hello() + Frame(rpc_wire::kCallIdSasl, call),
      Hello() + Frame(1, call, [](Header& h) { h.set_rpckind(hadoop::common::RPC_WRITABLE); }),
      Hello() + Frame(1, call, [](Header& h) { h.set_rpcop(Header::RPC_CLOSE_CONNECTION); }),
  };
  for (std::size_t i = 0; i < bad.size(); ++i) {
    SCOPED_TRACE(i);
    Socket socket = RawConnection();
    ASSERT_TRUE(rpc_wire::WriteBytes(socket, bad[i], 5s));
    EXPECT_EQ(ReadHeader(socket).status(), hadoop::common::RpcResponseHeaderProto::FATAL);
    std::byte one[1];
    const auto end = socket.ReadSome(one, 10s);
    EXPECT_TRUE(!end || *end == 0);
  }
  EXPECT_TRUE(Echo(*client_, "alive"));
}

TEST_F(RpcTest, AnHttpClientGetsAPlainAnswer) {
  StartServer();
  Socket socket = RawConnection();
  ASSERT_TRUE(rpc_wire::WriteBytes(socket, "GET / HTTP/1.1\r\n\r\n", 5s));
  std::array<std::byte, 12> begin;
  ASSERT_TRUE(socket.ReadExact(begin, 10s));
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(begin.data()), 12), "HTTP/1.1 404");
}

TEST_F(RpcTest, SilentPeersAreClosed) {
  RpcServerOptions options;
  options.frame_timeout = 50ms;
  options.idle_timeout = 50ms;
  StartServer(options);
  for (const std::string& begin :
       {std::string(), std::string("hrp"), Hello().substr(0, 9), Hello(),
        Hello() + std::string("\0\0\x01", 3), Hello() + std::string("\0\0\x01\0abc", 7)}) {
    Socket socket = RawConnection();
    ASSERT_TRUE(rpc_wire::WriteBytes(socket, begin, 5s));
    std::byte one[1];
    const auto end = socket.ReadSome(one, 10s);
    EXPECT_TRUE(!end || *end == 0) << "still open after " << begin.size() << " bytes";
  }
}

// Sends random bytes, random frames and mutations of valid conversations. The server neither
// crashes nor hangs, and continues to serve other clients.
TEST_F(RpcTest, GarbageNeverStopsTheServer) {
  RpcServerOptions options;
  options.max_request_bytes = 1 << 16;
  options.max_connections = 500;  // more than the connections below
  StartServer(options);
  const auto seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  const auto bytes = [&](std::size_t n) {
    std::string s(n, '\0');
    for (char& c : s) c = static_cast<char>(random());
    return s;
  };
  std::string call;
  hadoop::common::RequestHeaderProto header;
  header.set_methodname("combine");
  header.set_declaringclassprotocolname(kProtocol);
  header.set_clientprotocolversion(1);
  rpc_wire::AppendDelimited(call, header);
  rpc_wire::AppendDelimitedBytes(call, Request("x").SerializeAsString());
  const std::string good = Hello() + Frame(0, call) + Frame(1, call);
  for (int i = 0; i < 400; ++i) {
    std::string message;
    switch (random() % 4) {
      case 0:
        message = bytes(random() % 300);
        break;
      case 1:
        message = Hello() + Frame(static_cast<int>(random() % 9), bytes(random() % 200));
        break;
      case 2:
        message = Hello() + bytes(random() % 100);
        break;
      default:
        message = good.substr(0, 1 + random() % good.size());
        for (auto n = random() % 4; n > 0; --n) {
          message[random() % message.size()] = static_cast<char>(random());
        }
    }
    Socket socket = RawConnection();
    // The server may close before it has read everything.
    auto ignored = rpc_wire::WriteBytes(socket, message, 5s);
  }
  RpcClient fresh("127.0.0.1", server_->port(), kProtocol, 1);
  const auto alive = Echo(fresh, "alive");
  ASSERT_TRUE(alive) << alive.error().message;
}

// The client against a server that sends invalid answers.
TEST(RpcClientTest, NonsenseFromTheServerIsAnError) {
  auto listener = Listener::Listen("127.0.0.1", 0);
  ASSERT_TRUE(listener);
  const std::vector<std::string> answers = {
      std::string("\0\0\0\0", 4), std::string("\xFF\xFF\xFF\xFF", 4),
      std::string("\0\0\0\x02\x05\x01", 6), std::string("\0\0\0\x06\x05\x08\0\x10\0\0", 10), ""};
  std::jthread serve([&] {
    for (const std::string& answer : answers) {
      auto socket = listener->Accept();
      if (!socket) return;
      std::array<std::byte, 4> begin;
      if (!socket->ReadExact(begin, 5s)) return;
      if (!rpc_wire::WriteBytes(*socket, answer, 5s)) return;
    }
  });
  RpcClient client("127.0.0.1", listener->port(), kProtocol, 1);
  ebbfs::ChunkStatusResponseProto response;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto status = client.Call("status", ebbfs::ChunkStatusRequestProto(), response, 10s);
    ASSERT_FALSE(status) << i;
    EXPECT_EQ(status.error().code, ErrorCode::kNetwork) << status.error().message;
  }
}

TEST(RpcClientTest, AStalledServerTimesOutAndIsLeft) {
  auto listener = Listener::Listen("127.0.0.1", 0);
  ASSERT_TRUE(listener);
  RpcClient client("127.0.0.1", listener->port(), kProtocol, 1);
  ebbfs::ChunkStatusResponseProto response;
  const auto status = client.Call("status", ebbfs::ChunkStatusRequestProto(), response, 50ms);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kTimeout);
  auto first = listener->Accept();
  ASSERT_TRUE(first);
  std::vector<std::byte> all(4096);
  ASSERT_TRUE(first->ReadSome(all, 5s));
  const auto end = first->ReadSome(all, 5s);
  EXPECT_TRUE(!end || *end == 0);
}

}  // namespace
}  // namespace ebb
