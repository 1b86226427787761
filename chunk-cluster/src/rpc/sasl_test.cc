// Clients that authenticate, at a server that says what a test wants it to say.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "IpcConnectionContext.pb.h"
#include "ProtobufRpcEngine2.pb.h"
#include "RpcHeader.pb.h"
#include "chunk.pb.h"
#include "common/socket.h"
#include "rpc/authenticator.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "rpc/wire.h"

namespace ebb {
namespace {

using namespace std::chrono_literals;
using hadoop::common::RpcRequestHeaderProto;
using hadoop::common::RpcResponseHeaderProto;
using hadoop::common::RpcSaslProto;

constexpr char kServedProtocol[] = "io.ebbfs.protocol.ChunkProtocol";
constexpr char kDenied[] = "org.apache.hadoop.security.AccessControlException";

std::string Reversed(std::string_view text) { return {text.rbegin(), text.rend()}; }

// Says its name first, and then each token backwards.
class BackwardsExchange final : public SaslExchange {
 public:
  Result<std::string> Respond(std::string_view token) override {
    if (token == "unbearable") return Fail(ErrorCode::kInvalid, "the token cannot be borne");
    if (token == "end") return std::string();
    if (token.empty()) return std::string("alice");
    complete_ = true;
    return Reversed(token);
  }
  bool complete() const override { return complete_; }

 private:
  bool complete_ = false;
};

class BackwardsAuthenticator final : public Authenticator {
 public:
  Result<std::unique_ptr<SaslExchange>> Begin(const SaslOffer& offer,
                                              const std::string& server) override {
    offers.push_back(offer);
    servers.push_back(server);
    if (offer.mechanism != "BACKWARDS") return nullptr;
    return std::make_unique<BackwardsExchange>();
  }

  std::vector<SaslOffer> offers;
  std::vector<std::string> servers;
};

// The server's side of one connection.
class SaslPeer {
 public:
  explicit SaslPeer(Socket socket) : socket_(std::move(socket)) {
    std::array<std::byte, rpc_wire::kPreambleBytes> preamble = {};
    EXPECT_TRUE(socket_.ReadExact(preamble, 20s));
    authentication = std::to_integer<std::uint8_t>(preamble[6]);
  }

  RpcSaslProto Read() {
    RpcSaslProto message;
    EXPECT_EQ(ReadFrame(message), rpc_wire::kCallIdSasl);
    return message;
  }

  void Expect(RpcSaslProto::SaslState state, const std::string& token) {
    const auto message = Read();
    EXPECT_EQ(message.state(), state);
    EXPECT_EQ(message.token(), token);
  }

  void Write(RpcSaslProto::SaslState state, const std::string& token) {
    RpcSaslProto message;
    message.set_state(state);
    if (!token.empty()) message.set_token(token);
    Write(message);
  }

  void Write(const RpcSaslProto& message) {
    RpcResponseHeaderProto header;
    header.set_callid(static_cast<std::uint32_t>(rpc_wire::kCallIdSasl));
    header.set_status(RpcResponseHeaderProto::SUCCESS);
    WriteFrame(header, &message);
  }

  // The offers of a server: one that nobody knows, and this one.
  static RpcSaslProto Offers(const std::string& method, const std::string& mechanism,
                             const std::string& challenge) {
    RpcSaslProto message;
    message.set_state(RpcSaslProto::NEGOTIATE);
    auto& unknown = *message.add_auths();
    unknown.set_method("TOKEN");
    unknown.set_mechanism("UNKNOWN");
    auto& offer = *message.add_auths();
    offer.set_method(method);
    offer.set_mechanism(mechanism);
    offer.set_protocol("nn");
    offer.set_serverid("host");
    if (!challenge.empty()) offer.set_challenge(challenge);
    return message;
  }

  void Refuse() {
    RpcResponseHeaderProto header;
    header.set_callid(static_cast<std::uint32_t>(rpc_wire::kCallIdSasl));
    header.set_status(RpcResponseHeaderProto::FATAL);
    header.set_exceptionclassname(kDenied);
    header.set_errormsg("who are you?\n\tat a stack");
    header.set_errordetail(RpcResponseHeaderProto::FATAL_UNAUTHORIZED);
    WriteFrame(header, nullptr);
  }

