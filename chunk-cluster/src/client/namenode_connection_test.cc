#include "client/namenode_connection.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "ClientNamenodeProtocol.pb.h"
#include "common/thread_shortage.h"
#include "rpc/server.h"

namespace ebb::client {
namespace {

using namespace hadoop::hdfs;
using ebb::Status;

constexpr char kStandby[] = "org.apache.hadoop.ipc.StandbyException";
constexpr char kRetriable[] = "org.apache.hadoop.ipc.RetriableException";

// A namenode that answers "delete" with these exceptions in turn, and then with true.
class Namenode {
 public:
  explicit Namenode(std::vector<std::string> exceptions)
      : left_(std::move(exceptions)), server_(RpcServerOptions{}) {
    RpcHandlers handlers;
    handlers["delete"] = MakeRpcHandler<DeleteRequestProto>(
        [this](const RpcCaller& caller, const DeleteRequestProto&) { return Answer(caller); });
    server_.RegisterService("org.apache.hadoop.hdfs.protocol.ClientProtocol", 1,
                            std::move(handlers));
    EXPECT_TRUE(server_.Start());
  }
  RpcAddress address() const { return {"127.0.0.1", server_.port()}; }

  std::vector<RpcCaller> callers;

 private:
  Result<DeleteResponseProto> Answer(const RpcCaller& caller) {
    callers.push_back(caller);
    if (!left_.empty()) {
      const Error error{ErrorCode::kIo, "not now", left_.front()};
      left_.erase(left_.begin());
      return std::unexpected(error);
    }
    DeleteResponseProto response;
    response.set_result(true);
    return response;
  }

  std::vector<std::string> left_;
  RpcServer server_;
};

Status Delete(NamenodeConnection& connection) {
  DeleteRequestProto request;
  request.set_src("/f");
  request.set_recursive(false);
  DeleteResponseProto response;
  return connection.Call("delete", request, response);
}

RetryPolicy Policy(int retries) {
  return {.most_retries = retries,
          .base = Timeout(1),
          .most = Timeout(2),
          .call = std::chrono::seconds(20),
          .connect = std::chrono::seconds(20)};
}

TEST(NamenodeConnectionTest, ACallKeepsItsNameOnItsWayToTheNamenodeThatServes) {
  Namenode first({kStandby});
  Namenode second({kRetriable});
  NamenodeConnection connection({first.address(), second.address()}, Policy(5), "alice");
  ASSERT_TRUE(Delete(connection));
  ASSERT_EQ(first.callers.size(), 1U);
  ASSERT_EQ(second.callers.size(), 2U);
  for (const auto& caller : second.callers) {
    EXPECT_EQ(caller.user, "alice");
    EXPECT_EQ(caller.client_id, first.callers[0].client_id);
    EXPECT_EQ(caller.call_id, first.callers[0].call_id);
  }
  EXPECT_EQ(second.callers[1].retry_count, 2);
  // The next call begins where the last one was answered, with a name of its own.
  ASSERT_TRUE(Delete(connection));
  EXPECT_EQ(first.callers.size(), 1U);
  EXPECT_NE(second.callers[2].call_id, second.callers[1].call_id);
}

TEST(NamenodeConnectionTest, ADeadNamenodeIsLeftForTheNextOne) {
  auto first = std::make_unique<Namenode>(std::vector<std::string>());
  Namenode second({});
  NamenodeConnection connection({first->address(), second.address()}, Policy(5), "alice");
  ASSERT_TRUE(Delete(connection));
  first.reset();
  ASSERT_TRUE(Delete(connection));
  EXPECT_EQ(second.callers.size(), 1U);
}

TEST(NamenodeConnectionTest, AttemptsAreBoundedAndExceptionsEndACall) {
  Namenode standby(std::vector<std::string>(100, kStandby));
  NamenodeConnection bounded({standby.address()}, Policy(3), "alice");
  const auto failed = Delete(bounded);
  ASSERT_FALSE(failed);
  EXPECT_EQ(standby.callers.size(), 4U);
  EXPECT_NE(failed.error().message.find("after 4 attempts"), std::string::npos);
  Namenode refusing({"org.apache.hadoop.security.AccessControlException"});
  NamenodeConnection once({refusing.address()}, Policy(3), "alice");
  const auto refused = Delete(once);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().exception_message, "not now");
  EXPECT_EQ(refusing.callers.size(), 1U);
}

TEST(NamenodeConnectionTest, TheDeadlineBoundsAllAttempts) {
  Namenode busy(std::vector<std::string>(1000, kRetriable));
  auto policy = Policy(1000);
  policy.base = Timeout(5);
  policy.most = Timeout(5);
  policy.deadline = Timeout(60);
  NamenodeConnection connection({busy.address()}, policy, "alice");
  const auto ended = Delete(connection);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().exception_class, kRetriable);
  EXPECT_LE(busy.callers.size(), 12U) << "an attempt in 5 ms";
}

TEST(NamenodeConnectionTest, ACallIsRepeatedIfThereWasNoThreadForIt) {
  Namenode namenode({});
  NamenodeConnection connection({namenode.address()}, Policy(3), "alice");
  {
    const ThreadShortage shortage;
    const auto failed = Delete(connection);
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message.find("no thread is left"), std::string::npos);
    EXPECT_NE(failed.error().message.find("after 4 attempts"), std::string::npos);
  }
  EXPECT_TRUE(Delete(connection));
}

TEST(NamenodeConnectionTest, CloseEndsACallThatWaits) {
  Namenode standby(std::vector<std::string>(100, kStandby));
  RetryPolicy policy = Policy(50);
  policy.base = policy.most = std::chrono::hours(1);
  NamenodeConnection connection({standby.address()}, policy, "alice");
  auto call = std::async(std::launch::async, [&] { return Delete(connection); });
  connection.Close();
  EXPECT_FALSE(call.get());
}

}  // namespace
}  // namespace ebb::client
