// ClientDatanodeProtocol: who may call, what a call sets off, and which calls are refused.
#include "server/client_datanode_service.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "ClientDatanodeProtocol.pb.h"
#include "disk/faulty_file_system.h"
#include "disk/test_support.h"
#include "rpc/client.h"
#include "rpc/server.h"

namespace ebb::server {
namespace {

using namespace ebb::testing;
using namespace hadoop::hdfs;

// The calls that a DataNode of HDFS answers to its superuser only.
const std::set<std::string> kCallsOfTheSuperuser = {
    "cancelDiskBalancerPlan", "deleteBlockPool",        "evictWriters",
    "getDiskBalancerSetting", "getReconfigurationStatus", "getVolumeReport",
    "listReconfigurableProperties", "queryDiskBalancerPlan", "refreshNamenodes",
    "shutdownDatanode",       "startReconfiguration",   "submitDiskBalancerPlan",
    "triggerBlockReport"};
const std::set<std::string> kCallsOfEverybody = {"getBalancerBandwidth", "getBlockLocalPathInfo",
                                                 "getDatanodeInfo", "getReplicaVisibleLength"};

class ClientDatanodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = OpenStore(files_, {directory_ / "a"});
    ASSERT_NE(store_, nullptr);
    RegisterClientDatanodeProtocol(rpc_, *store_,
                                   {.request_block_report = [this] { ++full_; },
                                    .request_incremental_report = [this] { ++incremental_; },
                                    .balancer_bandwidth = [] { return std::uint64_t{77}; },
                                    .evict_writers = [this] { return std::size_t{++evicted_}; }});
    ASSERT_TRUE(rpc_.Start());
  }
  void TearDown() override { rpc_.Stop(); }

  template <typename Response>
  Status CallAs(const std::string& user, const std::string& call,
                const google::protobuf::MessageLite& request, Response& response) {
    return RpcClient("127.0.0.1", rpc_.port(),
                     "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol", 1, user)
        .Call(call, request, response);
  }
  // The answer to a request without fields.
  Status Ask(const std::string& user, const std::string& call) {
    EvictWritersResponseProto response;
    return CallAs(user, call, EvictWritersRequestProto(), response);
  }
  // The class of the exception.
  std::string ExceptionOf(const std::string& user, const std::string& call) {
    const auto answer = Ask(user, call);
    return answer ? "" : answer.error().exception_class;
  }
  Status Trigger(bool incremental) {
    TriggerBlockReportRequestProto request;
    request.set_incremental(incremental);
    TriggerBlockReportResponseProto response;
    return CallAs(UserOfProcess(), "triggerBlockReport", request, response);
  }

  TemporaryDirectory directory_;
  FaultyFileSystem files_;
  std::unique_ptr<BlockStore> store_;
  RpcServer rpc_{RpcServerOptions()};
  std::atomic<int> full_ = 0;
  std::atomic<int> incremental_ = 0;
  std::atomic<std::size_t> evicted_ = 0;
};

TEST_F(ClientDatanodeTest, TheCallsOfTheSuperuserAreThoseOfADatanodeOfHdfs) {
  const std::string denied = "org.apache.hadoop.security.AccessControlException";
  for (const auto& call : kCallsOfTheSuperuser) {
    EXPECT_EQ(ExceptionOf("nobody-else", call), denied) << call;
    EXPECT_NE(ExceptionOf(UserOfProcess(), call), denied) << call;
  }
  for (const auto& call : kCallsOfEverybody) {
    EXPECT_NE(ExceptionOf("nobody-else", call), denied) << call;
  }
  EXPECT_EQ(evicted_, 1U);
}

TEST_F(ClientDatanodeTest, AUserWhoIsRefusedSetsNothingOff) {
  TriggerBlockReportRequestProto request;
  request.set_incremental(false);
  TriggerBlockReportResponseProto response;
  const auto refused = CallAs("nobody-else", "triggerBlockReport", request, response);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("user nobody-else"), std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().message.find("call as " + UserOfProcess()), std::string::npos)
      << refused.error().message;
  EXPECT_NE(ExceptionOf("nobody-else", "evictWriters"), "");
  EXPECT_EQ(full_, 0);
  EXPECT_EQ(evicted_, 0U);
}

TEST_F(ClientDatanodeTest, AReportIsFullOrIncrementalAsItWasAskedFor) {
  EXPECT_TRUE(Trigger(false));
  EXPECT_EQ(full_, 1);
  EXPECT_EQ(incremental_, 0);
  EXPECT_TRUE(Trigger(true));
  EXPECT_EQ(full_, 1);
  EXPECT_EQ(incremental_, 1);
}

// A stock namenode and HDFS's tools compare the version with their own.
TEST_F(ClientDatanodeTest, TheVersionIsThatOfHdfs) {
  GetDatanodeInfoResponseProto response;
  ASSERT_TRUE(CallAs("nobody-else", "getDatanodeInfo", GetDatanodeInfoRequestProto(), response));
  EXPECT_EQ(response.localinfo().softwareversion(), "3.5.0");
}

TEST_F(ClientDatanodeTest, ThePageOfProtocolsListsTheRefusedCallsAndEachHasARemedy) {
  std::set<std::string> refused;
  for (const auto& calls : {kCallsOfTheSuperuser, kCallsOfEverybody}) {
    for (const auto& call : calls) {
      const auto answer = Ask(UserOfProcess(), call);
      if (answer) continue;
      const auto& error = answer.error();
      EXPECT_EQ(error.exception_class.find("RpcNoSuchMethod"), std::string::npos) << call;
      if (error.exception_class != "java.lang.UnsupportedOperationException") continue;
      refused.insert(call);
      EXPECT_NE(error.exception_message.find(": "), std::string::npos)
          << call << ": no remedy follows the reason: " << error.message;
    }
  }
  // A row of the page has the names of some calls, each between two marks, in its second cell.
  std::set<std::string> listed;
  std::ifstream page(PROTOCOLS_PAGE);
  const std::string row = "| `ClientDatanodeProtocol` |";
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with(row)) continue;
    std::istringstream cell(line.substr(row.size(), line.find('|', row.size()) - row.size()));
    std::string between;
    for (std::string name; std::getline(cell, between, '`') && std::getline(cell, name, '`');) {
      listed.insert(name);
    }
  }
  EXPECT_EQ(refused, listed);
}

}  // namespace
}  // namespace ebb::server