  // Reads the connection context and one call, and answers the call.
  void Serve() {
    EXPECT_EQ(ReadFrame(context), rpc_wire::kCallIdConnectionContext);
    hadoop::common::RequestHeaderProto call;
    RpcResponseHeaderProto header;
    header.set_callid(static_cast<std::uint32_t>(ReadFrame(call)));
    header.set_status(RpcResponseHeaderProto::SUCCESS);
    const ebbfs::ChunkStatusResponseProto answer;
    WriteFrame(header, &answer);
  }

  // Until the client goes away.
  void Linger() {
    std::array<std::byte, 100> ignored;
    for (auto n = socket_.ReadSome(ignored, 20s); n && *n > 0;) n = socket_.ReadSome(ignored, 20s);
  }

  std::uint8_t authentication = 1;
  hadoop::common::IpcConnectionContextProto context;

 private:
  // The call id.
  std::int32_t ReadFrame(google::protobuf::MessageLite& message) {
    const auto frame = rpc_wire::ReadFrame(socket_, 1 << 20, 20s);
    EXPECT_TRUE(frame) << frame.error().message;
    if (!frame) return 0;
    rpc_wire::Cursor cursor(*frame);
    RpcRequestHeaderProto header;
    EXPECT_TRUE(cursor.Next(header, "header"));
    EXPECT_TRUE(cursor.Next(message, "message"));
    return header.callid();
  }

  void WriteFrame(const RpcResponseHeaderProto& header,
                  const google::protobuf::MessageLite* message) {
    std::string frame = rpc_wire::BeginFrame();
    rpc_wire::AppendDelimited(frame, header);
    if (message != nullptr) rpc_wire::AppendDelimited(frame, *message);
    rpc_wire::EndFrame(frame);
    EXPECT_TRUE(rpc_wire::WriteBytes(socket_, frame, 20s));
  }

  Socket socket_;
};

class SaslTest : public ::testing::Test {
 protected:
  // The server that takes one connection, and runs this script on it.
  void StartServer(std::function<void(SaslPeer&)> script) {
    listener_ = Listener::Listen("127.0.0.1", 0).value();
    port_ = listener_.port();
    server_ = std::thread([this, script = std::move(script)] {
      auto socket = listener_.Accept();
      if (!socket) return;
      SaslPeer peer(std::move(*socket));
      script(peer);
      peer.Linger();
      authentication_ = peer.authentication;
      context_ = peer.context;
    });
  }

  // A call of a client whose server may take so long for the negotiation. The server has ended
  // then.
  Status Call(bool allow_simple = false, Timeout patience = 20s) {
    RpcClientOptions options;
    options.connect_timeout = patience;
    options.authentication = {authenticator_, allow_simple};
    Status status;
    {
      RpcClient client("127.0.0.1", port_, kServedProtocol, 1, "bob", options);
      ebbfs::ChunkStatusResponseProto response;
      status = client.Call("status", ebbfs::ChunkStatusRequestProto(), response, 20s);
    }
    if (server_.joinable()) server_.join();
    return status;
  }

  void TearDown() override {
    listener_.Shutdown();
    if (server_.joinable()) server_.join();
  }

  void ExpectFailure(const Status& status, ErrorCode code, const std::string& part) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, code) << status.error().message;
    EXPECT_TRUE(status.error().message.contains(part)) << status.error().message;
  }

  std::shared_ptr<BackwardsAuthenticator> authenticator_ =
      std::make_shared<BackwardsAuthenticator>();
  Listener listener_;
  std::thread server_;
  std::uint16_t port_ = 0;
  std::uint8_t authentication_ = 1;
  hadoop::common::IpcConnectionContextProto context_;
};

