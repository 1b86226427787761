// Which of several namenodes gives the plan of a degraded read, over sockets.
#include "combine/read_plan_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "rpc/server.h"

namespace ebb {
namespace {

using std::chrono::seconds;

// Answers with a plan without sources, or refuses.
class FakeNamenode {
 public:
  explicit FakeNamenode(std::string exception = {})
      : exception_(std::move(exception)), rpc_(RpcServerOptions()) {
    RpcHandlers handlers;
    handlers["getReadPlan"] = MakeRpcHandler<ebbfs::GetReadPlanRequestProto>(
        [this](const RpcCaller&, const auto&) -> Result<ebbfs::GetReadPlanResponseProto> {
          ++calls;
          if (!exception_.empty()) {
            return std::unexpected(Error{ErrorCode::kBusy, "refused", exception_});
          }
          ebbfs::GetReadPlanResponseProto response;
          response.set_coefficients("");
          response.set_lengthbytes(0);
          return response;
        });
    rpc_.RegisterService("io.ebbfs.protocol.CodingProtocol", 1, std::move(handlers));
    EXPECT_TRUE(rpc_.Start());
  }
  RpcAddress address() const { return {"127.0.0.1", rpc_.port()}; }

  std::atomic<int> calls = 0;

 private:
  const std::string exception_;
  RpcServer rpc_;
};

ebbfs::GetReadPlanRequestProto Request() {
  ebbfs::GetReadPlanRequestProto request;
  request.mutable_block()->set_poolid("BP-1");
  request.mutable_block()->set_blockid(1);
  request.mutable_block()->set_generationstamp(1001);
  return request;
}

TEST(ReadPlanClientTest, AsksTheNamenodeThatServes) {
  auto dead = std::make_unique<FakeNamenode>();
  FakeNamenode standby("org.apache.hadoop.ipc.StandbyException");
  FakeNamenode active;
  ReadPlanClient client({dead->address(), standby.address(), active.address()}, seconds(10));
  dead.reset();
  for (int i = 1; i <= 3; ++i) {
    const auto plan = client.GetReadPlan(Request());
    ASSERT_TRUE(plan.has_value()) << plan.error().message;
    EXPECT_EQ(active.calls, i);
  }
  EXPECT_EQ(standby.calls, 1) << "the one that answered last is asked first";
}

TEST(ReadPlanClientTest, AnErrorOfTheNamenodeThatServesIsTheAnswer) {
  FakeNamenode active("org.apache.hadoop.hdfs.BlockMissingException");
  FakeNamenode other;
  ReadPlanClient client({active.address(), other.address()}, seconds(10));
  const auto plan = client.GetReadPlan(Request());
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().code, ErrorCode::kNotFound) << plan.error().message;
  EXPECT_EQ(other.calls, 0);
}

TEST(ReadPlanClientTest, GivesUpWhenNoneServesInTime) {
  FakeNamenode first("org.apache.hadoop.ipc.StandbyException");
  FakeNamenode second("org.apache.hadoop.ipc.StandbyException");
  ReadPlanClient client({first.address(), second.address()}, seconds(1));
  const auto plan = client.GetReadPlan(Request());
  ASSERT_FALSE(plan.has_value());
  EXPECT_TRUE(IsStandby(plan.error())) << plan.error().message;
  EXPECT_GT(first.calls, 1) << "another may serve after a while";
}

}  // namespace
}  // namespace ebb
