#include "rpc/service_key.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "chunk.pb.h"
#include "rpc/client.h"
#include "rpc/server.h"

namespace ebb {
namespace {

constexpr char kSignedProtocol[] = "io.ebbfs.protocol.ChunkProtocol";

class ServiceKeyTest : public testing::Test {
 protected:
  ServiceKeyTest() { std::filesystem::create_directories(directory_); }
  ~ServiceKeyTest() override { std::filesystem::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& text, mode_t mode) const {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }

  ServiceKey Key(char letter) const {
    return *ServiceKey::Read(Write(std::string(1, letter), std::string(64, letter) + "\n", 0600));
  }

  const std::string directory_ =
      fmt::format("{}/service_key_test.{}", testing::TempDir(), getpid());
};

TEST_F(ServiceKeyTest, ReadsOnlyAFileThatIsLongAndPrivate) {
  EXPECT_TRUE(Key('a').present());
  const auto open = ServiceKey::Read(Write("open", std::string(64, 'x'), 0640));
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().message.find("chmod 600"), std::string::npos);
  EXPECT_FALSE(ServiceKey::Read(Write("short", "x\n", 0600)));
  EXPECT_FALSE(ServiceKey::Read(Write("empty", "", 0600)));
  EXPECT_FALSE(ServiceKey::Read(directory_ + "/none"));
}

TEST_F(ServiceKeyTest, AcceptsItsOwnProofForTheSameProtocolOnly) {
  hadoop::common::RpcRequestHeaderProto header;
  Key('a').Sign(header, kSignedProtocol);
  const auto& proof = header.callercontext();
  EXPECT_TRUE(Key('a').Check(proof, kSignedProtocol, "10.0.0.1:1"));
  EXPECT_FALSE(Key('b').Check(proof, kSignedProtocol, "10.0.0.1:1"));
  EXPECT_FALSE(Key('a').Check(proof, "other", "10.0.0.1:1"));
  EXPECT_FALSE(Key('a').Check({}, kSignedProtocol, "10.0.0.1:1"));
  auto changed = proof;
  changed.set_context(proof.context() + "0");
  EXPECT_FALSE(Key('a').Check(changed, kSignedProtocol, "10.0.0.1:1"));
  changed = proof;
  changed.mutable_signature()->pop_back();
  EXPECT_FALSE(Key('a').Check(changed, kSignedProtocol, "10.0.0.1:1"));
}

TEST_F(ServiceKeyTest, WithoutAKeyOnlyThisMachineIsAnswered) {
  EXPECT_TRUE(ServiceKey().Check({}, kSignedProtocol, "127.0.0.1:80"));
  EXPECT_FALSE(ServiceKey().Check({}, kSignedProtocol, "10.0.0.1:80"));
  EXPECT_FALSE(ServiceKey().Check({}, kSignedProtocol, "12.127.0.1:80"));
}

TEST_F(ServiceKeyTest, AServerRefusesACallerWithoutTheKeyAndNamesTheFile) {
  RpcServer server(RpcServerOptions{});
  RpcHandlers handlers;
  int calls = 0;
  handlers["status"] = MakeRpcHandler<ebbfs::ChunkStatusRequestProto>(
      [&calls](const RpcCaller&, const ebbfs::ChunkStatusRequestProto&)
          -> Result<ebbfs::ChunkStatusResponseProto> {
        ++calls;
        return ebbfs::ChunkStatusResponseProto();
      });
  server.RegisterService(kSignedProtocol, 1, std::move(handlers), Key('a'));
  ASSERT_TRUE(server.Start());
  const auto call = [&](ServiceKey key) {
    RpcClient client("127.0.0.1", server.port(), kSignedProtocol, 1, "tester", {.key = std::move(key)});
    ebbfs::ChunkStatusResponseProto response;
    return client.Call("status", ebbfs::ChunkStatusRequestProto(), response);
  };
  EXPECT_TRUE(call(Key('a')));
  EXPECT_EQ(calls, 1);
  for (const auto& stranger : {ServiceKey(), Key('b')}) {
    const auto refused = call(stranger);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().exception_class,
              "org.apache.hadoop.security.AccessControlException");
    EXPECT_NE(refused.error().message.find(directory_ + "/a"), std::string::npos);
  }
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace ebb