TEST_F(SaslTest, TokensGoToAndFroUntilTheServerIsContent) {
  StartServer([](SaslPeer& peer) {
    peer.Expect(RpcSaslProto::NEGOTIATE, "");
    peer.Write(SaslPeer::Offers("TEST", "BACKWARDS", ""));
    const auto begin = peer.Read();
    EXPECT_EQ(begin.state(), RpcSaslProto::INITIATE);
    EXPECT_EQ(begin.token(), "alice");
    ASSERT_EQ(begin.auths_size(), 1);
    EXPECT_EQ(begin.auths(0).method(), "TEST");
    EXPECT_EQ(begin.auths(0).serverid(), "host");
    peer.Write(RpcSaslProto::CHALLENGE, "abc");
    peer.Expect(RpcSaslProto::RESPONSE, "cba");
    peer.Write(RpcSaslProto::CHALLENGE, "de");
    peer.Expect(RpcSaslProto::RESPONSE, "ed");
    peer.Write(RpcSaslProto::SUCCESS, "");
    peer.Serve();
  });
  const auto answered = Call();
  ASSERT_TRUE(answered) << answered.error().message;
  EXPECT_EQ(authentication_, rpc_wire::kAuthSasl);
  EXPECT_EQ(context_.protocol(), kServedProtocol);
  EXPECT_FALSE(context_.has_userinfo()) << "the server knows the user";
  ASSERT_EQ(authenticator_->offers.size(), 2U);
  EXPECT_EQ(authenticator_->offers[0].mechanism, "UNKNOWN");
  EXPECT_EQ(authenticator_->offers[1].method, "TEST");
  EXPECT_EQ(authenticator_->offers[1].protocol, "nn");
  EXPECT_EQ(authenticator_->offers[1].server_id, "host");
  EXPECT_EQ(authenticator_->servers[1], "127.0.0.1:" + std::to_string(port_));
}

TEST_F(SaslTest, TheFirstAndTheLastTokenMayBeTheServers) {
  StartServer([](SaslPeer& peer) {
    peer.Expect(RpcSaslProto::NEGOTIATE, "");
    peer.Write(SaslPeer::Offers("TEST", "BACKWARDS", "abc"));
    const auto begin = peer.Read();
    EXPECT_EQ(begin.token(), "cba");
    ASSERT_EQ(begin.auths_size(), 1);
    EXPECT_FALSE(begin.auths(0).has_challenge());
    peer.Write(RpcSaslProto::SUCCESS, "end");
    peer.Serve();
  });
  const auto answered = Call();
  EXPECT_TRUE(answered) << answered.error().message;
}

TEST_F(SaslTest, WhoeverIsRefusedLearnsWhy) {
  StartServer([](SaslPeer& peer) {
    peer.Expect(RpcSaslProto::NEGOTIATE, "");
    peer.Write(SaslPeer::Offers("TEST", "BACKWARDS", ""));
    peer.Expect(RpcSaslProto::INITIATE, "alice");
    peer.Refuse();
  });
  const auto refused = Call();
  ExpectFailure(refused, ErrorCode::kRemote, "who are you?");
  EXPECT_EQ(refused.error().exception_class, kDenied);
  EXPECT_EQ(refused.error().exception_message, "who are you?");
  EXPECT_FALSE(refused.error().message.contains("Authenticator"));
}

TEST_F(SaslTest, WhoeverHasNoAuthenticatorLearnsThatAServerWantsOne) {
  authenticator_ = nullptr;
  StartServer([](SaslPeer& peer) { peer.Refuse(); });
  const auto refused = Call();
  ExpectFailure(refused, ErrorCode::kRemote, "give it an Authenticator, or use 'hdfs dfs'");
  EXPECT_EQ(refused.error().exception_message, "who are you?");
  EXPECT_EQ(authentication_, rpc_wire::kAuthNone);
}

TEST_F(SaslTest, AnErrorOfTheMechanismIsTheErrorOfTheCall) {
  StartServer([](SaslPeer& peer) {
    peer.Expect(RpcSaslProto::NEGOTIATE, "");
    peer.Write(SaslPeer::Offers("TEST", "BACKWARDS", "unbearable"));
  });
  ExpectFailure(Call(), ErrorCode::kInvalid, "the token cannot be borne");
}

