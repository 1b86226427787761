// Which connections get a thread, wait for one, or are closed.
#include "transfer/connection_pool.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <string>

#include "common/socket_reader.h"

namespace ebb::transfer {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Timeout kLong = minutes(2);
constexpr Timeout kSoon = seconds(20);

// Each operation is a letter: 'e' is answered with 'e'; 'h' holds its thread until Release; 'r'
// begins an operation without its rest, and the thread of the operation waits for the rest.
class PoolTest : public ::testing::Test {
 protected:
  void Open(ConnectionPool::Options options) {
    pool_ = std::make_unique<ConnectionPool>(options, counters_, [this](OpenConnection& opened) {
      return Run(opened);
    });
    ASSERT_TRUE(pool_->Start().has_value());
  }
  void TearDown() override {
    Release();
    pool_.reset();
  }
  Socket Connect() {
    auto pair = Socket::Pair();
    pool_->Add(std::move(pair->second), nullptr);
    return std::move(pair->first);
  }
  static void Send(Socket& socket, char letter) {
    const auto byte = static_cast<std::byte>(letter);
    ASSERT_TRUE(socket.WriteAll(std::span(&byte, 1), kSoon).has_value());
  }
  static bool IsEchoed(Socket& socket) {
    std::byte byte = {};
    return socket.ReadExact(std::span(&byte, 1), kSoon).has_value() && byte == std::byte{'e'};
  }
  static std::string Refusal(Socket& socket) {
    SocketReader reader(socket);
    hadoop::hdfs::BlockOpResponseProto response;
    if (!ReadMessage(reader, response, kSoon)) return "no answer";
    EXPECT_EQ(response.status(), hadoop::hdfs::ERROR);
    const auto end = reader.AtEnd(kSoon);
    EXPECT_TRUE(!end || *end);
    return response.message();
  }
  static bool IsClosed(Socket& socket) {
    std::byte byte = {};
    const auto got = socket.ReadSome(std::span(&byte, 1), kSoon);
    return (got && *got == 0) || (!got && got.error().code == ErrorCode::kNetwork);
  }
  void AwaitHeld(int count) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, kSoon, [&] { return held_ >= count; }));
  }
  void Release() {
    {
      const std::lock_guard lock(mutex_);
      released_ = true;
    }
    changed_.notify_all();
  }

  TransferCounters counters_;
  std::unique_ptr<ConnectionPool> pool_;

 private:
  void Count() {
    const std::lock_guard lock(mutex_);
    ++held_;
    changed_.notify_all();
  }
  bool Run(OpenConnection& opened) {
    std::byte letter = {};
    if (!opened.socket.ReadExact(std::span(&letter, 1), kSoon)) return false;
    if (letter == std::byte{'r'}) {
      Count();
      (void)opened.socket.ReadExact(std::span(&letter, 1), kLong);
      return false;
    }
    opened.waiting.End();
    if (letter == std::byte{'h'}) {
      Count();
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return released_; });
    } else {
      (void)opened.socket.WriteAll(std::span(&letter, 1), kSoon);
    }
    opened.waiting.Begin();
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int held_ = 0;
  bool released_ = false;
};

TEST_F(PoolTest, AConnectionHasAThreadOnlyForItsOperations) {
  Open({.max_connections = 8, .max_running = 2, .idle_patience = kLong});
  auto socket = Connect();
  EXPECT_EQ(pool_->running(), 0U);
  for (int i = 0; i < 3; ++i) {
    Send(socket, 'e');
    EXPECT_TRUE(IsEchoed(socket));
    while (pool_->running() > 0) std::this_thread::yield();
    EXPECT_EQ(pool_->open(), 1U);
  }
  socket.Close();
  while (pool_->open() > 0) std::this_thread::yield();
}

TEST_F(PoolTest, OperationsWaitForAThread) {
  Open({.max_connections = 8, .max_running = 1, .idle_patience = kLong, .queue_patience = kLong});
  auto holder = Connect();
  Send(holder, 'h');
  AwaitHeld(1);
  auto a = Connect();
  auto b = Connect();
  Send(a, 'e');
  Send(b, 'e');
  EXPECT_FALSE(*a.WaitReadable(milliseconds(50)));
  Release();
  EXPECT_TRUE(IsEchoed(a));
  EXPECT_TRUE(IsEchoed(b));
  EXPECT_EQ(counters_.refused_connections, 0U);
}

TEST_F(PoolTest, AnOperationThatGetsNoThreadInTimeIsRefusedWithAnAnswer) {
  Open({.max_connections = 8, .max_running = 1, .queue_patience = milliseconds(100)});
  auto holder = Connect();
  Send(holder, 'h');
  AwaitHeld(1);
  auto late = Connect();
  Send(late, 'e');
  EXPECT_EQ(Refusal(late),
            "this server runs 1 operations, and none of them ended in time; use another replica, "
            "or raise --max-operations");
  EXPECT_EQ(counters_.refused_connections, 1U);
}

TEST_F(PoolTest, AThreadThatWaitsForTheRestOfAnOperationGivesWay) {
  Open({.max_connections = 8, .max_running = 2, .queue_patience = kLong});
  auto holder = Connect();
  Send(holder, 'h');
  AwaitHeld(1);
  auto owes = Connect();
  Send(owes, 'r');
  AwaitHeld(2);
  auto client = Connect();
  Send(client, 'e');
  EXPECT_TRUE(IsEchoed(client));
  EXPECT_TRUE(IsClosed(owes));
  EXPECT_EQ(counters_.displaced_connections, 1U);
}

TEST_F(PoolTest, SilentPeersAreClosedInTime) {
  Open({.max_connections = 8,
        .max_running = 2,
        .first_patience = milliseconds(50),
        .idle_patience = milliseconds(50)});
  auto silent = Connect();
  EXPECT_TRUE(IsClosed(silent));
  auto idle = Connect();
  Send(idle, 'e');
  EXPECT_TRUE(IsEchoed(idle));
  EXPECT_TRUE(IsClosed(idle));
  EXPECT_EQ(pool_->open(), 0U);
}

TEST_F(PoolTest, AtTheLimitTheLongestSilenceGivesWayAndWithoutOneTheNewConnectionIsRefused) {
  Open({.max_connections = 2, .max_running = 2});
  auto silent = Connect();
  auto holder = Connect();
  Send(holder, 'h');
  AwaitHeld(1);
  auto other = Connect();
  EXPECT_TRUE(IsClosed(silent));
  EXPECT_EQ(counters_.displaced_connections, 1U);
  Send(other, 'h');
  AwaitHeld(2);
  auto refused = Connect();
  EXPECT_EQ(Refusal(refused),
            "this server has 2 connections, and all of them run operations; use another replica, "
            "or raise --max-connections");
}

}  // namespace
}  // namespace ebb::transfer