TEST_F(SaslTest, TheTwoSidesMayHaveNothingInCommon) {
  for (const bool allow_simple : {false, true}) {
    StartServer([](SaslPeer& peer) {
      peer.Expect(RpcSaslProto::NEGOTIATE, "");
      peer.Write(SaslPeer::Offers("KERBEROS", "GSSAPI", ""));
    });
    ExpectFailure(Call(allow_simple), ErrorCode::kUnsupported, "TOKEN/UNKNOWN, KERBEROS/GSSAPI");
  }
}

TEST_F(SaslTest, SimpleIsTakenOnlyIfThatIsAllowed) {
  const auto script = [](SaslPeer& peer) {
    peer.Expect(RpcSaslProto::NEGOTIATE, "");
    peer.Write(SaslPeer::Offers("SIMPLE", "", ""));
  };
  StartServer(script);
  ExpectFailure(Call(), ErrorCode::kUnsupported, "SIMPLE/");
  StartServer([&](SaslPeer& peer) {
    script(peer);
    const auto begin = peer.Read();
    EXPECT_EQ(begin.state(), RpcSaslProto::INITIATE);
    ASSERT_EQ(begin.auths_size(), 1);
    EXPECT_EQ(begin.auths(0).method(), "SIMPLE");
    peer.Serve();
  });
  const auto answered = Call(true);
  EXPECT_TRUE(answered) << answered.error().message;
  EXPECT_EQ(context_.userinfo().effectiveuser(), "bob");
}

// The servers of EbbFS.
TEST_F(SaslTest, AServerThatKnowsNoSaslIsTakenOnlyIfThatIsAllowed) {
  RpcServer server(RpcServerOptions{});
  std::string user;
  RpcHandlers handlers;
  handlers["status"] = MakeRpcHandler<ebbfs::ChunkStatusRequestProto>(
      [&](const RpcCaller& caller,
          const ebbfs::ChunkStatusRequestProto&) -> Result<ebbfs::ChunkStatusResponseProto> {
        user = caller.user;
        return ebbfs::ChunkStatusResponseProto();
      });
  server.RegisterService(kServedProtocol, 1, std::move(handlers));
  ASSERT_TRUE(server.Start());
  port_ = server.port();
  ExpectFailure(Call(), ErrorCode::kUnsupported, "ipc.client.fallback-to-simple-auth-allowed");
  const auto answered = Call(true);
  ASSERT_TRUE(answered) << answered.error().message;
  EXPECT_EQ(user, "bob");
}

TEST_F(SaslTest, AServerIsNotTrustedBeforeTheMechanismIs) {
  StartServer([](SaslPeer& peer) {
    peer.Expect(RpcSaslProto::NEGOTIATE, "");
    peer.Write(SaslPeer::Offers("TEST", "BACKWARDS", ""));
    peer.Expect(RpcSaslProto::INITIATE, "alice");
    peer.Write(RpcSaslProto::SUCCESS, "");
  });
  ExpectFailure(Call(true), ErrorCode::kNetwork, "before the client is content");
}

TEST_F(SaslTest, AServerThatBreaksTheProtocolIsLeft) {
  const std::vector<std::function<void(SaslPeer&)>> scripts = {
      [](SaslPeer& peer) { peer.Write(RpcSaslProto::CHALLENGE, "abc"); },
      [](SaslPeer& peer) { peer.Write(RpcSaslProto::WRAP, "abc"); },
      [](SaslPeer& peer) {
        peer.Write(SaslPeer::Offers("TEST", "BACKWARDS", ""));
        peer.Write(SaslPeer::Offers("TEST", "BACKWARDS", ""));
      },
      [](SaslPeer& peer) {
        peer.Write(SaslPeer::Offers("TEST", "BACKWARDS", ""));
        for (int i = 0; i < 19; ++i) peer.Write(RpcSaslProto::CHALLENGE, "abc");
      }};
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    SCOPED_TRACE(i);
    StartServer(scripts[i]);
    ExpectFailure(Call(), ErrorCode::kNetwork, "the negotiation of SASL failed");
  }
}

TEST_F(SaslTest, TheWholeNegotiationHasATimeOut) {
  StartServer([](SaslPeer& peer) { peer.Expect(RpcSaslProto::NEGOTIATE, ""); });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(Call(false, 100ms));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

}  // namespace
}  // namespace ebb
